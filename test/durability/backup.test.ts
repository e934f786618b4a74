/** Backups of a store that is being written to: what is restored equals the store at that moment, and damage is found. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FolderStorage } from '../../engine/storage/backup/folder-storage.ts'
import { type BackupPolicy, type MadeBackup, makeBackup } from '../../engine/storage/backup/make-backup.ts'
import { type Moment, type Restored, restoreBackup } from '../../engine/storage/backup/restore-backup.ts'
import { verifyBackup } from '../../engine/storage/backup/verify-backup.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { differences } from '../support/base/differences.ts'
import { contentOf, copyStore, openLogged, recover } from '../support/engine/logged-store.ts'

t.setTimeout(timeoutMs)
const KEEP_ALL = { keepBytes: 1e12, keepMs: 1e12 }
const MAP = { mapSizeBytes: 2 ** 30 }

const backUp = (path: string, place: string, policy: BackupPolicy = {}): Promise<MadeBackup> =>
  makeBackup({ path, ...MAP, storage: new FolderStorage(place), ...policy })

const restore = (
  place: string,
  path: string,
  options: { backup?: string; at?: Moment; allowLoss?: boolean } = {},
): Promise<Restored> => {
  rmSync(path, { recursive: true, force: true })
  return restoreBackup({ path, ...MAP, storage: new FolderStorage(place), ...options })
}

/** Content of a store that is open. */
async function contentNow(path: string, copy: string): Promise<Map<string, string>> {
  copyStore(path, copy)
  await recover(copy)
  return (await contentOf(copy)).content
}

t.test('each backup is restored as the store was, table by table', async t => {
  const random = randomOf(seedOf(51))
  const folder = t.testdir()
  const [path, place, other] = [join(folder, 'store'), join(folder, 'place'), join(folder, 'other')]
  const store = await openLogged(path, KEEP_ALL)
  const states: { name: string; stamp: number; kind: string; content: Map<string, string> }[] = []
  for (let i = 0; i < 10; i++) {
    store.write(random, isLong ? 200 : 40)
    if (random.chance(0.3)) await store.checkpoint()
    const { name, stamp, kind } = await backUp(path, place, { full: i === 6 })
    states.push({ name, stamp, kind, content: await contentNow(path, other) })
  }
  t.same(
    states.map(({ kind }) => kind),
    states.map((_, i) => (i === 0 || i === 6 ? 'full' : 'increment')),
  )
  // The server has closed the store in order.
  await store.close()
  const last = await backUp(path, place)
  t.equal(last.kind, 'increment')
  for (const { name, stamp, content } of states) {
    t.equal((await restore(place, other, { backup: name })).stamp, stamp)
    t.same(readdirSync(other).sort(), ['data.mdb', 'files'])
    const found = await contentOf(other)
    t.same([...found.problems, ...differences(content, found.content)], [], name)
  }
  const { problems } = await verifyBackup({ storage: new FolderStorage(place), ...MAP })
  t.same(
    problems.filter(text => !text.startsWith('entity set')),
    [],
  )

  // A store that was restored goes on, and so do its backups.
  await restore(place, other)
  const next = await openLogged(other, KEEP_ALL)
  next.write(random, 20)
  const { kind } = await backUp(other, place)
  t.equal(kind, 'increment')
  const content = await contentNow(other, join(folder, 'copy'))
  await next.close()
  await restore(place, path)
  t.same(differences(content, (await contentOf(path)).content), [])

  await restore(place, other, { backup: states[3]!.name })
  const earlier = await openLogged(other, KEEP_ALL)
  earlier.write(random, 400)
  await earlier.close()
  t.equal((await backUp(other, place)).kind, 'full', 'another history')
})

t.test('a moment between two backups is restored', async t => {
  const random = randomOf(seedOf(52))
  const folder = t.testdir()
  const [path, place, other] = [join(folder, 'store'), join(folder, 'place'), join(folder, 'other')]
  const store = await openLogged(path, KEEP_ALL)
  const moments: { stamp: number; time: number; content: Map<string, string> }[] = []
  store.write(random, 50)
  const first = await backUp(path, place)
  for (let i = 0; i < 6; i++) {
    store.write(random, 15)
    const content = await contentNow(path, other)
    moments.push({ stamp: stampOf(content), time: Date.now(), content })
    await new Promise(resolve => setTimeout(resolve, 2))
    store.write(random, 15)
    if (i === 2) await backUp(path, place)
  }
  const last = await backUp(path, place)
  await store.close()
  for (const { time, content } of moments) {
    const notes: string[] = []
    rmSync(other, { recursive: true, force: true })
    await restoreBackup({
      path: other,
      ...MAP,
      storage: new FolderStorage(place),
      at: { time },
      allowLoss: true,
      onNote: text => notes.push(text),
    })
    const found = await contentOf(other)
    t.same(differences(content, found.content), [])
    const problems = found.problems.filter(text => notes.length === 0 || !/which does not exist/.test(text))
    t.same(problems, [])
    if (notes.length === 0) continue
    await t.rejects(restore(place, other, { at: { time } }), { name: 'BackupError', message: /no backup has them/ })
    t.notOk(existsSync(other))
  }
  const { stamp } = await restore(place, other, { at: { stamp: moments[4]!.stamp }, allowLoss: true })
  t.equal(stamp, moments[4]!.stamp)
  for (const [at, message] of [
    [{ stamp: first.stamp - 1 }, `the oldest backup in ${place} is of stamp ${first.stamp}`],
    [{ stamp: last.stamp + 1 }, `the newest backup in ${place} is of stamp ${last.stamp}`],
    [{ time: 1 }, `the oldest backup in ${place} is of ${new Date(first.time).toISOString()}`],
  ] as const)
    await t.rejects(restore(place, other, { at }), { name: 'BackupError', message })
})

const STAMP_KEY = `state ${Buffer.from('global').toString('hex')}`
const stampOf = (content: Map<string, string>): number => Buffer.from(content.get(STAMP_KEY)!, 'hex').readDoubleBE()

t.test('the data file is copied when the log does not lead to the state', async t => {
  const random = randomOf(seedOf(53))
  const folder = t.testdir()
  const [path, place] = [join(folder, 'store'), join(folder, 'place')]
  const use = async (log: Parameters<typeof openLogged>[1]): Promise<void> => {
    const store = await openLogged(path, log)
    store.write(random, 30)
    await store.close()
  }
  const kinds: Record<string, string> = {}
  const make = async (what: string, policy?: BackupPolicy): Promise<void> => {
    kinds[what] = (await backUp(path, place, policy)).kind
  }
  await use(KEEP_ALL)
  await make('first')
  await make('nothing written')
  await use(KEEP_ALL)
  await make('written')
  await use('off')
  await make('written without a log')
  await use('off')
  await make('written without a log again')
  await use(KEEP_ALL)
  await make('written with a log')
  await use(KEEP_ALL)
  await make('written with a log again')
  await use(KEEP_ALL)
  rmSync(join(path, 'log'), { recursive: true })
  await use(KEEP_ALL)
  await make('log removed')
  await use({ keepBytes: 0, keepMs: 0 })
  await make('too old', { fullDays: 0 })
  await make('asked for', { full: true })
  t.same(kinds, {
    first: 'full',
    'nothing written': 'increment',
    written: 'increment',
    'written without a log': 'full',
    'written without a log again': 'full',
    'written with a log': 'full',
    'written with a log again': 'increment',
    'log removed': 'full',
    'too old': 'full',
    'asked for': 'full',
  })
  const { content } = await contentOf(path)
  await restore(place, join(folder, 'other'))
  t.same(differences(content, (await contentOf(join(folder, 'other'))).content), [])
})

t.test('old backups are removed, with the images and blobs that no other one needs', async t => {
  const random = randomOf(seedOf(54))
  const folder = t.testdir()
  const [path, place, other] = [join(folder, 'store'), join(folder, 'place'), join(folder, 'other')]
  const store = await openLogged(path, KEEP_ALL)
  const names: string[] = []
  for (const full of [true, false, true, false, false]) {
    store.write(random, 60)
    names.push((await backUp(path, place, { full })).name)
  }
  const kept = (): string[] => readdirSync(join(place, 'backups')).sort()
  await backUp(path, place, { keepDays: 1 })
  t.equal(kept().length, 6)
  // A time in the past, as the removal sees it.
  const later = await backUp(path, place, { keepDays: 0 })
  await store.close()
  t.same(kept(), [...names.slice(2), kept().at(-2), later.name])
  t.same(later.removed, names.slice(0, 2))
  await restore(place, other)
  t.same((await contentOf(other)).problems, [])
  const needed = readdirSync(join(other, 'files')).length
  const stored = readdirSync(join(place, 'blobs'), { recursive: true, withFileTypes: true }).filter(e => e.isFile())
  t.ok(stored.length >= needed, `${stored.length} files, ${needed} of them in the newest state`)
  // While a list that is needed is damaged, nothing is removed; the next backup is complete nevertheless.
  const list = join(place, 'backups', (await backUp(path, place, { full: true })).name, 'blobs.ndjson')
  const bytes = readFileSync(list)
  writeFileSync(list, Buffer.concat([bytes, Buffer.from(' ')]))
  const notes: string[] = []
  const storage = new FolderStorage(place)
  const made = await makeBackup({ path, ...MAP, storage, keepDays: 0, onNote: text => notes.push(text) })
  t.match([made.kind, kept().at(-1)], ['increment', made.name])
  t.match(notes, [/blobs\.ndjson is damaged/, /^old images and blobs were not removed: .*blobs\.ndjson is damaged/])
  writeFileSync(list, bytes)
  const { name } = await backUp(path, place, { full: true, keepDays: 0 })
  t.same(kept(), [name])
  const left = readdirSync(join(place, 'blobs'), { recursive: true, withFileTypes: true }).filter(e => e.isFile())
  t.equal(left.length, needed)
})

t.test('damage of a backup is found, and nothing is restored', async t => {
  const random = randomOf(seedOf(55))
  const folder = t.testdir()
  const [path, place, damaged] = [join(folder, 'store'), join(folder, 'place'), join(folder, 'damaged')]
  const store = await openLogged(path, KEEP_ALL)
  for (let i = 0; i < 3; i++) {
    store.write(random, 80)
    await backUp(path, place, { besides: { 'model.json': join(path, 'server.lock') } })
  }
  await store.close()
  const files = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name !== 'backup.lock')
    .map(entry => join(entry.parentPath, entry.name).slice(place.length + 1))
  const newest = `backups/${readdirSync(join(place, 'backups')).sort().at(-1)}/manifest.json`
  const used = files.filter(file => !file.includes('/config/') && file !== newest)
  for (let i = 0; i < (isLong ? 300 : 30); i++) {
    rmSync(damaged, { recursive: true, force: true })
    cpSync(place, damaged, { recursive: true })
    const file = i < used.length ? used[i]! : random.pick(used)
    const what = damage(random, join(damaged, file))
    const error = await restore(damaged, join(folder, 'other')).catch((error: unknown) => error)
    t.match(error, { name: 'BackupError' }, `${file}: ${what}`)
    t.notOk(existsSync(join(folder, 'other')), `${file}: ${what}`)
  }
  const notes: string[] = []
  rmSync(join(place, newest))
  const storage = new FolderStorage(place)
  await restoreBackup({ path: join(folder, 'other'), ...MAP, storage, onNote: text => notes.push(text) })
  t.match(notes, [/^\d{8}T\d{9}Z in .*place has no manifest, so it is not a whole backup$/])
})

/** @returns what was done to the file */
function damage(random: Random, path: string): string {
  const { size } = statSync(path)
  const kind = size === 0 ? 'removed' : random.pick(['removed', 'cut', 'changed', 'changed', 'changed'])
  if (kind === 'removed') rmSync(path)
  else if (kind === 'cut') truncateSync(path, random.integer(0, size - 1))
  else {
    const bytes = readFileSync(path)
    const at = random.integer(0, size - 1)
    writeFileSync(path, bytes.with(at, bytes[at]! ^ (1 << random.integer(0, 7))))
  }
  return kind
}
