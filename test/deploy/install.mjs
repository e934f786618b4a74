/** Installs linters and schemas for the files in config/deploy. */
import { installPackages } from '../support/runner/install-packages.mjs'

installPackages(new URL('./', import.meta.url))
