/**
 * Thread in which a query runs: at once in the calling thread, or in the pool.
 */
import t, { type Test } from 'tap'
import { parsePathList } from '../../../../engine/index.ts'
import type { Output, ReadRequest } from '../../../../engine/query/contract/request.ts'
import { insertRows } from '../../../../kernel/testing.ts'
import { decode } from '../../../support/engine/read-request.ts'
import { openItems, read } from './store.ts'

const entity: Output = { form: 'entity' }
const items = parsePathList('number')
const sum = { function: 'sum', distinct: false } as const

const cases: { name: string; part: Partial<ReadRequest>; here: boolean }[] = [
  { name: 'one entity', part: { source: { kind: 'keys', keys: ['7'] }, output: entity }, here: true },
  { name: 'some entities', part: { source: { kind: 'keys', keys: ['7', '9', '8'] } }, here: true },
  {
    name: 'one entity by a unique value',
    part: { source: { kind: 'attribute', attribute: 'code', value: 'c7' }, output: entity },
    here: true,
  },
  {
    name: 'one entity by a value without index',
    part: { source: { kind: 'attribute', attribute: 'note', value: 'x' } },
    here: false,
  },
  {
    name: 'the entities of a relation',
    part: { source: { kind: 'related', from: { dataClass: 'Group', key: '7' }, relation: 'items' } },
    here: true,
  },
  { name: 'a page of 100', part: { top: 100 }, here: true },
  { name: 'a page of 5,000', part: { top: 5_000 }, here: false },
  { name: 'an indexed equality', part: { filter: 'code = c77' }, here: true },
  {
    name: 'an indexed equality and a condition on what it finds',
    part: { filter: 'code = c77 and number > 3' },
    here: true,
  },
  { name: 'an indexed condition on a relation', part: { filter: 'group.ID = 7' }, here: true },
  { name: 'a scan', part: { filter: 'number > 3' }, here: false },
  { name: 'an indexed equality or a scan', part: { filter: 'code = c77 or number > 3' }, here: false },
  { name: 'an order of everything', part: { orderBy: 'number' }, here: false },
  { name: 'an order of a few', part: { filter: 'group.ID = 7', orderBy: 'number' }, here: true },
  { name: 'a short text', part: { filter: `code = c77${' or code = c78'.repeat(50)}` }, here: true },
  {
    name: 'a text that takes long to parse',
    part: { filter: `code = c77${' or code = c78'.repeat(100)}` },
    here: false,
  },
  {
    name: 'an order that takes long to parse',
    part: { orderBy: `ID${', ID desc'.repeat(99)}${' '.repeat(200)}` },
    here: false,
  },
  {
    name: 'parameters that take long to parse',
    part: { filter: 'code in :1', params: { text: `[[${'"c1",'.repeat(20_000)}"c2"]]` } },
    here: false,
  },
  { name: 'short parameters', part: { filter: 'code in :1', params: { text: '[["c1","c2"]]' } }, here: true },
  {
    name: 'a large expansion',
    part: { dataClass: 'Group', top: 1_000, output: { form: 'collection', expand: parsePathList('items') } },
    here: false,
  },
]

const ROWS = 20_000

/** Calls a function with a replaced clock: on a busy machine anything may take as long as a large query. */
function withClock<T>(call: () => T, next: (now: number) => number): T {
  const { now } = Date
  let time = now()
  Date.now = () => {
    time = next(time)
    return time
  }
  try {
    return call()
  } finally {
    Date.now = now
  }
}

const atOnce = <T>(call: () => T): T => withClock(call, now => now)

async function check(t: Test): Promise<void> {
  const engine = await openItems(t, ROWS, { pool: { threads: 1 } })
  for (const { name, part, here } of cases) {
    const answer = atOnce(() => engine.queries.read(read(part)))
    t.equal(answer instanceof Promise, !here, `${name} runs ${here ? 'here' : 'in the pool'}`)
    await answer
  }
  const total = engine.queries.compute(read(), items, sum)
  t.ok(total instanceof Promise, 'an aggregate of everything runs in the pool')
  t.equal(decode(await total), (ROWS * (ROWS - 1)) / 2)
  const few = atOnce(() => engine.queries.compute(read({ filter: 'group.ID = 7' }), items, sum))
  t.notOk(few instanceof Promise, 'an aggregate of a few runs here')
}

t.test('queries that cost less than their handover run at once, all others in the pool', check)

t.test('with an inline cost of 0 everything runs in the pool', async t => {
  const engine = await openItems(t, 10, { pool: { threads: 1, inlineCostMs: 0 } })
  const answer = engine.queries.read(read({ source: { kind: 'keys', keys: ['7'] }, output: entity }))
  t.ok(answer instanceof Promise)
  t.equal(decode(await answer).ID, 7)
})

t.test('with a large inline cost nothing runs in the pool', async t => {
  const engine = await openItems(t, 1_000, { pool: { threads: 1, inlineCostMs: 1e6 } })
  const answer = atOnce(() => engine.queries.read(read({ filter: 'number >= 500' })))
  t.notOk(answer instanceof Promise)
  t.equal(decode(answer as Uint8Array).__COUNT, 500)
})

t.test('a query that turns out to cost more than estimated is moved to the pool', async t => {
  const engine = await openItems(t, 1_000, { pool: { threads: 1, inlineCostMs: 100 } })
  const answer = withClock(
    () => engine.queries.read(read({ filter: 'number >= 500' })),
    // The clock advances ten seconds at every reading.
    now => now + 10_000,
  )
  t.ok(answer instanceof Promise)
  t.equal(decode(await answer).__COUNT, 500)
})

/** Items with texts and objects of about `bytes` bytes. */
const sized = (bytes: number) =>
  Array.from({ length: 20 }, (_, i) => ({
    ID: i + 100,
    code: `s${i}`,
    note: `${i} `.padEnd(bytes, 'x'),
    info: { a: i, rest: Array(Math.ceil(bytes / 2)).fill(1) },
  }))

for (const [what, bytes, here] of [
  ['small', 200, true],
  ['large', 300_000, false],
] as const)
  t.test(`${what} values, whose size no estimate knows, are examined ${here ? 'here' : 'in the pool'}`, async t => {
    const engine = await openItems(t, 0, { pool: { threads: 1, inlineCostMs: 1 }, memoryBytes: 0 })
    await insertRows(engine.saves, 'Item', sized(bytes))
    const paths = parsePathList('info.a')
    const attributes = { from: 'parameter', items: paths } as const
    const count = { function: 'count', distinct: true } as const
    const one = { source: { kind: 'keys', keys: ['107'] } } as const
    const asked: [name: string, ask: () => unknown, answer: unknown][] = [
      [
        'a filter',
        () => engine.queries.read(read({ filter: 'info.a = 7' })),
        { __COUNT: 1, __ENTITIES: [{ ID: 107 }] },
      ],
      ['an order', () => engine.queries.read(read({ orderBy: 'info.a desc', top: 1 })), { __ENTITIES: [{ ID: 119 }] }],
      [
        'a property',
        () => engine.queries.read(read({ ...one, output: { form: 'collection', attributes } })),
        { __ENTITIES: [{ info: { a: 7 } }] },
      ],
      ['properties computed', () => engine.queries.compute(read(), paths, sum), 190],
      ['properties that differ', () => engine.queries.distinct(read({ top: 3 }), paths), [0, 1, 2]],
      ['texts that differ', () => engine.queries.compute(read(), parsePathList('note'), count), 20],
    ]
    for (const [name, ask, expected] of asked) {
      // The second time its columns are in memory.
      for (const round of ['once', 'again']) {
        const answer = atOnce(ask) as Promise<Uint8Array>
        t.equal(!(answer instanceof Promise), here, `${name} ${round}`)
        t.match(decode(await answer), expected, `answer of ${name} ${round}`)
      }
    }
  })

t.test('an invalid request is refused wherever it would have run', async t => {
  for (const inlineCostMs of [0, 1e6]) {
    const engine = await openItems(t, 1, { pool: { threads: 1, inlineCostMs } })
    const answer = (async () => engine.queries.read(read({ filter: 'number >' })))()
    await t.rejects(answer, { name: 'PARSE.SYNTAX' })
  }
})
