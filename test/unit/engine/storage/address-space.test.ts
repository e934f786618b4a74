import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { addressSpaceProblem, restBytes } from '../../../../engine/base/address-space.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const GIB = 2 ** 30

t.test('a map that does not fit into the address space is refused with a size that fits', async t => {
  const problem = (mapGib: number, freeGib: number, fileGib = 0): string | undefined =>
    addressSpaceProblem(
      { mapSizeBytes: mapGib * GIB, fileBytes: fileGib * GIB },
      { limit: restBytes() + (freeGib + 1) * GIB, used: GIB },
    )
  t.equal(problem(64, 64), undefined)
  t.match(problem(64, 63), /reserves 64 GiB of address space.*--storage-map-size-bytes "32 GiB"\), or raise the limit$/)
  t.match(problem(1, 0.3), /reserves 1 GiB .*--storage-map-size-bytes "256 MiB"\)/)
  t.match(problem(1, 0), /(?!.*mapSizeBytes); raise the limit, or set storage\.memoryBytes/)
  t.match(problem(1, 5, 8), /reserves 8 GiB (?!.*mapSizeBytes).*raise the limit/, 'the file itself does not fit')
})

const withoutUlimit = spawnSync('sh', [
  '-c',
  'ulimit -v 8388608 && grep -c "Max address space *8589934592" /proc/self/limits',
])

t.test('a command in a small address space names the option', { skip: withoutUlimit.status !== 0 }, async t => {
  const folder = t.testdir({ 'model.json': JSON.stringify(modelWith({ Person: {} })), 'a.csv': 'ID\n1\n' })
  const main = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const load = (...args: string[]) =>
    spawnSync(
      'sh',
      ['-c', 'ulimit -v 8388608; exec "$@"', 'sh', process.execPath, main, 'load', 'a.csv', '--into', 'Person']
        .concat(['--model', 'model.json', '--data', 'data'])
        .concat(args),
      { cwd: folder, encoding: 'utf8' },
    )
  const { status, signal, stderr } = load()
  t.strictSame([status, signal], [2, null], stderr)
  t.match(stderr, /^tesser: the store reserves 64 GiB of address space, .*limited to 8 GiB \(ulimit -v\)/m)
  t.match(load('--storage-map-size-bytes', '64MiB'), { status: 0, stdout: /1 inserted/ })
})
