/**
 * The log in front of the data file: what was acknowledged is there after a crash of the process or of the system, whichever pages of
 * the data file had reached the disk by then.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { differences } from '../support/base/differences.ts'
import { contentOf, copyStore, type LoggedStore, openLogged, recover } from '../support/engine/logged-store.ts'

t.setTimeout(timeoutMs)
const KEEP_ALL = { keepBytes: 1e12, keepMs: 1e12 }

t.test('a store that is rebuilt from its first state and the log equals the original, table by table', async t => {
  const random = randomOf(seedOf(41))
  const [path, first] = [join(t.testdir(), 'store'), join(t.testdirName, 'first')]
  const store = await openLogged(path, KEEP_ALL)
  copyStore(path, first, ['data.mdb', 'checkpoint.json'])
  store.write(random, isLong ? 10_000 : 1_000)
  await store.checkpoint()
  store.write(random, 100)
  await store.close()
  copyStore(path, first, ['log', 'files'])
  await recover(first)
  const [original, rebuilt] = [await contentOf(path), await contentOf(first)]
  t.same(original.problems, [])
  t.same(rebuilt.problems, [])
  t.ok(original.content.size > 500, `${original.content.size} entries`)
  t.same(differences(original.content, rebuilt.content), [])
})

t.test('pages that had not reached the disk, or only in part, cost nothing that was acknowledged', async t => {
  const random = randomOf(seedOf(42))
  const [path, crashed] = [join(t.testdir(), 'store'), join(t.testdirName, 'crashed')]
  const store = await openLogged(path, KEEP_ALL)
  for (let round = 0; round < (isLong ? 100 : 4); round++) {
    await store.checkpoint()
    // Versions of the data file since the checkpoint: each page may be on the disk in any of them.
    const versions: Buffer[] = []
    for (let i = random.integer(1, 4); i >= 0; i--) {
      versions.push(readFileSync(join(path, 'data.mdb')))
      store.write(random, random.integer(1, 60))
    }
    versions.push(readFileSync(join(path, 'data.mdb')))
    // The store goes on with its checkpoints meanwhile.
    const [left, expected] = [join(t.testdirName, 'left'), join(t.testdirName, 'expected')]
    copyStore(path, left)
    copyStore(left, expected)
    await recover(expected)
    const { content, problems } = await contentOf(expected)
    t.same(problems, [], `round ${round}`)
    for (let i = 0; i < 3; i++) {
      copyStore(left, crashed)
      writeFileSync(join(crashed, 'data.mdb'), mixed(random, versions))
      await recover(crashed)
      const found = await contentOf(crashed)
      t.same([...found.problems, ...differences(content, found.content)], [], `round ${round}.${i}`)
    }
  }
  await store.close()
})

t.test(
  'a data file that was put back or used without its log begins the log anew, also when a crash follows',
  async t => {
    const random = randomOf(seedOf(43))
    const [path, crashed] = [join(t.testdir(), 'store'), join(t.testdirName, 'crashed')]
    const use = async (log: Parameters<typeof openLogged>[1], change: (store: LoggedStore) => void): Promise<void> => {
      const store = await openLogged(path, log)
      change(store)
      await store.close()
    }
    /** Opens the store and leaves it as a crash would. */
    const crash = async (name: string, count: number): Promise<void> => {
      await use(KEEP_ALL, store => {
        if (count > 0) store.write(random, count)
        copyStore(path, crashed)
      })
      await recover(crashed)
      const [found, expected] = [await contentOf(crashed), await contentOf(path)]
      // Files of the history that was left stay.
      const problems = found.problems.filter(problem => !problem.includes('is not known to this store'))
      t.same([...problems, ...differences(expected.content, found.content)], [], `${name}, ${count} writes later`)
    }
    await use(KEEP_ALL, store => store.write(random, 30))
    const backup = readFileSync(join(path, 'data.mdb'))
    await use(KEEP_ALL, store => store.write(random, 30))
    for (const count of [0, 1, 30]) {
      writeFileSync(join(path, 'data.mdb'), backup)
      await crash('put back', count)
    }
    for (const count of [0, 1, 30]) {
      await use('off', store => store.write(random, 10))
      await crash('without its log', count)
    }
  },
)

t.test('a store whose log is lost or damaged opens only without what the log alone has', async t => {
  const random = randomOf(seedOf(44))
  const folder = t.testdir()
  const [path, before, crashed] = ['store', 'before', 'crashed'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const lastFile = (store: string): string => join(store, 'log', readdirSync(join(store, 'log')).sort().at(-1)!)
  const store = await openLogged(path, KEEP_ALL)
  store.write(random, 20)
  await store.checkpoint()
  copyStore(path, before)
  // The next record begins behind the last byte that is not zero.
  const end = readFileSync(lastFile(before)).findLastIndex(byte => byte !== 0)
  store.write(random, 10)
  for (const what of ['lost', 'damaged', 'damaged before']) copyStore(path, join(folder, what))
  await store.close()
  const newest = await contentOf(path)
  await recover(before)
  const { content } = await contentOf(before)

  rmSync(join(folder, 'lost', 'log'), { recursive: true })
  const file = lastFile(join(folder, 'damaged'))
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.with(end + 100, bytes[end + 100]! ^ 1))
  for (const what of ['lost', 'damaged']) {
    copyStore(join(folder, what), crashed)
    await t.rejects(recover(crashed), { name: 'DamagedLogError', message: /only --allow-loss goes on/ }, what)
    await t.rejects(recover(crashed), { name: 'DamagedLogError' }, `${what}, again`)
    const notes = await recover(crashed, true)
    t.match(notes, [
      /: 0 commits applied/,
      /^later changes, if there were any, are lost, as storage.allowLoss permits; the damaged log was moved to .*log-damaged-[0-9]+\. the log of the store/,
    ])
    const found = await contentOf(crashed)
    t.same([...found.problems, ...differences(content, found.content)], [], what)
    const next = await openLogged(crashed)
    next.write(random, 20)
    await next.close()
    t.same((await contentOf(crashed)).problems, [])
  }

  // A record that the checkpoint has is damaged: all that follow it are there.
  copyStore(join(folder, 'damaged before'), crashed)
  const first = readFileSync(lastFile(crashed))
  writeFileSync(lastFile(crashed), first.with(200, first[200]! ^ 1))
  await t.rejects(recover(crashed), { name: 'DamagedLogError' })
  t.match(await recover(crashed, true), [/: [1-9]\d* commits applied/, /^later changes, if there were any, are lost/])
  const found = await contentOf(crashed)
  t.same([...found.problems, ...differences(newest.content, found.content)], [])
})

const PAGE = 4096
const SECTOR = 512

/** A file whose pages are each as one of some versions has them, a few of them mixed from sectors. */
function mixed(random: ReturnType<typeof randomOf>, versions: readonly Buffer[]): Buffer {
  const newest = versions.at(-1)!
  // Without the sync after it grew, a file may be shorter.
  const length = random.pick(versions).length
  const file = Buffer.alloc(length)
  for (let at = 0; at < length; at += PAGE) {
    const step = random.chance(0.1) ? SECTOR : PAGE
    for (let part = at; part < at + PAGE; part += step) {
      const version = random.chance(0.2) ? newest : random.pick(versions)
      if (part < version.length) version.copy(file, part, part, part + step)
    }
  }
  return file
}
