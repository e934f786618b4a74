import t from 'tap'
import { SEGMENT_ROWS } from '../../../../engine/storage/snapshot.ts'
import { randomOf } from '../../../support/reference/random.ts'
import type { RowWriter } from '../../../support/write-rows.ts'
import { testModel } from '../storage/test-model.ts'
import { randomChanges } from './random-changes.ts'
import { openMemoryWorld, picture } from './world.ts'

t.test(
  'a snapshot has the same content as LMDB has after the same commit, whatever is committed meanwhile',
  async t => {
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
          t.strictSame(picture(snapshot, dataClasses), expected, `seed ${seed}, round ${round}`)
          for (let i = random.integer(0, 4); i > 0; i--) {
            world.commit(change)
            const after = lmdb.read(newer => picture(newer, dataClasses))
            t.strictSame(
              reader.read(newer => picture(newer, dataClasses)),
              after,
              `seed ${seed}, round ${round}: newer`,
            )
          }
          t.strictSame(picture(snapshot, dataClasses), expected, `seed ${seed}, round ${round}: still the same`)
        })
      }
    }
  },
)

t.test('rows are added, changed and deleted across segments beside a snapshot that stays', async t => {
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

t.test('a row that is committed while some of the orders are made is in all of them', async t => {
  const attributes = {
    ID: { type: 'long' },
    size: { type: 'long', indexed: true },
    name: { type: 'string', indexed: true },
  }
  const world = openMemoryWorld(t, { name: 'orders', dataClasses: { Thing: { key: 'ID', attributes } } })
  const { dataClasses } = world.rows.catalog
  const insert = (ID: number) => world.commit(rows => rows.insert('Thing', { ID, size: -ID, name: `thing ${ID}` }))
  for (let ID = 1; ID <= 3; ID++) insert(ID)
  let looks = 0
  t.intercept(performance, 'now', { value: () => looks++ / 2 })
  // A look at the start, one before the dataclass is begun, and one after each of two orders.
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
