import assert from 'node:assert/strict'
import t from 'tap'
import { SEGMENT_ROWS } from '../../../../engine/data/snapshot.ts'
import { randomOf } from '../../../support/base/random.ts'
import type { RowWriter } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'
import { randomChanges } from './random-changes.ts'
import { openMemoryWorld, picture } from '../../../support/engine/shared-memory.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

t.test('a snapshot has the same content as LMDB after the same commit, whatever is committed meanwhile', async t => {
  for (const seed of [1, 2, 3]) {
    const random = randomOf(seed)
    const world = openMemoryWorld(t, testModel)
    const { rows } = world
    const { dataClasses } = rows.catalog
    const change = randomChanges(random)
    for (let i = 0; i < 10; i++) world.commit(change)
    // Rows are added while the memory is being filled.
    world.writer.build(0)
    world.commit(change)
    world.fill()
    t.ok(world.heap.isBuilt)

    const lmdb = rows.open()
    const reader = world.reader(0)
    const old = world.reader(1)
    for (let round = 0; round < 12; round++) {
      const expected = lmdb.read(snapshot => picture(snapshot, dataClasses))
      old.read(snapshot => {
        assert.deepStrictEqual(picture(snapshot, dataClasses), expected)
        for (let i = random.integer(0, 4); i > 0; i--) {
          world.commit(change)
          const after = lmdb.read(newer => picture(newer, dataClasses))
          assert.deepStrictEqual(
            reader.read(newer => picture(newer, dataClasses)),
            after,
          )
        }
        assert.deepStrictEqual(picture(snapshot, dataClasses), expected)
      })
      t.pass(`seed ${seed}, round ${round}: the same, newer in another reader, still the same`)
    }
  }
})

t.test('every reader sees new stamps of changed rows, even without object attributes', async t => {
  const attributes = { ID: { type: 'long' }, rank: { type: 'long' } }
  const world = openMemoryWorld(t, modelWith({ Thing: attributes }))
  const { dataClasses } = world.rows.catalog
  world.commit(write => {
    for (let ID = 0; ID < 40; ID++) write.insert('Thing', { ID, rank: 1 })
  })
  world.fill()
  const lmdb = world.rows.open()
  const readers = [world.reader(0), world.reader(1)]
  for (let rank = 2; rank < 6; rank++) {
    const expected = lmdb.read(snapshot => picture(snapshot, dataClasses))
    for (const reader of readers) {
      t.strictSame(
        reader.read(snapshot => picture(snapshot, dataClasses)),
        expected,
      )
    }
    world.commit(write => write.update('Thing', 7 * rank, { ID: 7 * rank, rank }))
  }
})

t.test('rows are added, changed and deleted across segments while a snapshot is held', async t => {
  const model = {
    name: 'segments',
    dataClasses: {
      Thing: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          label: { type: 'string', indexed: true },
          big: { type: 'long64' },
          extra: { type: 'object' },
        },
      },
    },
  }
  const world = openMemoryWorld(t, model)
  const { dataClasses } = world.rows.catalog
  const things = (from: number, count: number) => (write: RowWriter) => {
    for (let ID = from; ID < from + count; ID++) {
      write.insert('Thing', { ID, label: `label ${ID % 100}`, big: ID, extra: ID % 7 ? null : { ID } })
    }
  }
  world.commit(things(0, SEGMENT_ROWS - 5))
  world.fill()
  const lmdb = world.rows.open()
  const [old, reader] = [world.reader(0), world.reader(1)]
  const before = lmdb.read(snapshot => picture(snapshot, dataClasses))
  old.read(snapshot => {
    t.strictSame(picture(snapshot, dataClasses), before, 'at first')
    world.commit(things(SEGMENT_ROWS, SEGMENT_ROWS + 100))
    world.commit(write => {
      for (let rowId = 0; rowId < 9; rowId++) write.update('Thing', rowId, { ID: rowId, label: 'new', big: 2n ** 60n })
      for (let rowId = SEGMENT_ROWS - 9; rowId < SEGMENT_ROWS + 9; rowId++) write.delete('Thing', rowId)
    })
    world.commit(things(3 * SEGMENT_ROWS, 10))
    const after = lmdb.read(newer => picture(newer, dataClasses))
    t.strictSame(
      reader.read(newer => picture(newer, dataClasses)),
      after,
      'after three commits',
    )
    t.strictSame(picture(snapshot, dataClasses), before, 'the snapshot from before')
  })
})

t.test('texts that differ only in case are freed when no row has them', async t => {
  const attributes = { ID: { type: 'long' }, name: { type: 'string' } }
  const world = openMemoryWorld(t, modelWith({ Thing: attributes }))
  const text = (round: number) => `${round} ${'long '.repeat(2_000)}`
  world.commit(write => write.insert('Thing', { ID: 1, name: text(0) }))
  world.fill()
  const rename = (name: string) => world.commit(write => write.update('Thing', 0, { ID: 1, name }))
  const round = (i: number) => {
    rename(text(i))
    rename(text(i).toUpperCase())
  }
  for (let i = 1; i < 5; i++) round(i)
  const used = world.heap.usedBytes().texts
  for (let i = 5; i < 45; i++) round(i)
  const { texts } = world.heap.usedBytes()
  t.ok(texts < used + 5 * text(0).length, `${used} bytes of texts, then ${texts}`)
})

t.test('a row that is committed after some of the orders were built is in all of them', async t => {
  const attributes = {
    ID: { type: 'long' },
    size: { type: 'long', indexed: true },
    name: { type: 'string', indexed: true },
  }
  const world = openMemoryWorld(t, modelWith({ Thing: attributes }))
  const { dataClasses } = world.rows.catalog
  const insert = (ID: number) => world.commit(rows => rows.insert('Thing', { ID, size: -ID, name: `thing ${ID}` }))
  for (let ID = 1; ID <= 3; ID++) insert(ID)
  let looks = 0
  t.intercept(performance, 'now', { value: () => looks++ / 2 })
  // The clock is read at the start, before the dataclass, and after each of two orders.
  world.writer.build(1.5)
  t.notOk(world.heap.isBuilt)
  insert(4)
  world.fill()
  t.ok(world.heap.isBuilt)
  t.strictSame(
    world.reader(0).read(snapshot => picture(snapshot, dataClasses)),
    world.rows.open().read(snapshot => picture(snapshot, dataClasses)),
  )
})
