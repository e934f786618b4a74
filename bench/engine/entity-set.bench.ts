import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Engine, type EntitySet, kept, sourceOf } from '../../engine/index.ts'
import { decodeMembers, type Members } from '../../engine/entity-set/members.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import { Histogram } from '../load/histogram.ts'
import { columnsOf, rowsWhere } from '../world/columns.ts'
import { syllableName } from '../world/names.ts'
import type { World } from '../world/world.ts'
import { differs, type EngineCase, type EngineGoals, engineCase, pageOf, readPage } from './engine-case.ts'

const PAGE = 100
const SMALL_SETS = { count: 10_000, members: 1_000, megabytes: 100 }
const READ_P99_MS = 5

/** A filter that half of all rows pass, a different one for each `n`. */
interface Half {
  request(n: number): Partial<ReadRequest>
  count(n: number): number
}

const bySalary = (world: World): Half => {
  const { salary } = columnsOf(world)
  const from = (n: number) => 70_000 + world.pick(n, 400) / 4
  return {
    request: n => ({ filter: 'salary >= :1', params: toParams([from(n)]) }),
    count: n => salary.filter(value => value >= from(n)).length,
  }
}

const byName = (world: World): Half => {
  const { name } = columnsOf(world)
  const names = Array.from({ length: world.names }, (_, i) => syllableName(i).toLowerCase())
  const sortedNames = names.toSorted()
  const from = (n: number) => sortedNames[sortedNames.length / 2 + world.pick(n, 100)]!
  return {
    request: n => ({ filter: 'lastName >= :1', params: toParams([from(n)]) }),
    count: n => {
      const passes = names.map(each => each >= from(n))
      return name.reduce((count, each) => count + Number(passes[each]), 0)
    },
  }
}

/** Creates a set of the rows that `request` selects. Call {@link release} afterwards: the store of the world must stay unchanged. */
const create = (engine: Engine, request: Partial<ReadRequest>): Promise<EntitySet> =>
  engine.entitySets.create(
    {
      dataClass: 'Employee',
      source: { kind: 'all' },
      skip: 0,
      top: 1,
      output: { form: 'collection' },
      ...request,
    },
    {},
  )

const release = (engine: Engine, sets: readonly EntitySet[]): Promise<void> =>
  engine.entitySets.releaseAll(sets.map(({ id }) => id))

const sizeOf = (members: Members): number => ('size' in members ? members.size : members.length)

/** Number of concurrent clients, as on a server. They share the waits for the disk, so that the comparison measures the work. */
const CLIENTS = 8

const together = <T>(clients: number, n: number, run: (n: number) => T | Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: clients }, (_, i) => run(n * clients + i)))

const counting = (name: string, what: string, halfOf: (world: World) => Half): EngineCase =>
  engineCase({
    name,
    title: `${CLIENTS} counts of half the rows by ${what} at once`,
    prepare: ({ engine, world }) => {
      const half = halfOf(world)
      return {
        units: CLIENTS,
        unit: 'counts',
        run: n =>
          together(CLIENTS, n, each => kept(readPage(engine, { dataClass: 'Employee', ...half.request(each) }))),
        problemOf: (answers, n) => {
          const counts = (answers as Uint8Array[]).map(answer => pageOf(answer).count)
          return differs(
            'the counts',
            counts,
            counts.map((_, i) => half.count(n * CLIENTS + i)),
          )
        },
      }
    },
  })

const creating = (
  name: string,
  what: string,
  clients: number,
  goals: EngineGoals,
  halfOf: (world: World) => Half,
): EngineCase =>
  engineCase({
    name,
    title: `${clients} durable entity sets of half the rows by ${what}${clients === 1 ? '' : ' at once'}`,
    goals,
    prepare: ({ engine, world }) => {
      const half = halfOf(world)
      const createdSets: EntitySet[] = []
      return {
        units: clients,
        unit: 'sets',
        run: async n => {
          const sets = await together(clients, n, each => create(engine, half.request(each)))
          createdSets.push(...sets)
          return sets
        },
        problemOf: (answer, n) => {
          const sizes = (answer as EntitySet[]).map(({ members }) => sizeOf(members))
          return differs(
            'the sizes',
            sizes,
            sizes.map((_, i) => half.count(n * clients + i)),
          )
        },
        close: () => release(engine, createdSets),
      }
    },
  })

/** Combines two sets of half the rows, the first one ordered if `isOrdered`. */
const combining = (operator: 'and' | 'or' | 'except', isOrdered: boolean): EngineCase =>
  engineCase({
    name: `entity-set-${operator}${isOrdered ? '-ordered' : ''}`,
    title: `${operator.toUpperCase()} of two entity sets of half the rows${isOrdered ? ', one of them ordered' : ''}`,
    goals: { p50Ms: 1 },
    prepare: async ({ engine, world }) => {
      const { salary, department } = columnsOf(world)
      const [inLeft, inRight] = [(row: number) => salary[row]! >= 70_000, (row: number) => department[row]! % 2 === 0]
      const members = rowsWhere(world, inLeft)
      const orders = Array.from({ length: 8 }, (_, i) => permuteRows(members, i))
      const lists = isOrdered ? orders : [Uint32Array.from(members)]
      const sources = lists.map(rowIds => ({ source: { kind: 'rows', rowIds, ordered: true } as const }))
      const right = await create(engine, { source: { kind: 'rows', rowIds: rowsOf(world, inRight), ordered: true } })
      const lefts = await Promise.all(sources.map(source => create(engine, source)))
      const pass = { and: (a: boolean, b: boolean) => a && b, or: (a: boolean, b: boolean) => a || b, except: only }
      const expected = rowsWhere(world, row => pass[operator](inLeft(row), inRight(row))).length
      return {
        units: members.length,
        unit: 'members',
        // Decoded like a set from the store: each run gets a new list.
        run: n =>
          engine.entitySets.combine(operator, decodeMembers(lefts[n % lefts.length]!.memberBytes), right.members),
        problemOf: answer => differs('the size', sizeOf(answer as Members), expected),
        close: () => release(engine, [...lefts, right]),
      }
    },
  })

const only = (a: boolean, b: boolean): boolean => a && !b
const rowsOf = (world: World, passes: (row: number) => boolean) => Uint32Array.from(rowsWhere(world, passes))

/** The rows in an order that is neither ascending nor random, different for each seed. */
const permuteRows = (rows: readonly number[], seed: number): Uint32Array => {
  const out = new Uint32Array(rows.length)
  // An odd step that shares no factor with the length visits every position once.
  let step = 7919 + 2 * seed
  while (gcd(step, rows.length) > 1) step += 2
  for (let i = 0, at = 0; i < rows.length; i++, at = (at + step) % rows.length) out[i] = rows[at]!
  return out
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

const paging = (form: 'unordered' | 'ordered', place: 'first' | 'deep'): EngineCase =>
  engineCase({
    name: `entity-set-page-${form}-${place}`,
    title: `${place === 'first' ? 'the first page' : 'a page in the middle'} of an ${form} set of half the rows`,
    goals: place === 'deep' ? { cost: { of: `entity-set-page-${form}-first`, factor: 1.5 } } : {},
    prepare: async ({ engine, world }) => {
      const { salary } = columnsOf(world)
      const rows = rowsWhere(world, row => salary[row]! >= 70_000)
      const rowIds = form === 'ordered' ? permuteRows(rows, 0) : Uint32Array.from(rows)
      const set = await create(engine, { source: { kind: 'rows', rowIds, ordered: true } })
      const skip = (n: number) => (place === 'first' ? 0 : Math.floor(rows.length / 2)) + world.pick(n, 1_000)
      return {
        units: PAGE,
        unit: 'rows',
        run: n => readPage(engine, { dataClass: 'Employee', source: sourceOf(set.members), skip: skip(n), top: PAGE }),
        problemOf: (answer, n) => {
          const expected = rowIds.subarray(skip(n), skip(n) + PAGE).map(row => row + 1)
          return differs('the page', pageOf(answer as Uint8Array).keys, expected)
        },
        close: () => release(engine, [set]),
      }
    },
  })

const smallSets: EngineCase = engineCase({
  name: 'entity-sets-10k',
  title: `a page of one of 10,000 sets of 1,000 members, which take less than ${SMALL_SETS.megabytes} MB`,
  goals: {},
  prepare: async ({ engine, world }) => {
    const { count, members } = SMALL_SETS
    const rowIds = (n: number) => Uint32Array.from({ length: members }, (_, i) => world.pick(n, world.employees, i))
    const before = memoryInUse()
    const ids: string[] = []
    // Only the counted sets may remain in memory, without any other set or answer.
    for (let n = 0; n < count; n += 50) {
      const sets = Array.from({ length: 50 }, (_, i) =>
        create(engine, { source: { kind: 'rows', rowIds: rowIds(n + i), ordered: true } }),
      )
      for (const { id } of await Promise.all(sets)) ids.push(id)
    }
    const megabytes = (memoryInUse() - before) / 1e6
    const dataClass = engine.catalog.dataClassesByName.get('Employee')!
    const setOf = (n: number) => engine.entitySets.open(dataClass, ids[world.pick(n, count)]!, {}) as EntitySet
    return {
      units: 1,
      unit: 'pages',
      run: n => readPage(engine, { dataClass: 'Employee', source: sourceOf(setOf(n).members), top: 10 }),
      problemOf: (answer, n) => {
        if (megabytes > SMALL_SETS.megabytes) return `the sets take ${megabytes.toFixed(0)} MB`
        const expected = rowIds(world.pick(n, count))
          .subarray(0, 10)
          .map(row => row + 1)
        return differs('the page', pageOf(answer as Uint8Array).keys, expected)
      },
      close: () => engine.entitySets.releaseAll(ids),
    }
  },
})

const besideReads: EngineCase = engineCase({
  name: 'entity-set-create-beside-reads',
  title: `a durable set of half the rows, while reads of one entity keep p99 < ${READ_P99_MS} ms`,
  goals: {},
  prepare: ({ engine, world }) => {
    const half = bySalary(world)
    const sets: EntitySet[] = []
    const reads = new Histogram()
    return {
      units: 1,
      unit: 'sets',
      run: async n => {
        let isMaking = true
        const making = create(engine, half.request(n)).finally(() => {
          isMaking = false
        })
        for (let i = 0; isMaking; i++) {
          const startedAt = performance.now()
          const key = String(1 + world.pick(n + i, world.employees))
          await readPage(engine, { dataClass: 'Employee', source: { kind: 'keys', keys: [key] } })
          // Includes the time for which the thread is held: a request would have to wait for it.
          await new Promise(resolve => setImmediate(resolve))
          reads.add((performance.now() - startedAt) * 1000)
        }
        const set = await making
        sets.push(set)
        return set
      },
      problemOf: (set, n) => differs('the size', sizeOf((set as EntitySet).members), half.count(n)),
      afterwards: () => {
        const p99Ms = reads.quantile(0.99) / 1000
        return p99Ms < READ_P99_MS ? undefined : `the reads beside have p99 ${p99Ms.toFixed(1)} ms`
      },
      close: () => release(engine, sets),
    }
  },
})

/** Memory in use by JavaScript and buffers, without garbage. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export const entitySetCases: readonly EngineCase[] = [
  counting('count-half-column', 'an unindexed attribute', bySalary),
  creating(
    'entity-set-column',
    'an unindexed attribute',
    CLIENTS,
    { cost: { of: 'count-half-column', factor: 2 } },
    bySalary,
  ),
  creating('entity-set-column-alone', 'an unindexed attribute', 1, {}, bySalary),
  counting('count-half-index', 'an indexed attribute', byName),
  creating(
    'entity-set-index',
    'an indexed attribute',
    CLIENTS,
    { cost: { of: 'count-half-index', factor: 2 } },
    byName,
  ),
  ...(['and', 'or', 'except'] as const).flatMap(operator => [combining(operator, false), combining(operator, true)]),
  ...(['unordered', 'ordered'] as const).flatMap(form => [paging(form, 'first'), paging(form, 'deep')]),
  smallSets,
  besideReads,
]
