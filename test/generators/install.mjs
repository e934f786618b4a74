/** Installs the generators that are tested on the OpenAPI document. */
import { installPackages } from '../support/runner/install-packages.mjs'

installPackages(new URL('./', import.meta.url))
