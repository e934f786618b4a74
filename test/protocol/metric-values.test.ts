/** Values of metrics that follow from requests: rows examined, queues of threads that are held, bytes stored. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Metric } from '../../kernel/api.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { until } from '../support/base/until.ts'

const ROWS = 100
const model = {
  name: 'values',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        code: { type: 'string', indexed: true },
        number: { type: 'long' },
        file: { type: 'blob' },
      },
    },
  },
}
const Item = Array.from({ length: ROWS }, (_, i) => ({ ID: i + 1, code: `c${i % 10}`, number: i }))

/** Code that holds its thread until a file exists. */
const HOLD = `import { existsSync } from 'node:fs'
const cell = new Int32Array(new SharedArrayBuffer(4))
export function hold(file) {
  while (!existsSync(file)) Atomics.wait(cell, 0, 0, 5)
}
`
const PLUGIN = `import { definePlugin, encoded } from 'tesser'
export default definePlugin({
  name: 'held',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  tasks: { hold: new URL('./task.ts', import.meta.url) },
  register(scope) {
    scope.command('$hold', { verbs: ['GET'], schema: { type: 'string' }, doc: 'Holds the answer.' }, request =>
      encoded(scope.engine.runTask('held/hold', request.read, request.parameter('$hold'), request.transport)))
  },
})
`
const CLASSES = `import { DataStore, exposed } from 'tesser/classes'
import { hold } from './hold.ts'
export class Held extends DataStore {
  @exposed hold(file) {
    hold(file)
    return 'done'
  }
}
`
const TASK = `import { hold } from './hold.ts'
export default function (selection, file) {
  hold(file)
  return 'done'
}
`

async function start(t: Test, config: Record<string, object> = {}) {
  const server = await createTestServer({
    model,
    data: { Item },
    config: { auth: { guestsAdministrate: true }, ...config },
  })
  t.teardown(() => server.close())
  const read = async (): Promise<Metric[]> => (await server.get('/rest/$info/metrics')).json.metrics
  return {
    server,
    /** Values by the labels of their series, or of a series without labels. */
    async valuesOf(name: string, part = name): Promise<Record<string, number>> {
      const values = (await read()).find(metric => metric.name === name)?.values ?? []
      return Object.fromEntries(
        values
          .filter(({ metricName = name }) => metricName === part)
          .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
      )
    },
  }
}

/** Slots of a segment, which a scan examines together, including those without a row. */
const SEGMENT = 4096
const EXAMINED = [
  ['Item(7)', 0, 'a key is looked up'],
  ['Item?$top=5', 0, 'a page without a filter'],
  ['Item?$filter="number = 5"', SEGMENT, 'a scan'],
  ['Item?$filter="number < 10"&$top=3', SEGMENT, 'a scan continues after the page, for the count'],
  ['Item?$filter="code = c3"', 10, 'hits of an index'],
  ['Item?$filter="ID > 90"', 10, 'keys of a range'],
  ['Item?$filter="code = nothing"', 0, 'an index without a hit'],
] as const

for (const [where, config] of [
  // A query that takes much longer than expected, as on a busy machine, begins once more in the pool.
  ['in the thread that serves', { pool: { inlineCostMs: 1000 } }],
  ['in the pool', { pool: { inlineCostMs: 0 } }],
] as const) {
  t.test(`rows examined ${where}`, async t => {
    const { server, valuesOf } = await start(t, config)
    const examined = async (path: string): Promise<number> => {
      const rows = async () => Object.values(await valuesOf('tesser_rows_examined_total')).reduce((a, b) => a + b, 0)
      // An estimate reads a part of a column, once.
      await server.get(`/rest/${path}`)
      const before = await rows()
      const { status, text } = await server.get(`/rest/${path}`)
      t.equal(status, 200, text)
      return (await rows()) - before
    }
    await until(async () => (await valuesOf('tesser_memory_filled'))[''] === 1)
    for (const [path, rows, why] of EXAMINED) {
      const { pathname, search } = new URL(`http://a/${path}`)
      t.equal(await examined(pathname.slice(1) + search), rows, `${path}: ${why}`)
    }
  })
}

t.test('queues while threads are held', async t => {
  const folder = t.testdir({ 'index.ts': PLUGIN, 'classes.ts': CLASSES, 'task.ts': TASK, 'hold.ts': HOLD })
  const { server, valuesOf } = await start(t, {
    plugins: [join(folder, 'index.ts')],
    pool: { threads: 1 },
    functions: { threads: 1, deadlineSeconds: 60 },
  })
  const counted = async (name: string): Promise<number> =>
    (await valuesOf(`tesser_${name}_seconds`, `tesser_${name}_seconds_count`))[''] ?? 0
  const ran = await counted('pool_run')
  const file = join(folder, 'go')
  const held = [
    ...Array.from({ length: 5 }, () => server.get(`/rest/Item?$hold=${encodeURIComponent(file)}`)),
    ...Array.from({ length: 3 }, () => server.post('/rest/$catalog/hold', [file])),
  ]
  const sum = (values: Record<string, number>) => Object.values(values).reduce((a, b) => a + b, 0)
  await until(async () => sum(await valuesOf('tesser_pool_tasks')) + sum(await valuesOf('tesser_function_calls')) === 8)
  t.same(await valuesOf('tesser_pool_threads'), { '': 1 })
  t.same(
    await valuesOf('tesser_pool_tasks'),
    { running: 2, waiting: 3 },
    'a thread has one task besides the one it works on',
  )
  t.same(await valuesOf('tesser_function_threads'), { '': 1 })
  t.same(await valuesOf('tesser_function_calls'), { running: 1, waiting: 2, suspended: 0 })
  t.equal(await counted('pool_run'), ran, 'none has finished')
  writeFileSync(file, '')
  for (const answer of await Promise.all(held)) t.equal(answer.status, 200, answer.text)
  t.same(await valuesOf('tesser_pool_tasks'), { running: 0, waiting: 0 })
  t.same(await valuesOf('tesser_function_calls'), { running: 0, waiting: 0, suspended: 0 })
  for (const time of ['wait', 'run']) {
    // The start ran a task too.
    t.equal(await counted(`pool_${time}`), ran + 5)
    t.equal(await counted(`function_${time}`), 3)
  }
})

t.test('bytes of uploads, of pieces of blobs, and of entity sets', async t => {
  const { server, valuesOf } = await start(t)
  const bytes = 'x'.repeat(100_000)
  const { ID } = (await server.post('/rest/$upload?$binary=true', bytes)).json
  t.same(await valuesOf('tesser_uploads'), { receiving: 0, kept: 1 })
  // With the overhead of each upload.
  t.same(await valuesOf('tesser_uploads_used_bytes'), { guests: 104_096, users: 0 })
  const saved = await server.post('/rest/Item?$method=update', { __KEY: '1', __STAMP: 1, file: { ID } })
  t.equal(saved.status, 200, saved.text)
  const lookups = async () => {
    const { 'binary hit': hits, 'binary miss': misses } = await valuesOf('tesser_cache_lookups_total')
    return { hits, misses }
  }
  t.same(await lookups(), { hits: 0, misses: 0 })
  for (let i = 0; i < 3; i++) t.equal((await server.get('/rest/Item(1)/file?$binary=true')).text, bytes)
  const { hits, misses } = await lookups()
  t.equal(misses, 1, 'one piece, read once')
  t.ok(hits! >= 2, `${hits} hits`)
  t.same(await valuesOf('tesser_binary_cache_used_bytes'), { '': 100_200 })
  await server.get('/rest/Item?$method=entityset')
  t.same(await valuesOf('tesser_entity_sets_in_memory'), { '': 1 })
  // 24 bytes of members, with the overhead of a set.
  t.same(await valuesOf('tesser_entity_sets_bytes'), { '': 24 + 512 })
  t.same(await valuesOf('tesser_entity_sets_guest_bytes'), { '': 24 + 2048 })
  t.same(await valuesOf('tesser_entity_sets_stored_bytes'), { '': 4096 }, 'a page')
})
