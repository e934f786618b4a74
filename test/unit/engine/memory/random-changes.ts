import type { Value } from '../../../../engine/catalog/value.ts'
import type { Random } from '../../../support/base/random.ts'
import type { RowWriter, TestEntity } from '../../../support/engine/write-rows.ts'

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
    extra: random.chance(0.3) ? null : { a: random.integer(0, 3), b: { text: random.pick([5, true, [], ...TEXTS]) } },
    employerCode: random.chance(0.3) || companies.length === 0 ? null : random.pick(companies),
  }
}

/** Random changes of a store with the test model: each call adds, changes and removes some entities. */
export function randomChanges(random: Random): (write: RowWriter) => void {
  const companies: string[] = []
  const people = new Map<number, number>()
  let nextId = 0
  return write => {
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
}
