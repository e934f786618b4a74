/**
 * Queries in the pool, over HTTP: cheap ones are answered however busy the pool is, reads see earlier writes, and a client
 * that disconnects cancels its work.
 */
import t, { type Test } from 'tap'
import { Agent, request } from 'undici'
import type { AnswerBody, Engine } from '../../engine/index.ts'
import { insertRows, startServer, type TestServer } from '../support/servers/test-server.ts'

const MODEL = {
  name: 'pool',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: { ID: { type: 'long' }, value: { type: 'long' }, note: { type: 'string' } },
    },
  },
}
const ROWS = 10_000

/** @param pool settings of the pool; it has one thread, which holds two queries */
async function start(t: Test, pool: object = {}, rows = ROWS): Promise<TestServer> {
  const server = await startServer(
    t,
    { model: MODEL, rows: {} },
    { config: { pool: { threads: 1, inlineCostMs: 0.2, ...pool } } },
  )
  const items = Array.from({ length: rows }, (_, i) => ({ ID: i, value: 0, note: `item ${i} with some words` }))
  await insertRows(server.engine.saves, 'Item', items)
  return server
}

/** Body of `$query` for a query of some seconds. */
const SLOW = { $filter: Array.from({ length: 400 }, (_, i) => `note % "w${i}@z"`).join(' or ') }

/** Promises of the engine for the reads that went to the pool, in their order. */
function promisesOf(engine: Engine): Promise<AnswerBody>[] {
  const promises: Promise<AnswerBody>[] = []
  const { backends } = engine.parts
  const { run } = backends
  backends.run = (task, caller) => {
    const answer = run.call(backends, task, caller)
    if (task.kind === 'read' && answer instanceof Promise) promises.push(answer)
    return answer
  }
  return promises
}

/** Sends a query and disconnects as soon as `leave` is called. */
function visitor(t: Test, { url }: TestServer) {
  const agent = new Agent()
  const controller = new AbortController()
  const { signal } = controller
  const body = JSON.stringify(SLOW)
  const left = request(`${url}/rest/Item/$query`, { method: 'POST', body, dispatcher: agent, signal }).then(
    () => false,
    () => true,
  )
  t.teardown(() => agent.destroy())
  return { left, leave: () => controller.abort() }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}

t.test('while the pool is full, cheap reads are answered and others are refused for now', async t => {
  const server = await start(t, { queueLimit: 1 })
  const promises = promisesOf(server.engine)
  const visitors = [visitor(t, server), visitor(t, server), visitor(t, server)]
  await until(() => promises.length === 3)
  const refused = await server.post('/Item/$query', SLOW)
  t.equal(refused.status, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.match(refused.json, { __ERROR: [{ errCode: 1200, message: /queue of queries is full \(1 waiting\)/ }] })
  for (let key = 0; key < 20; key++) t.equal((await server.get(`/Item(${key})`)).json.ID, key)
  for (const { leave } of visitors) leave()
  await Promise.allSettled(promises)
  await Promise.all(visitors.map(({ left }) => left))
})

t.test('a query whose client disconnects ends, whether it runs or waits', async t => {
  const server = await start(t)
  const promises = promisesOf(server.engine)
  const visitors = [visitor(t, server), visitor(t, server), visitor(t, server)]
  await until(() => promises.length === 3)
  for (const { leave } of visitors) leave()
  for (const each of promises) await t.rejects(each, { name: 'QUERY.CANCELLED' })
  for (const { left } of visitors) t.ok(await left)
  const next = await server.get('/Item?$filter="note = item@"&$top=1')
  t.equal(next.json.__COUNT, ROWS, 'the thread continues with other queries')
})

t.test('a client reads its acknowledged write, in the pool too, under load', async t => {
  const server = await start(t, { inlineCostMs: 0, threads: 2 }, 1_000)
  const done = { value: false }
  const scans = Array.from({ length: 4 }, async () => {
    while (!done.value) t.equal((await server.get('/Item?$filter="note = item@"&$top=1')).json.__COUNT, 1_000)
  })
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let value = 1; value <= 15; value++) {
      const saved = await server.post('/Item?$method=update', {
        ID: client,
        __KEY: String(client),
        __STAMP: value,
        value,
      })
      if (saved.status !== 200) throw new Error(saved.text)
      const read = await server.get(`/Item?$filter="ID = ${client} and value = ${value}"`)
      if (read.json.__COUNT !== 1) return `client ${client} does not read its ${value}`
      const total = await server.get(`/Item/value?$filter="ID = ${client}"&$compute=sum`)
      if (total.text !== String(value)) return `client ${client} sums ${total.text} and not ${value}`
    }
    return ''
  })
  t.same(await Promise.all(clients), Array(8).fill(''))
  done.value = true
  await Promise.all(scans)
})

t.test('a stopping server answers the queries in its pool', async t => {
  const server = await start(t, { inlineCostMs: 0 })
  const promises = promisesOf(server.engine)
  const answer = server.get('/Item?$filter="value = 0"&$top=1')
  await until(() => promises.length === 1)
  const closed = server.close()
  t.equal((await answer).json.__COUNT, ROWS)
  await closed
})
