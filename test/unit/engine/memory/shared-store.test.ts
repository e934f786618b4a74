import t from 'tap'
import type { Value } from '../../../../engine/catalog/value.ts'
import { SEGMENT_ROWS } from '../../../../engine/storage/snapshot.ts'
import type { RowWriter, TestEntity } from '../../../support/write-rows.ts'
import { type Random, randomOf } from '../../../support/reference/random.ts'
import { testModel } from '../storage/test-model.ts'
import { openMemoryWorld, picture } from './world.ts'

const TEXTS = [
  '',
  'a',
  'A',
  'Ärger',
  'arger',
  'émile "x"\\',
  'ẞ',
  'zebra',
  'zebras',
  '\u0000\u0001',
  '😀',
  'long '.repeat(300),
]

function randomPerson(random: Random, id: number, companies: readonly string[]): TestEntity {
  const text = (): Value => (random.chance(0.2) ? null : random.pick(TEXTS))
  const number = (value: number): Value => (random.chance(0.2) ? null : value)
  return {
    ID: id,
    name: text(),
    nick: `nick ${id}`,
    secret: text(),
    active: random.chance(0.3) ? null : random.chance(0.5),
    age: number(random.integer(0, 5)),
    height: number(random.integer(-3, 3) / 4),
    weight: number(random.integer(0, 100) * 1.1),
    big: random.chance(0.02) ? 2n ** 60n + BigInt(random.integer(0, 3)) : number(random.integer(0, 10)),
    born: number(random.integer(-40_000, 40_000) * 86_400_000),
    seen: number(random.integer(-1e9, 1e9) * 1001),
    lap: number(random.integer(0, 1e6)),
    tag: random.chance(0.5) ? null : `${random.integer(0, 9)}`.repeat(32),
    extra: random.chance(0.5) ? null : { a: random.integer(0, 3) },
    employerCode: random.chance(0.3) || companies.length === 0 ? null : random.pick(companies),
  }
}

t.test(
  'a snapshot has the same content as LMDB has after the same commit, whatever is committed meanwhile',
  async t => {
    for (const seed of [1, 2, 3]) {
      const random = randomOf(seed)
      const world = openMemoryWorld(t, testModel)
      const { rows } = world
      const { dataClasses } = rows.catalog
      const companies: string[] = []
      const people = new Map<number, number>()
      let nextId = 0
      const change = (write: RowWriter): void => {
        for (let i = random.integer(1, 8); i > 0; i--) {
          const known = [...people.keys()]
          if (companies.length < 3 || random.chance(0.1)) {
            companies.push(`c${companies.length}`)
            write.insert('Company', { code: companies.at(-1)!, name: random.pick(TEXTS) })
          } else if (known.length === 0 || random.chance(0.5)) {
            const id = ++nextId
            people.set(write.insert('Person', randomPerson(random, id, companies)), id)
          } else if (random.chance(0.3)) {
            const rowId = random.pick(known)
            write.delete('Person', rowId)
            people.delete(rowId)
          } else {
            const rowId = random.pick(known)
            write.update('Person', rowId, randomPerson(random, people.get(rowId)!, companies))
          }
        }
      }
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
