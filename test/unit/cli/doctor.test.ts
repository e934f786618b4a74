import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { outputUrl } from '../../../engine/base/output-root.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { kindFinding, spaceFinding, syncFinding } from '../../../kernel/cli/doctor/examine-disk.ts'
import { transportRemedy } from '../../../kernel/cli/doctor/examine-engine.ts'
import { partFinding } from '../../../kernel/cli/doctor/examine-parts.ts'
import {
  addressFinding,
  clockFinding,
  filesFinding,
  memoryFinding,
  nodeFinding,
  processorFinding,
} from '../../../kernel/cli/doctor/examine-system.ts'
import type { Finding } from '../../../kernel/cli/doctor/finding.ts'
import { runNode, runTesser } from '../../support/commands/author-package.ts'

const GIB = 2 ** 30
const TESSER = fileURLToPath(outputUrl('kernel/cli/main.js'))

const TABLE: readonly (readonly [finding: Finding, state: Finding['state'], text: RegExp, remedy?: RegExp])[] = [
  [nodeFinding('24.1.0'), 'ok', /^24\.1\.0$/],
  [nodeFinding('20.20.2'), 'limited', /no more security fixes/, /Node\.js 24/],
  [nodeFinding('23.0.0'), 'limited', /no more security fixes/, /Node\.js 24/],
  [processorFinding(2), 'ok', /^2$/],
  [processorFinding(8, 0.5), 'limited', /^8, limited to the time of 0\.5$/, /give it two/],
  [memoryFinding(16 * GIB, 4 * GIB), 'ok', /^16\.0 GiB, up to 4\.0 GiB for data/],
  [memoryFinding(GIB / 2, 4 * GIB), 'limited', /^512\.0 MiB, up to 256\.0 MiB for data/, /1 GiB/],
  [filesFinding(Number.POSITIVE_INFINITY, 1e9), 'ok', /^unlimited$/],
  [filesFinding(65_536, 32_000), 'ok', /^65536, enough for 32000 connections$/],
  [filesFinding(1024, 400), 'limited', /enough for 400 connections/, /ulimit -n, or LimitNOFILE/],
  [addressFinding({ mapSizeBytes: GIB, memoryBytes: GIB }, Number.POSITIVE_INFINITY), 'ok', /^unlimited; 1\.0 GiB/],
  [
    addressFinding({ mapSizeBytes: GIB, memoryBytes: GIB }, 200 * GIB, GIB),
    'ok',
    /^200\.0 GiB; 1\.0 GiB for the store/,
  ],
  [addressFinding({ mapSizeBytes: 64 * GIB, memoryBytes: 0 }, 64 * GIB, GIB), 'broken', /64 GiB/, /mapSizeBytes/],
  [addressFinding({ mapSizeBytes: GIB, memoryBytes: GIB }, 12 * GIB, GIB), 'broken', /1 GiB/, /storage\.memoryBytes/],
  [clockFinding(Date.UTC(2027, 1, 3), Date.UTC(2027, 1, 3)), 'ok', /^2027-02-03T/],
  [clockFinding(Date.UTC(1970, 0, 1), Date.UTC(1970, 0, 1)), 'broken', /in the past/, /NTP/],
  [clockFinding(Date.UTC(2027, 1, 3), Date.UTC(2027, 1, 3) + 5000), 'limited', /set by -5000 ms/, /NTP/],
  [clockFinding(Date.UTC(2027, 1, 3), Date.UTC(2027, 1, 3), false), 'limited', /not synchronised/, /NTP/],
  [spaceFinding('/d', 50 * GIB, 0), 'ok', /^50\.0 GiB free for \/d$/],
  [spaceFinding('/d', 50 * GIB, 60 * GIB), 'limited', /the store has 60\.0 GiB/, /another copy/],
  [spaceFinding('/d', 2 ** 20, 0), 'broken', /1\.0 MiB free/, /free some space/],
  [kindFinding(0xef53), 'ok', /local/],
  [kindFinding(0x6969), 'limited', /^NFS: its memory maps/, /local disk/],
  [kindFinding(0x01021994), 'limited', /^tmpfs: the data are gone/, /volume/],
  [syncFinding(0.84), 'ok', /^a sync takes 0\.8 ms$/],
  [syncFinding(130.4), 'limited', /^a sync takes 130 ms, and each write waits/, /faster disk/],
]

t.test('what is slow, missing or broken, and what to do', async t => {
  for (const [finding, state, text, remedy] of TABLE) {
    t.match(finding, { state, text, ...(remedy && { remedy }) }, `${finding.topic}: ${finding.text}`)
    t.equal(finding.remedy === undefined, state === 'ok')
  }
})

t.test('packages that are not installed', async t => {
  const missing = { specifier: 'no-such-package/part', use: 'nothing' }
  t.match(await partFinding({ ...missing, without: 'images stay' }), {
    topic: 'no-such-package',
    state: 'limited',
    text: /no-such-package.*: images stay$/,
    remedy: /npm rebuild no-such-package/,
  })
  t.match(await partFinding(missing), { state: 'broken', text: /Tesser does not start/ })
  t.match(await partFinding({ specifier: 'lmdb', use: 'the store' }), { topic: 'lmdb', state: 'ok' })
  t.match(transportRemedy("version `GLIBC_2.38' not found"), /glibc 2\.38 or later/)
  t.match(transportRemedy("Cannot find module 'uWebSockets.js'"), /--include=optional/)
})

t.test('tesser doctor prints findings, and its exit code says whether something is broken', async t => {
  const folder = t.testdir({ 'a.txt': '' })
  const { code, output } = await runTesser(folder, 'doctor', '--json', '--server-transport', 'node-http')
  t.equal(code, 0, output)
  const { version, ok, findings } = JSON.parse(output) as { version: string; ok: boolean; findings: Finding[] }
  t.match({ version, ok }, { version: packageJson.version, ok: true })
  t.match(
    findings.find(({ topic }) => topic === 'transport'),
    { state: 'ok', text: 'node-http' },
  )
  const topics = ['Node.js', 'open files', 'clock', 'SIMD', 'lmdb', 'sharp', 'disk space', 'file system', 'disk speed']
  for (const topic of topics)
    t.ok(
      findings.some(each => each.topic === topic),
      topic,
    )
  t.strictSame(readdirSync(folder), ['a.txt'], 'nothing is left')

  const refused = await runTesser(folder, 'doctor', '--data', join('a.txt', 'store'))
  t.equal(refused.code, 1)
  t.match(refused.output, /^Tesser [\s\S]* broken +disk +\S+a\.txt cannot be used: .*\n +→ name another folder/)
  t.match(refused.output, /\n1 topic broken, \d topics? limited\n$/)
})

/** Code for `--import` after which lmdb does not load, as if its native part had not been installed. */
const WITHOUT_LMDB = `import Module from 'node:module'
const refuse = name => {
  if (name === 'lmdb') throw new Error('No native build was found for platform=linux')
}
const { _load } = Module
Module._load = (name, ...others) => refuse(name) ?? _load(name, ...others)
const resolve = (name, context, next) => refuse(name) ?? next(name, context)
// Newer versions of Node.js warn of register, older ones have nothing else.
if (Module.registerHooks) Module.registerHooks({ resolve })
else Module.register('data:text/javascript,' + encodeURIComponent(\`const refuse = \${refuse}; export const resolve = \${resolve}\`))`

t.test('without the native part of a package, every command leads to doctor, which names it', async t => {
  const folder = t.testdir({ 'without.mjs': WITHOUT_LMDB, 'model.json': '{"name":"m","dataClasses":{}}' })
  const run = (...args: string[]) => runNode(folder, '--import', './without.mjs', TESSER, ...args)
  t.match(await run('start', '--model', 'model.json'), {
    code: 1,
    output:
      /^tesser: No native build was found .*\na package is missing: tesser doctor names it and says what to do\n$/,
  })
  t.match(await run('doctor'), { code: 1, output: /broken +lmdb .*\n +→ npm install --include=optional/ })
})
