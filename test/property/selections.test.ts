import t from 'tap'
import type { BaseEntity, BaseSelection } from '../../engine/author/declare/author-types.ts'
import { randomOf } from '../support/base/random.ts'
import { openWorld } from '../support/engine/code-world.ts'
import { seedOf } from '../support/runner/rounds.ts'

interface Row {
  ID: number
  salary: number | null
  name: string
  bossID: number | null
}

const MODEL = {
  name: 'selections',
  dataClasses: {
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        salary: { type: 'number' },
        name: { type: 'string', indexed: true },
        bossID: { type: 'long' },
        boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID', inverseName: 'team' },
        team: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'boss' },
      },
    },
  },
}

const random = randomOf(seedOf(5))
const below = (limit: number): number => random.integer(0, limit - 1)
const ROWS: Row[] = Array.from({ length: 300 }, (_, i) => ({
  ID: i + 1,
  salary: below(6) === 0 ? null : below(40),
  name: `n${below(30)}`,
  bossID: i === 0 || below(5) === 0 ? null : 1 + below(i),
}))
const rowOf = (id: number): Row => ROWS[id - 1]!

/** A selection and its expected content. */
interface Pair {
  selection: BaseSelection<'Person'>
  ids: number[]
}

const unique = (ids: readonly number[]): number[] => [...new Set(ids)]
const ascending = (ids: readonly number[]): number[] => unique(ids).sort((a, b) => a - b)
const known = (ids: readonly number[]): number[] =>
  ids.flatMap(id => (rowOf(id).salary === null ? [] : [rowOf(id).salary!]))

/** Operations on a selection, in the query language and in plain arrays. */
const STEPS: Record<string, (pair: Pair, other: Pair, n: number) => Pair> = {
  query: ({ selection, ids }, _, n) => ({
    selection: selection.query('salary >= :1', n),
    // A list keeps its order and its duplicates.
    ids: ids.filter(id => (rowOf(id).salary ?? -1) >= n),
  }),
  orderBy: ({ selection, ids }) => ({
    selection: selection.orderBy('name desc, ID'),
    ids: [...ids].sort((a, b) => nameOf(b) - nameOf(a) || a - b),
  }),
  slice: ({ selection, ids }, _, n) => ({
    selection: selection.slice(n, -n || undefined),
    ids: ids.slice(n, -n || undefined),
  }),
  and: ({ selection, ids }, other) => ({
    selection: selection.and(other.selection),
    ids: ascending(ids.filter(id => other.ids.includes(id))),
  }),
  or: ({ selection, ids }, other) => ({
    selection: selection.or(other.selection),
    ids: ascending([...ids, ...other.ids]),
  }),
  minus: ({ selection, ids }, other) => ({
    selection: selection.minus(other.selection),
    ids: ids.filter(id => !other.ids.includes(id)),
  }),
  add: ({ selection, ids }, other) => ({
    selection: selection.copy().add(other.selection),
    ids: [...ids, ...other.ids],
  }),
  related: ({ selection, ids }) => ({
    selection: selection.related('boss' as never) as never,
    ids: ascending(ids.flatMap(id => rowOf(id).bossID ?? [])),
  }),
  team: ({ selection, ids }) => ({
    selection: selection.related('team' as never) as never,
    ids: ROWS.filter(({ bossID }) => bossID !== null && ids.includes(bossID)).map(({ ID }) => ID),
  }),
}

const nameOf = (id: number): number => {
  // In text order.
  const names = [...new Set(ROWS.map(({ name }) => name))].sort()
  return names.indexOf(rowOf(id).name)
}

const idOf = (entity: BaseEntity<'Person'> | null): unknown => entity?.getKey() ?? null

function told({ selection }: Pair): Record<string, unknown> {
  return {
    ids: selection.extract('ID'),
    iterated: Array.from(selection, idOf),
    length: selection.length,
    first: idOf(selection.first()),
    last: idOf(selection.last()),
    third: idOf(selection.at(2)),
    sum: selection.sum('salary'),
    average: selection.average('salary'),
    min: selection.min('salary'),
    max: selection.max('name'),
    count: selection.count('salary'),
    distinct: selection.distinct('salary'),
    collection: selection.toCollection('name, boss.name', { begin: 1, howMany: 3, withKey: true }),
    contains: selection.contains(selection.getDataClass().get(7)!),
  }
}

function expected({ ids }: Pair): Record<string, unknown> {
  const set = ascending(ids)
  const salaries = known(set)
  const sum = salaries.reduce((total, each) => total + each, 0)
  const names = set.map(id => rowOf(id).name).sort()
  return {
    ids,
    iterated: ids,
    length: ids.length,
    first: ids[0] ?? null,
    last: ids.at(-1) ?? null,
    third: ids[2] ?? null,
    sum,
    average: salaries.length > 0 ? sum / salaries.length : null,
    min: salaries.length > 0 ? Math.min(...salaries) : null,
    max: names.at(-1) ?? null,
    count: salaries.length,
    distinct: unique(salaries).sort((a, b) => a - b),
    collection: ids.slice(1, 4).map(id => {
      const { ID, name, bossID } = rowOf(id)
      return { __KEY: ID, name, boss: bossID === null ? null : { __KEY: bossID, name: rowOf(bossID).name } }
    }),
    contains: ids.includes(7),
  }
}

for (const memoryBytes of [0, 2 ** 26]) {
  t.test(`selections match plain arrays after the same steps, with ${memoryBytes} bytes of memory`, async t => {
    const { run } = await openWorld(t, { fixture: { model: MODEL, rows: { Person: ROWS } }, memoryBytes })
    let checked = 0
    for (let round = 0; round < 120 && t.passing(); round++) {
      run(ds => {
        const path: string[] = []
        const all = (): Pair => ({ selection: ds.Person!.all() as never, ids: ROWS.map(({ ID }) => ID) })
        const start = (): Pair => (below(3) === 0 ? all() : STEPS.query!(all(), all(), below(40)))
        let pair = start()
        for (let step = 0; step < 1 + below(4); step++) {
          const names = Object.keys(STEPS)
          const name = names[below(names.length)]!
          path.push(name)
          pair = STEPS[name]!(pair, start(), below(20))
        }
        const [got, wanted] = [told(pair), expected(pair)]
        if (JSON.stringify(got) !== JSON.stringify(wanted)) t.same(got, wanted, path.join(' '))
        checked++
      })
    }
    t.equal(checked, 120)
  })
}
