/** Installs the packages that only the tests in a browser need. */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../support/runner/install-packages.mjs'

installPackages(new URL('./', import.meta.url), {
  more: run => {
    // The browser is compressed, and is unpacked into the folder of temporary files.
    const folder = fileURLToPath(new URL('node_modules/chromium', import.meta.url))
    mkdirSync(folder)
    const unpack = "import('@sparticuz/chromium').then(({ default: pack }) => pack.executablePath())"
    run([process.execPath, '--eval', unpack], { ...process.env, TMPDIR: folder })
  },
})
