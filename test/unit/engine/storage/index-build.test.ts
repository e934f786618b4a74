/** Indexes that are built sorted have the same entries as those to which rows are added one by one. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import { type Environment, openEnvironment } from '../../../../engine/storage/environment.ts'
import { IndexBuild } from '../../../../engine/storage/index-build.ts'
import { IndexWriter } from '../../../../engine/storage/index-writer.ts'
import { DuplicateFinder } from '../../../../engine/storage/dump/duplicates.ts'
import { indexPrefix } from '../../../../engine/storage/keys.ts'
import { addPostings } from '../../../../engine/storage/postings.ts'
import { randomOf } from '../../../support/base/random.ts'
import { createRowStore } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'
import { seedOf } from '../../../support/runner/rounds.ts'

const LONG = 'x'.repeat(1100)
const ROWS = 6_000

const store = createRowStore(t.testdir(), testModel)
const [name, height, isOf] = ['name', 'height', 'ID'].map(each => store.attribute('Person', each)) as StorageAttribute[]
const attributes = [isOf!, name!, height!]

const random = randomOf(seedOf(411))
let lastRow = -1
/** Rows with gaps between their ids; most have one of a few values. */
const rows = Array.from({ length: ROWS }, (_, i) => {
  lastRow += random.integer(1, 3)
  const values = new Map<StorageAttribute, Value>([
    [isOf!, random.integer(0, 1) * 2 ** 40 + i * (random.chance(0.5) ? 1 : -1)],
    [name!, random.pick([null, 'a', 'A', '', 'ab', 'a\0', `${LONG}a`, `${LONG}b`, `n${random.integer(0, 999_999)}`])],
    [height!, random.chance(0.7) ? 1.5 : random.integer(-9_000, 9_000) / 4],
  ])
  return { rowId: lastRow, values }
})

function openEmpty(folder: string): Environment {
  const path = t.testdirName
  mkdirSync(join(path, folder))
  const environment = openEnvironment({ path: join(path, folder), mapSizeBytes: 2 ** 30 })
  t.teardown(() => environment.close())
  return environment
}

const entriesOf = ({ index }: Environment): string[] =>
  [...index.getRange({})].map(({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`)

const expectedStore = openEmpty('expected')
expectedStore.root.transactionSync(() => {
  for (const { rowId, values } of rows)
    for (const attribute of attributes)
      addPostings(expectedStore.index, indexPrefix(attribute, values.get(attribute)!), [rowId])
})
const expected = entriesOf(expectedStore)

/** Builds indexes over some of the rows. */
function build(environment: Environment, indexes: readonly StorageAttribute[], some: typeof rows, maxBytes?: number) {
  const sorted = new IndexBuild(indexes, environment.path, maxBytes)
  for (const { rowId, values } of some) sorted.add(rowId, attribute => values.get(attribute)!)
  const writer = new IndexWriter(environment.index)
  for (const entries of sorted.entries()) environment.root.transactionSync(() => writer.putEntries(entries))
}

t.test('all in memory', async t => {
  const environment = openEmpty('memory')
  build(environment, attributes, rows)
  t.ok(expected.length > ROWS)
  t.same(entriesOf(environment), expected)
})

t.test('in runs of a temporary file, of which nothing is left', async t => {
  const environment = openEmpty('runs')
  build(environment, attributes, rows, 1)
  t.same(entriesOf(environment), expected)
  t.same(readdirSync(environment.path).sort(), ['data.mdb', 'lock.mdb'])
})

t.test('before the entries of other indexes, and in an index that has entries', async t => {
  const environment = openEmpty('others')
  const half = rows.length / 2
  build(environment, [height!, name!], rows.slice(0, half), 1)
  build(environment, [name!, height!], rows.slice(half))
  build(environment, [isOf!], rows)
  t.same(entriesOf(environment), expected)
})

t.test('without rows', async t => {
  const environment = openEmpty('none')
  build(environment, attributes, [])
  t.same(entriesOf(environment), [])
})

for (const isCut of [false, true]) {
  t.test(`duplicates are found wherever the rows of a key are${isCut ? ', also of long texts' : ''}`, async t => {
    const nick = store.attribute('Person', 'nick')
    const keyCount = 1_200
    // The rows of a key are in several runs, and those of one key on both sides of the end of some entries.
    const textOf = (rowId: number): string => {
      const text = `${rowId % keyCount} ${'n'.repeat(1_000)}`
      return isCut ? `${text}${LONG}${Math.floor(rowId / keyCount) % 2}` : text
    }
    const isNull = (rowId: number): boolean => rowId % 100 === 7
    const sorted = new IndexBuild([nick], t.testdir(), 1)
    const expectedRows: number[] = []
    const seen = new Set<string>()
    for (let rowId = 0; rowId < 3 * keyCount; rowId++) {
      sorted.add(rowId, () => (isNull(rowId) ? null : textOf(rowId)))
      if (isNull(rowId)) continue
      if (seen.has(textOf(rowId))) expectedRows.push(rowId)
      seen.add(textOf(rowId))
    }
    const finder = new DuplicateFinder((_, rowId) => textOf(rowId))
    const foundRows: number[] = []
    let entriesCount = 0
    for (const entries of sorted.entries()) {
      entriesCount++
      for (const { rowId } of finder.among(entries)) foundRows.push(rowId)
    }
    t.ok(entriesCount > 1)
    t.same(
      foundRows.sort((a, b) => a - b),
      expectedRows,
    )
  })
}
