import { readFileSync } from 'node:fs'
import t from 'tap'

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** Native code built by third parties. Review a new package before you change these values. */
const PACKAGES = {
  'uWebSockets.js': {
    name: '@btc-vision/uwebsockets.js',
    version: '20.57.0',
    integrity: 'sha512-SuPpEjSKZ7P58L/27BXXsrGsMwLmPupfYny8oJsOmFZ4+zX7Ca97nBPtZ3ngKbfeDZzTyi7rXri74INGerhugg==',
  },
  'uws-node20': {
    name: '@trufflesuite/uws-js-unofficial',
    version: '20.30.0-unofficial.0',
    integrity: 'sha512-r5X0aOQcuT6pLwTRLD+mPnAM/nlKtvIK4Z+My++A8tTOR0qTjNRx8UB8jzRj3D+p9PMAp5LnpCUUGmz7/TppwA==',
  },
}

t.test('builds of uWebSockets.js have the checksums in this file', async t => {
  const { optionalDependencies } = json('package.json')
  const { packages } = json('package-lock.json')
  for (const [alias, wanted] of Object.entries(PACKAGES)) {
    t.equal(optionalDependencies[alias], `npm:${wanted.name}@${wanted.version}`, 'one exact version')
    t.match(packages[`node_modules/${alias}`], wanted)
    t.equal(packages[`node_modules/${alias}`].hasInstallScript, undefined, 'nothing runs at its installation')
  }
})
