import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import t, { type Test } from 'tap'
import { openEngine } from '../../../../engine/index.ts'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { type PoolOptions, QueryPool } from '../../../../engine/placement/pool/query-pool.ts'
import type { PoolMessage } from '../../../../engine/placement/pool/messages.ts'
import type { Task } from '../../../../engine/query/tasks/task.ts'
import { insertRows } from '../../../../kernel/testing.ts'
import { LIMITS } from '../../../support/engine/engine-options.ts'
import { decode } from '../../../support/engine/read-request.ts'
import { caller, optionsOf, read, SLOW } from './store.ts'

const ROWS = 5_000
const folder = mkdtempSync(join(tmpdir(), 'tesser-pool-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.before(async () => {
  const engine = await openEngine(optionsOf(folder))
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    ID: i,
    number: i,
    code: `c${i}`,
    note: `item ${i} with words`,
  }))
  await insertRows(engine.saves, 'Item', rows)
  await engine.close()
})

function start(
  t: Test,
  options: Partial<PoolOptions> = {},
  timeoutMs = LIMITS.timeoutMs,
  texts: string[] = [],
  file = 'engine/threads/pool-thread.js',
): QueryPool {
  const pool = new QueryPool({
    ...{ threads: 1, queueLimit: 100, inlineCostMs: 0, heapBytes: 2 ** 28, overrunMs: 60_000, ...options },
    store: optionsOf(folder),
    limits: { ...LIMITS, timeoutMs },
    events: { onInternalError: text => texts.push(text) },
    entry: { file, role: 'pool', data: { tasks: [] } },
  })
  t.teardown(() => pool.close())
  return pool
}

const piscinaOf = (pool: QueryPool): Piscina => (pool as unknown as { piscina: Piscina }).piscina
const one: Task = { kind: 'read', request: read({ filter: 'number = 3' }) }
const stuck: Task = { kind: 'read', request: { ...read(), dataClass: 'Group' } }
const slow: Task = { kind: 'read', request: read({ filter: SLOW }) }

const { output, ...all } = read()
const exported: Task = {
  kind: 'read',
  request: {
    ...all,
    top: Number.POSITIVE_INFINITY,
    output: { ...output, form: 'array', rowFormat: { kind: 'lines' } },
  },
}

/** Runs a function of `die.child.ts` in the only thread of a pool. */
const die = (pool: QueryPool, name: 'exit' | 'outOfMemory'): Promise<unknown> =>
  piscinaOf(pool).run(null, { filename: fileURLToPath(outputUrl('test/unit/engine/placement/die.child.js')), name })

t.test('an answer has a separate buffer', async t => {
  const pool = start(t)
  const [first, second] = await Promise.all([pool.run(one), pool.run({ kind: 'read', request: read() })])
  t.equal((first as Uint8Array).buffer.byteLength, (first as Uint8Array).length)
  t.equal(decode(first).__ENTITIES[0].ID, 3)
  t.equal(decode(second).__COUNT, ROWS)
})

t.test('row ids, aggregates and distinct values are computed in the pool too', async t => {
  const pool = start(t)
  const request = read({ filter: 'number < 3' })
  const items = [{ path: ['number'], range: undefined }]
  const aggregation = { function: 'sum', distinct: false } as const
  t.equal(decode(await pool.run({ kind: 'compute', request, args: { items, aggregation } })), 3)
  t.same(
    decode(await pool.run({ kind: 'distinct', request: { ...request, top: undefined }, args: { items } })),
    [0, 1, 2],
  )
  const rowIds = await pool.run({ kind: 'rowIds', request, args: { of: 'selection' } })
  t.same([...new Uint32Array((rowIds as Uint8Array).buffer)], [0, 1, 2])
})

t.test('an error of a query keeps its code and status', async t => {
  const pool = start(t)
  await t.rejects(pool.run({ kind: 'read', request: read({ filter: 'nmber = 3' }) }), {
    name: 'QUERY.UNKNOWN_ATTRIBUTE',
    httpStatus: 404,
    entries: [{ errCode: 1500, message: /did you mean "number"/ }],
  })
})

t.test('queries beyond the limit of the queue are refused with 503 and Retry-After', async t => {
  const pool = start(t, { queueLimit: 1 })
  // The thread has two, and one waits.
  const taken = [pool.run(slow), pool.run(one), pool.run(one)]
  await t.rejects(pool.run(one), { name: 'POOL.BUSY', httpStatus: 503, retryAfterSeconds: 1 })
  await Promise.all(taken)
  t.ok(await pool.run(one), 'later ones are accepted again')
})

t.test('an export gets a thread for itself, and leaves one for other queries', async t => {
  const pool = start(t, { threads: 2 })
  const exports = [pool.run(exported), pool.run(exported)]
  t.match(pool.load, { running: 1, waiting: 1 }, 'the second export waits')
  const others = ['a', 'b', 'c'].map(() => pool.run(one))
  t.match(pool.load, { running: 2, waiting: 3 }, 'no query is put behind the export')
  for (const answer of await Promise.all(others)) t.equal(decode(answer).__COUNT, 1)
  const lines = (answer: unknown) => new TextDecoder().decode(answer as Uint8Array).split('\n').length
  t.same((await Promise.all(exports)).map(lines), [ROWS + 1, ROWS + 1])
  await Promise.all([pool.run(one), pool.run(one), pool.run(one), pool.run(one)])
})

t.test('exports that wait are limited, and do not fill the queue', async t => {
  const pool = start(t, { threads: 1 })
  const taken = Array.from({ length: 9 }, () => pool.run(exported))
  await t.rejects(pool.run(exported), { name: 'POOL.EXPORTS', httpStatus: 503, retryAfterSeconds: 10 })
  t.ok(await pool.run(one))
  await Promise.all(taken)
  t.ok(await pool.run(exported))
})

t.test('an export has a deadline of its own, and others have theirs meanwhile', async t => {
  const pool = start(t, { threads: 2 }, 1)
  const exporting = pool.run(exported)
  await t.rejects(pool.run(slow), { name: 'QUERY.TIMEOUT', entries: [{ message: /1 ms/ }] })
  t.match(new TextDecoder().decode((await exporting) as Uint8Array), /"ID"/)
})

t.test('a waiting query is dropped when its caller disconnects, and frees its place in the queue', async t => {
  const pool = start(t, { queueLimit: 1 })
  const taken = [pool.run(slow), pool.run(one)]
  const gone = caller()
  const waiting = pool.run(one, gone)
  gone.leave()
  await t.rejects(waiting, { name: 'QUERY.CANCELLED' })
  t.ok(await pool.run(one))
  await Promise.all(taken)
})

t.test('a query in a thread is dropped when its caller disconnects, and the others of the thread continue', async t => {
  const pool = start(t)
  const gone = caller()
  const running = pool.run(slow, gone)
  const next = pool.run(one)
  gone.leave()
  await t.rejects(running, { name: 'QUERY.CANCELLED' })
  t.equal(decode(await next).__COUNT, 1)
})

t.test('a thread ends a query at the next batch of rows after its caller has disconnected', async t => {
  const cancelled = new Int32Array(new SharedArrayBuffer(8))
  const worksAt = new Int32Array(new SharedArrayBuffer(8))
  const examined = new Uint32Array(2)
  const sent = new Uint32Array(2)
  const ranMs = new Float64Array(2)
  const loadedCount = new Int32Array(new SharedArrayBuffer(4))
  const { Piscina } = await import('piscina')
  const piscina = new Piscina({
    filename: fileURLToPath(outputUrl('engine/threads/pool-thread.js')),
    workerData: {
      store: optionsOf(folder),
      limits: LIMITS,
      cancelled,
      worksAt,
      examined,
      sent,
      ranMs,
      tasks: [],
      loadedCount,
    },
    maxThreads: 1,
    minThreads: 1,
  })
  t.teardown(() => piscina.destroy())
  Atomics.store(cancelled, 1, 1)
  const message = (slot: number): PoolMessage => ({
    task: one,
    deadlineAt: Date.now() + 60_000,
    slot,
    spool: undefined,
  })
  t.match(await piscina.run(message(1)), { error: { name: 'QUERY.CANCELLED' } })
  t.equal(decode(await piscina.run(message(0))).__COUNT, 1)
})

t.test('the deadline counts from the arrival, for waiting queries as for running ones', async t => {
  const pool = start(t, {}, 1)
  const all = [slow, slow, slow, slow].map(task => pool.run(task))
  for (const each of all) await t.rejects(each, { name: 'QUERY.TIMEOUT', httpStatus: 503 })
})

t.test('a thread that ends is replaced, and the tasks that waited for it run in another', async t => {
  const texts: string[] = []
  const pool = start(t, {}, LIMITS.timeoutMs, texts)
  await pool.run(one)
  const ended = die(pool, 'exit')
  const behind = [pool.run(slow), pool.run(one)]
  await t.rejects(ended)
  for (const each of behind) t.ok(await each)
  t.equal(decode(await pool.run(one)).__COUNT, 1, 'the next one is answered')
  t.match(texts, [/a thread of the query pool ended/])
})

t.test('a thread that needs too much memory ends, and the others continue', async t => {
  const pool = start(t, { threads: 2, heapBytes: 2 ** 27 })
  await pool.run(one)
  await t.rejects(die(pool, 'outOfMemory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  for (let i = 0; i < 4; i++) t.equal(decode(await pool.run(one)).__COUNT, 1)
})

const STUCK = 'test/unit/engine/placement/stuck.child.js'

/** Waits until the only thread of a pool has begun a task. */
async function begun(pool: QueryPool): Promise<void> {
  const { worksAt } = (pool as unknown as { words: { worksAt: Int32Array } }).words
  while (worksAt.every(id => id === 0)) await new Promise(resolve => setTimeout(resolve, 5))
}

t.test(
  'a thread that runs on after its deadline is ended, and the tasks that waited for it run in another',
  async t => {
    const pool = start(t, { overrunMs: 200 }, 60_000, [], STUCK)
    const never = pool.run(stuck, undefined, Date.now() + 3_000)
    const behind = [pool.run(one), pool.run(one)]
    await t.rejects(never, { name: 'QUERY.TIMEOUT', httpStatus: 503 })
    for (const each of behind) t.equal(decode(await each).__COUNT, 1)
  },
)

t.test('a thread that runs on after its caller has disconnected is ended and logged', async t => {
  const texts: string[] = []
  const pool = start(t, { overrunMs: 200 }, 60_000, texts, STUCK)
  const gone = caller()
  const never = pool.run(stuck, gone)
  const behind = pool.run(one)
  await begun(pool)
  const [first] = pool.threadIds
  gone.leave()
  await t.rejects(never, { name: 'QUERY.CANCELLED' })
  t.equal(decode(await behind).__COUNT, 1)
  t.equal(pool.threadIds.length, 1)
  t.not(pool.threadIds[0], first)
  t.match(texts, [/is ended: its query went on for 0.2 s/])
  t.equal(texts.length, 1)
})

t.test('close finishes the tasks that a thread has, and refuses waiting and later ones', async t => {
  const pool = start(t)
  const running = [pool.run(one), pool.run(one)]
  const waiting = pool.run(one)
  const closed = pool.close()
  await t.rejects(waiting, { name: 'POOL.CLOSED', httpStatus: 503 })
  await t.rejects(pool.run(one), { name: 'POOL.CLOSED' })
  for (const each of running) t.equal(decode(await each).__COUNT, 1)
  await closed
})
