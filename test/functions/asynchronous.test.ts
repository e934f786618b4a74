import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { type Gate, openGate } from '../support/services/gate.ts'
import { isLong } from '../support/runner/rounds.ts'
import { waitingPlugin } from '../support/plugins/test-plugins.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

/** Repetitions of each abuse. */
const TIMES = isLong ? 20 : 1

async function start(t: Test, functions: object = {}) {
  const gate = await openGate(t)
  const config = { plugins: [waitingPlugin], functions: { threads: 1, breakerLimit: 1_000, ...functions } }
  return { gate, server: await startServer(t, company, { config }) }
}

/** A server whose log the test reads. */
async function startLogged(t: Test) {
  const gate = await openGate(t)
  const lines: string[] = []
  const { server, ask } = await startConfigured(t, {
    fixture: { rows: {} },
    onLine: line => void lines.push(line),
    config: { plugins: [waitingPlugin], log: { level: 'info' }, functions: { threads: 1, logLines: 10 } },
  })
  const post = (name: string, args: unknown[]) => ask(`/rest/$catalog/${name}`, { body: JSON.stringify(args) })
  return { gate, lines, post, server }
}

interface Case {
  readonly call: string
  readonly args?: (gate: Gate) => unknown[]
  /** Done while the call waits for the gate. */
  readonly meanwhile?: (server: TestServer) => Promise<unknown>
  readonly answer?: string
  readonly expected: unknown
}

const LATE = /(ran for more than|exceeded its deadline of) 0\.3 s/
const GATE = ({ url }: Gate) => [url]
const save = (values: object) => (server: TestServer) => server.post('/City?$method=update', values)

const results: readonly Case[] = [
  { call: '$catalog/asks', args: GATE, answer: 'hello', expected: 'hello' },
  { call: '$catalog/returnsPromise', args: GATE, answer: 'hello', expected: 'HELLO' },
  { call: '$catalog/withoutAwait', expected: 'at once' },
  { call: '$catalog/countsTwice', args: GATE, meanwhile: save({ name: 'Rome', population: 5 }), expected: [4, 5] },
  { call: '$catalog/savesAfter', args: ({ url }) => [url, 'Oslo'], answer: '7', expected: [true, 7] },
  { call: '$catalog/iterates', expected: ["L'Aquila", 'New York (NY)', 'Paris', '東京'] },
  { call: '$catalog/transacts', args: GATE, expected: [2, false, 2] },
  { call: '$catalog/transactsLater', expected: [/^a transaction cannot wait/, 0, 8] },
  { call: '$catalog/callsOthers', expected: ['at once', 'b', 'c'] },
  { call: '$catalog/locals', expected: ['mine', true] },
  { call: '$catalog/reads', expected: true },
  { call: '$catalog/signal', args: GATE, expected: ['open', false] },
  { call: '$catalog/handles', args: GATE, expected: 'first' },
  { call: 'Counter/enters', args: GATE, expected: 1 },
  { call: 'City(Paris)/ask', args: GATE, expected: 'Paris: 2100000' },
  {
    call: 'City/total?$filter="name%20=%20Paris"',
    args: GATE,
    meanwhile: save({ name: 'Paris2', population: 5 }),
    expected: [1, 2_100_000],
  },
]

t.test('an asynchronous function of every class has its result', async t => {
  const { gate, server } = await start(t)
  for (const { call, args, meanwhile, answer, expected } of results) {
    await t.test(call, async t => {
      const calling = server.post(`/${call.startsWith('Counter') ? `$singleton/${call}` : call}`, args?.(gate) ?? [])
      if (meanwhile) {
        await gate.arrived()
        await meanwhile(server)
      }
      let isOver = false
      void calling.then(() => (isOver = true))
      while (!isOver) {
        gate.open(answer)
        await new Promise(resolve => setImmediate(resolve))
      }
      const { status, json, text } = await calling
      t.equal(status, 200, text)
      t.match(json.result, expected)
    })
  }
})

t.test('entities, selections and messages that cross an await', async t => {
  const { gate, server } = await start(t)
  const during = async (call: string, args: unknown[], meanwhile: () => Promise<unknown>) => {
    const calling = server.post(call, args)
    await gate.arrived()
    await meanwhile()
    gate.open()
    return calling
  }
  const change = (values: object) => server.post('/City?$method=update', values)
  const stamp = async () => (await server.get('/City(Paris)')).json.__STAMP as number
  const stale = await during('/$catalog/savesStale', [gate.url, 'Paris'], async () =>
    change({ __KEY: 'Paris', __STAMP: await stamp(), population: 3 }),
  )
  t.match(stale.json.result, { success: false, status: 2 })
  t.equal((await server.get('/City(Paris)')).json.population, 3)

  await change({ name: 'Atlantis', population: 11 })
  const gone = await during('/$catalog/returnsGone', [gate.url, 'Atlantis'], () =>
    server.post('/City(Atlantis)?$method=delete'),
  )
  t.equal(gone.status, 404, gone.text)

  await change({ name: 'Atlantis', population: 11 })
  const selections = await during('/$catalog/selections', [gate.url], () =>
    server.post('/City(Atlantis)?$method=delete'),
  )
  t.same(selections.json.result, [4, 3, 3, 3, 3], selections.text)

  await change({ name: 'Atlantis', population: 11 })
  const page = await during('/$catalog/returnsSelection', [gate.url], () =>
    server.post('/City(Atlantis)?$method=delete'),
  )
  t.same(
    page.json.__ENTITIES.map(({ name }: { name: string }) => name),
    ["L'Aquila", 'New York (NY)', '東京'],
    page.text,
  )

  const biggest = await during('/City/biggest', [gate.url], async () =>
    change({ name: 'Megacity', population: 10 ** 9 }),
  )
  t.equal(biggest.json.name, 'Megacity')
  const message = await server.post('/$catalog/message')
  t.same([message.status, message.text], [201, 'made later'])
})

t.test('many calls wait in one thread, and others go on meanwhile', async t => {
  const { gate, server } = await start(t, { queueLimit: 1, asyncLimit: 300 })
  const waiting = Array.from({ length: 300 }, () => server.post('/$catalog/asks', [gate.url]))
  await gate.arrived(300)
  t.equal((await server.post('/City?$method=update', { name: 'Rome' })).status, 200)
  t.equal((await server.get('/City')).status, 200)
  const refused = await server.post('/$catalog/asks', [gate.url])
  t.equal(refused.status, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.match(refused.json.__ERROR[0].message, /^300 calls of asynchronous functions are waiting already/)
  gate.open('x')
  t.ok((await Promise.all(waiting)).every(({ json }) => json.result === 'x'))
})

t.test('calls of a singleton interleave at their awaits', async t => {
  const { gate, server } = await start(t)
  const calls = [1, 2, 3].map(() => server.post('/$singleton/Counter/enters', [gate.url]))
  await gate.arrived(3)
  gate.open()
  t.same(
    (await Promise.all(calls)).map(({ json }) => json.result),
    [3, 3, 3],
  )
})

t.test('errors of asynchronous functions', async t => {
  const { gate, server } = await start(t)
  gate.open('x', true)
  const cases: readonly [call: string, status: number, message: RegExp][] = [
    ['throws', 500, /ds\.throws failed with Error/],
    ['throwsProtocol', 418, /^short and stout$/],
    ['throwsNothing', 500, /ds\.throwsNothing failed/],
    ['refused', 500, /ds\.refused failed with UsageError/],
    ['waitsForever', 503, /ds\.waitsForever was stopped: it exceeded its deadline of 0\.2 s/],
    ['promiseInside', 500, /"total" is a promise; await it/],
    ['rejectsBeside', 500, /ds\.rejectsBeside failed with Error/],
  ]
  for (const [call, status, message] of cases) {
    const answer = await server.post(`/$catalog/${call}`, [gate.url])
    t.equal(answer.status, status, answer.text)
    t.match(answer.json.__ERROR[0].message, message, call)
    t.notMatch(answer.text, /inner secret|\.ts|node:/)
  }
  t.equal((await server.post('/$catalog/withoutAwait')).status, 200)
})

t.test('a forgotten promise is found, named in the log, and answered as an error', async t => {
  const { gate, post, lines } = await startLogged(t)
  const cases: readonly [call: string, named: RegExp][] = [
    ['forgets', /at ask \(.*classes\.ts.*\\n.*at .*forgets \(.*classes\.ts/],
    ['forgetsFetch', /classes\.ts/],
    ['forgetsInSync', /at ask \(.*forgetsInSync/],
    ['forgetsAll', /Promise\.all|Function\.all/],
  ]
  for (const [call, named] of cases) {
    lines.length = 0
    const answer = await post(call, [gate.url])
    t.equal(answer.status, 500)
    t.match(answer.text, new RegExp(`ds\\.${call} returned while something that it had started`))
    t.notMatch(answer.text, /classes\.ts/)
    t.match(lines.join(''), named)
  }
})

t.test('the signal of a request fires when its client goes, and at the deadline', async t => {
  const { gate, server } = await start(t)
  const stop = new AbortController()
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify([gate.url])
  const gone = fetch(`${server.url}/rest/$catalog/tellsAbort`, { method: 'POST', headers, body, signal: stop.signal })
  await gate.arrived()
  stop.abort()
  await t.rejects(gone)
  t.equal(await gate.query('ended'), 'ended=AbortError')
  gate.open()

  const late = await server.post('/$catalog/tellsDeadline', [gate.url])
  t.equal(late.status, 503)
  await gate.query('ended=TimeoutError')
  gate.open()
})

t.test('a function that ends because its client has gone is not an error', async t => {
  const { gate, lines, post, server } = await startLogged(t)
  const cases = { fetch: false, timer: false, listener: false, failure: true }
  for (const [how, isError] of Object.entries(cases)) {
    lines.length = 0
    const stop = new AbortController()
    const body = JSON.stringify([gate.url, how])
    const init = { method: 'POST', body, signal: stop.signal }
    const gone = fetch(`${server.url}/rest/$catalog/endsWithClient`, init)
    await gate.arrived()
    stop.abort()
    await t.rejects(gone)
    while (!lines.some(line => line.includes(`ended ${how}`))) await new Promise(resolve => setTimeout(resolve, 5))
    gate.open()
    // Answered after the outcome of the function, by the same thread.
    t.equal((await post('withoutAwait', [])).status, 200)
    const errors = lines.filter(line => line.includes('"level":"error"'))
    t.equal(errors.length, isError ? 1 : 0, `${how}: ${errors.join('')}`)
  }
})

t.test('code that goes on after its answer reaches no data', async t => {
  const { gate, server } = await start(t)
  const late = await server.post('/$catalog/savesTooLate', [gate.url])
  t.equal(late.status, 503)
  gate.open('x', true)
  t.match(await gate.query('outcome'), /data can be reached only while a call runs/)
  t.equal((await server.get('/City(too%20late)')).status, 404)
  await server.post('/$catalog/keeps')
  t.equal((await server.post('/$catalog/usesKept')).json.result, 4)
})

t.test('an asynchronous afterSave is part of the answer, and its faults are not', async t => {
  const { gate, server } = await start(t, { asyncDeadlineSeconds: 2 })
  const saving = server.post('/City?$method=update', { name: gate.url, population: 2 })
  t.equal(await gate.query('saved'), 'saved=true')
  gate.open()
  t.equal((await saving).status, 200)
  const failing = await server.post('/City?$method=update', { name: 'http://x', population: 1 })
  t.equal(failing.status, 200, failing.text)
  // Saved, whatever the event waits for.
  const late = await server.post('/City?$method=update', { name: `${gate.url}2`, population: 2 })
  t.equal(late.status, 200, late.text)
})

t.test('whatever an asynchronous function does, only its own call fails', async t => {
  const { gate, server } = await start(t, { threads: 2, memoryBytes: '32 MiB', deadlineSeconds: 120 })
  const abuses: readonly [call: string, status: number | RegExp, message?: RegExp][] = [
    ['rejectsAfter', 200],
    ['loopsAfter', 503, LATE],
    ['spins', 503, LATE],
    ['burns', 503, LATE],
    ['exitsAfter', 500, /process\.exit/],
    ['throwsInTimer', 500, /TypeError|Error/],
    ['throwsAfter', 200],
    ['eatsMemory', /500|503/, /more memory/],
  ]
  for (const [call, status, message] of abuses) {
    for (let i = 0; i < TIMES; i++) {
      const calling = server.post(`/$catalog/${call}`, [gate.url])
      const read = await server.get('/Employee?$orderby="lastName"&$top=2')
      t.equal(read.json.__ENTITIES?.length, 2)
      const answer = await calling
      t.match(answer.status, status, `${call}: ${answer.text}`)
      t.notMatch(answer.text, /inner secret|\.ts|node:/)
      if (message) t.match(answer.json.__ERROR[0].message, message)
      const next = await server.post('/$catalog/withoutAwait')
      t.equal(next.json.result, 'at once', `${call}, then ${next.text}`)
    }
  }
})

t.test(
  'an exception in a timer of a call, before its answer and after it, leaves the calls beside it alone',
  async t => {
    const { gate, post, lines } = await startLogged(t)
    const waiting = post('asks', [gate.url])
    await gate.arrived()
    t.equal((await post('throwsInTimer', [])).status, 500)
    t.equal((await post('throwsAfter', [gate.url])).status, 200)
    await gate.query('thrown')
    gate.open('still here')
    t.match((await waiting).text, /still here/)
    const logged = lines.filter(line => line.includes('after the answer'))
    t.match(JSON.parse(logged[0]!), { plugin: 'waiting', function: 'throwsAfter', err: { stack: /classes\.ts/ } })
    t.equal(logged.length, 1)
  },
)

t.test('calls that wait in a thread that another call ends are told so', async t => {
  const { gate, server } = await start(t)
  const waiting = server.post('/$catalog/asks', [gate.url])
  await gate.arrived()
  t.equal((await server.post('/$catalog/exitsAfter')).status, 500)
  const { status, json, headers } = await waiting
  t.equal(status, 503)
  t.equal(headers['retry-after'], '1')
  t.match(json.__ERROR[0].message, /ds\.asks was stopped while it waited, because its thread ended/)
  t.equal((await server.post('/$catalog/withoutAwait')).status, 200)
})

t.test('a function that ends its thread after an await is refused for a while', async t => {
  const { server } = await start(t, { breakerLimit: 2 })
  const status = async (name: string) => (await server.post(`/$catalog/${name}`)).status
  t.same([await status('exitsAfter'), await status('exitsAfter'), await status('exitsAfter')], [500, 500, 503])
  t.equal(await status('withoutAwait'), 200)
})

t.test('changes of the session after an await are kept', async t => {
  const { gate, server } = await start(t)
  gate.open('x', true)
  const first = await server.post('/$catalog/storage', [gate.url])
  const cookie = String(first.headers['set-cookie']).split(';')[0]!
  const again = await server.post('/$catalog/storage', [gate.url], { Cookie: cookie })
  t.same(
    [first.json.result, again.json.result],
    [
      ['', 1],
      ['', 2],
    ],
  )
})

t.test('console output after an await is in the log, with the name of the function', async t => {
  const { gate, post, lines } = await startLogged(t)
  gate.open('x', true)
  await post('logs', [gate.url])
  const of = lines.map(line => JSON.parse(line) as Record<string, unknown>).filter(({ plugin }) => plugin === 'waiting')
  t.match(of[0], { msg: 'before', function: 'logs' })
  t.match(of[1], { msg: 'after', function: 'logs' })
  t.match(of.at(-1), { msg: '192 further lines were left out' })
})
