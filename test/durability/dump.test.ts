/** Dumps of a store that is being written to, and stores made from them: everything comes back. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { openTestStore } from '../support/engine/test-store.ts'
import { differences } from '../support/base/differences.ts'
import { contentOf, model, writeSome } from './dump-world.ts'
import { dump, makeStore, restore } from './dump-calls.ts'

t.setTimeout(timeoutMs)

const DMY = { dateOnlyFormat: 'dmy' } as const

t.test('everything comes back as it was, table by table', async t => {
  const folder = t.testdir()
  const [path, other, again, place] = ['store', 'other', 'again', 'dump'].map(name => join(folder, name)) as string[]
  await makeStore(t, path!, seedOf(61), isLong ? 3_000 : 600)
  const content = await contentOf(path!)
  t.equal(content.get('problems'), '[]')
  t.ok(content.size > 60, `${content.size} entries`)
  const made = await dump(path!, place!)
  t.match(made, { stamp: Number(content.get('stamp')) })
  t.same(readdirSync(place!).sort(), ['blobs', 'data', 'dump.json', 'model.json'])
  t.notOk(existsSync(`${place}.part`))
  const found = await restore(place!, other!)
  t.match(found, { stamp: made.stamp })
  t.same(readdirSync(other!).sort(), ['data.mdb', 'files'])
  t.same(differences(content, await contentOf(other!)), [])
  // A dump of it has the same entities, byte by byte.
  await dump(other!, again!)
  for (const { name, parentPath } of readdirSync(join(place!, 'data'), { withFileTypes: true })) {
    const [a, b] = [join(parentPath, name), join(again!, 'data', name)].map(file =>
      gunzipSync(readFileSync(file)).toString().split('\n').sort(),
    )
    t.same(a, b, name)
  }
})

t.test('a store with the older form of dates comes back, in either form', async t => {
  const folder = t.testdir()
  const path = join(folder, 'store')
  mkdirSync(path)
  const store = openTestStore(t, { model, path, wire: DMY })
  writeSome(store, randomOf(seedOf(62)), 100)
  await store.close()
  const content = await contentOf(path)
  await dump(path, join(folder, 'dump'))
  t.match(gunzipSync(readFileSync(join(folder, 'dump/data/Place.ndjson.gz'))).toString(), /"founded":"-000044-03-15"/)
  await restore(join(folder, 'dump'), join(folder, 'same'), { wire: DMY })
  t.same(differences(content, await contentOf(join(folder, 'same'))), [])
})

t.test('a dump is of one commit, whatever is written meanwhile', async t => {
  const random = randomOf(seedOf(63))
  const folder = t.testdir()
  const [path, place, other] = [join(folder, 'store'), join(folder, 'dump'), join(folder, 'other')]
  await makeStore(t, path, seedOf(64))
  const content = await contentOf(path)
  const store = openTestStore(t, { model, path })
  let written = 0
  await dump(path, place, {
    onProgress({ what }) {
      if (what !== 'writing entities') return
      writeSome(store, random, 30)
      written++
    },
  })
  t.ok(written >= 4)
  const { stamp } = await restore(place, other)
  t.equal(String(stamp), content.get('stamp'))
  t.same(differences(content, await contentOf(other)), [])
  await store.close()
  t.not((await contentOf(path)).get('stamp'), content.get('stamp'))
})

t.test('writing goes on with the next numbers', async t => {
  const folder = t.testdir()
  const [path, other] = [join(folder, 'store'), join(folder, 'other')]
  await makeStore(t, path, seedOf(65))
  await dump(path, join(folder, 'dump'))
  await restore(join(folder, 'dump'), other)
  const answers = await Promise.all(
    [path, other].map(async each => {
      const store = openTestStore(t, { model, path: each })
      const { entity, codes } = store.one('Thing', { text: 'new', code: 'new', short: 'abc' })
      const { __KEY, __STAMP, ID } = entity
      const repeated = store.one('Thing', { code: 'NEW' }).codes
      writeSome(store, randomOf(7), 40)
      t.same(store.problems(), [])
      await store.close()
      return { __KEY, __STAMP, ID, codes, repeated }
    }),
  )
  t.same(answers[0], answers[1])
  t.same(answers[0]!.codes, [])
  t.not(answers[0]!.repeated.length, 0)
})

t.test('a kill leaves nothing in place, and the next attempt succeeds', async t => {
  const folder = t.testdir()
  const [path, place, other, dumped] = ['store', 'dump', 'other', 'dumped'].map(name => join(folder, name)) as string[]
  await makeStore(t, path!, seedOf(66), 150)
  await dump(path!, place!)
  const run = async (what: string, store: string, at: string, steps: number): Promise<unknown> => {
    const program = fileURLToPath(outputUrl('test/durability/dump.child.js'))
    const child = spawn(process.execPath, [program, what, store, at, String(steps)], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'close')
    return code ?? signal
  }
  for (const steps of isLong ? [0, 1, 2, 3, 4, 5, 6] : [1, 4]) {
    t.equal(await run('dump', path!, dumped!, steps), 'SIGKILL')
    t.notOk(existsSync(dumped!), `dump, ${steps} steps`)
  }
  t.equal(await run('dump', path!, dumped!, 1e9), 0)
  for (const steps of isLong ? [0, 1, 2, 3, 4] : [0, 2]) {
    t.equal(await run('undump', other!, dumped!, steps), 'SIGKILL')
    t.notOk(existsSync(other!), `undump, ${steps} steps`)
  }
  t.equal(await run('undump', other!, dumped!, 1e9), 0)
  t.same(differences(await contentOf(path!), await contentOf(other!)), [])
})

t.test('folders that are in use, and those that have no dump, are refused', async t => {
  const folder = t.testdir({ full: { x: '' } })
  const path = join(folder, 'store')
  await makeStore(t, path, 1, 20)
  await t.rejects(dump(path, join(folder, 'full')), { name: 'DumpError', message: /full is not empty; name another/ })
  await t.rejects(dump(join(folder, 'none'), join(folder, 'd')), { message: /^there is no store in .*none$/ })
  await dump(path, join(folder, 'd'))
  await t.rejects(restore(join(folder, 'd'), path), { name: 'DumpError', message: /store is not empty/ })
  await t.rejects(restore(join(folder, 'none'), join(folder, 'o')), { message: /^there is no dump in .*none$/ })
  await t.rejects(restore(join(folder, 'full'), join(folder, 'o')), { message: /has no file dump\.json$/ })
  await t.rejects(restore(join(folder, 'full/x'), join(folder, 'o')), { message: /is a file; a dump is a folder$/ })
  t.same(readdirSync(folder).sort(), ['d', 'full', 'store'])
})
