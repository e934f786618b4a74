/**
 * Public API against its snapshots: the declarations of `tesser`, `tesser/classes` and `tesser/testing`. A difference is either a
 * mistake, or a change that belongs in `CHANGELOG.md` and in the version: see `plugins/docs/pages/reference/versions.md`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { satisfies } from 'semver'
import t from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { KERNEL_VERSION } from '../../kernel/api.ts'
import { publicApi } from '../support/checks/public-api.ts'

interface Package {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, { readonly types: string }>>
  readonly peerDependencies: { readonly tesser: string }
}

const readPackage = (file: string): Package => JSON.parse(readFileSync(file, 'utf8')) as Package
const own = readPackage('package.json')
const FOLDER = 'test/docs/public-api'

for (const [path, { types }] of Object.entries(own.exports)) {
  t.test(`the declarations of ${own.name}${path.slice(1)} match the snapshot`, async t => {
    const file = join(FOLDER, `${path.replace('./', '').replace('.', 'tesser')}.txt`)
    const declared = publicApi(fileURLToPath(outputUrl(types.replace('./dist/', ''))))
    if (process.env.TESSER_TEST_RENEW) writeFileSync(file, declared)
    t.equal(declared, readFileSync(file, 'utf8'), 'an intended change is written by: npm run api')
  })
}

t.test('there is one version, which is the first release in the changelog', async t => {
  t.equal(KERNEL_VERSION, own.version)
  const [, release] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? []
  t.equal(release, own.version)
  for (const folder of ['audit', 'geo', 'histogram', 'semantic'].map(name => `plugins/examples/${name}`)) {
    t.ok(satisfies(own.version, readPackage(`${folder}/package.json`).peerDependencies.tesser), folder)
  }
  t.ok(satisfies(own.version, readPackage('config/plugin-template/package.json').peerDependencies.tesser))
})
