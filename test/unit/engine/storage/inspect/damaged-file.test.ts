import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { inspectStore, type StoreProblem } from '../../../../../engine/storage/inspect/inspect-store.ts'
import { DataFile } from '../../../../../engine/storage/data-file.ts'
import { openOwnStore } from '../../../../../engine/storage/own-store.ts'
import { tableRows } from '../../../../../engine/storage/table-rows.ts'
import { walkPages } from '../../../../../engine/storage/walk-pages.ts'
import { type Random, randomOf } from '../../../../support/base/random.ts'
import { seedOf } from '../../../../support/runner/rounds.ts'
import { ISO, openTestStore } from '../../../../support/engine/test-store.ts'

const MAP = { mapSizeBytes: 2 ** 28 }
const BLANK = { model: undefined, wire: ISO, allowLoss: false, ...MAP }
const PAGE = 4096

const model = {
  name: 'damaged',
  dataClasses: {
    Thing: { key: 'name', attributes: { name: { type: 'string' }, text: { type: 'string', indexed: true } } },
  },
}

/** A store with rows on several levels of pages, values larger than a page, and free pages. */
async function fill(t: Test, path: string, random: Random): Promise<void> {
  const store = openTestStore(t, { path, model })
  const live: number[] = []
  let next = 0
  for (let commit = 0; commit < 8; commit++) {
    const things = Array.from({ length: random.integer(20, 120) }, () => {
      const text = `${random.integer(0, 1000)} ${'x'.repeat(random.chance(0.1) ? random.integer(900, 9_000) : 10)}`
      return { name: `${next++}`, text }
    })
    for (const { rowId } of store.save('Thing', things).entities) live.push(rowId!)
    const gone = random.some(live, 0.3)
    store.delete('Thing', gone)
    live.splice(0, live.length, ...live.filter(id => !gone.includes(id)))
  }
  await store.close()
}

async function inspect(path: string): Promise<string[]> {
  const problems: StoreProblem[] = []
  for await (const problem of inspectStore({ path, ...BLANK })) problems.push(problem)
  return problems.map(({ text }) => text)
}

/** Opens the store as a server does, and reads all its rows. */
async function open(path: string): Promise<number> {
  const store = await openOwnStore({ path, ...MAP, token: 'test', lock: { waitMs: 0 } })
  try {
    let rows = 0
    for (const _ of tableRows(store.environment, 1)) rows++
    return rows
  } finally {
    await store.close()
  }
}

/** Copy of a store, to be damaged. */
function copyOf(t: Test, path: string, name: string): string {
  const copy = join(t.testdirName, name)
  mkdirSync(copy)
  copyFileSync(join(path, 'data.mdb'), join(copy, 'data.mdb'))
  return copy
}

t.test('a value that became smaller in its own transaction has more pages than it needs', async t => {
  const path = t.testdir({})
  const store = openTestStore(t, { path, model })
  const key = Buffer.from('key')
  store.environment.root.transactionSync(() => {
    for (const size of [64 * 1024, 23]) store.environment.binaries.putSync(key, Buffer.alloc(size, 1))
  })
  t.equal(store.environment.binaries.get(key)!.length, 23)
  await store.close()
  const file = DataFile.in(path)
  t.same(walkPages(file, file.meta()), [])
  file.close()
})

t.test('an intact store has no damaged pages', async t => {
  const path = t.testdir({})
  for (let seed = seedOf(1), last = seed + 4; seed < last; seed++) {
    const folder = join(path, `${seed}`)
    mkdirSync(folder)
    await fill(t, folder, randomOf(seed))
    const file = DataFile.in(folder)
    t.same(walkPages(file, file.meta()), [], `seed ${seed}`)
    t.same(walkPages(file, file.meta(), { rootsOnly: true }), [])
    file.close()
    t.same(await inspect(folder), [])
  }
})

t.test('a file that was cut off is refused before LMDB maps it, wherever it was cut', async t => {
  const path = join(t.testdir({ whole: {} }), 'whole')
  await fill(t, path, randomOf(seedOf(2)))
  const rows = await open(path)
  const { length } = readFileSync(join(path, 'data.mdb'))
  let refused = 0
  for (let bytes = length - PAGE; bytes > 0; bytes -= PAGE * 5 + 123) {
    const copy = copyOf(t, path, `${bytes}`)
    truncateSync(join(copy, 'data.mdb'), bytes)
    const opened = await open(copy).catch((error: Error) => error)
    const problems = await inspect(copy)
    if (opened instanceof Error) {
      refused++
      t.match(opened, { name: 'DamagedStoreError', message: /data\.mdb .*Put data\.mdb back from a backup/ })
      t.not(problems.length, 0)
    } else {
      // The missing pages were free ones.
      t.equal(opened, rows)
      t.same(problems, [])
    }
  }
  t.ok(refused > 10, `${refused} of them were refused`)
})

t.test('a damaged meta page is refused with an explanation', async t => {
  const path = join(t.testdir({ whole: {} }), 'whole')
  await fill(t, path, randomOf(seedOf(3)))
  const whole = readFileSync(join(path, 'data.mdb'))
  const newest = Number(whole.readBigUInt64LE(152)) > Number(whole.readBigUInt64LE(PAGE + 152)) ? 0 : PAGE
  const damages: [string, (bytes: Buffer) => unknown][] = [
    ['no magic number', bytes => bytes.writeUInt32LE(1, 24)],
    ['no magic number in the second one', bytes => bytes.writeUInt32LE(1, PAGE + 24)],
    ['another format', bytes => bytes.writeUInt32LE(1, 28)],
    ['pages of 3 bytes', bytes => bytes.writeUInt32LE(3, 48)],
    ['a root beyond the end', bytes => bytes.writeBigUInt64LE(2n ** 40n, newest + 96 + 40)],
    ['a root that is another page', bytes => bytes.writeBigUInt64LE(3n, newest + 96 + 40)],
    ['a list of free pages beyond the end', bytes => bytes.writeBigUInt64LE(2n ** 40n, newest + 48 + 40)],
    ['a depth of 1000', bytes => bytes.writeUInt16LE(1000, newest + 96 + 6)],
    ['a last page of 1', bytes => bytes.writeBigUInt64LE(1n, newest + 144)],
    ['a transaction of the other page', bytes => bytes.writeBigUInt64LE(999_998n + (newest ? 0n : 1n), newest + 152)],
    ['nothing but zeros', bytes => bytes.fill(0)],
    ['a text', bytes => bytes.write('This is no database.'.repeat(1000))],
  ]
  for (const [name, damage] of damages) {
    const copy = copyOf(t, path, name)
    const bytes = Buffer.from(whole)
    damage(bytes)
    writeFileSync(join(copy, 'data.mdb'), bytes)
    await t.rejects(open(copy), { name: 'DamagedStoreError', message: /Put data\.mdb back/ }, name)
    t.match(await inspect(copy), [/Put data\.mdb back/], name)
  }
})

t.test('check survives damage anywhere, and finds damaged pages', async t => {
  const path = join(t.testdir({ whole: {} }), 'whole')
  const random = randomOf(seedOf(4))
  await fill(t, path, random)
  const whole = readFileSync(join(path, 'data.mdb'))
  let found = 0
  const count = 150
  for (let i = 0; i < count; i++) {
    const copy = copyOf(t, path, `${i}`)
    const bytes = Buffer.from(whole)
    const at = random.integer(0, bytes.length / PAGE - 1) * PAGE
    // LMDB trusts the headers of pages.
    const kind = random.pick(['page', 'header', 'byte'] as const)
    if (kind === 'page') bytes.fill(random.integer(0, 255), at, at + PAGE)
    else if (kind === 'header') bytes[at + random.integer(0, 200)] = random.integer(0, 255)
    else bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
    writeFileSync(join(copy, 'data.mdb'), bytes)
    if ((await inspect(copy)).length > 0) found++
  }
  t.ok(found >= 10, `${found} of ${count} were found; the others are in free pages or change nothing`)
})
