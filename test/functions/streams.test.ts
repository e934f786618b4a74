import { createParser } from 'eventsource-parser'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/services/gate.ts'
import { streamingPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

async function start(t: Test, functions: object = {}) {
  const gate = await openGate(t)
  const config = { plugins: [streamingPlugin], functions: { threads: 1, breakerLimit: 1_000, ...functions } }
  const server = await startServer(t, company, { config })
  const call = (path: string, args: unknown[] = [], init: RequestInit = {}) =>
    fetch(`${server.url}/rest/${path}`, {
      ...{ method: 'POST', body: JSON.stringify(args), ...init },
      headers: { 'Content-Type': 'application/json', ...init.headers },
    })
  return { gate, server, call }
}

const EVENTS = { headers: { Accept: 'text/event-stream' } }
/** Values of the lines, each of which has to have an end. */
const lines = (text: string): unknown[] =>
  [...text.matchAll(/(.*)(\n|$)/g)]
    .slice(0, -1)
    .map(([, line, end]) => (end === '\n' ? (JSON.parse(line!) as unknown) : 'no end'))
function events(text: string): { event: string | undefined; data: unknown }[] {
  const found: { event: string | undefined; data: unknown }[] = []
  const parser = createParser({ onEvent: ({ event, data }) => found.push({ event, data: JSON.parse(data) }) })
  parser.feed(text)
  return found
}

t.test('a generator of every class is sent as lines, or as events', async t => {
  const { server, call, gate } = await start(t)
  gate.open('open', true)
  const paris = (await server.get('/City(Paris)')).json
  const above10 = (await server.get('/City?$filter="population > 10"&$orderby="name"')).json
  const names = ["L'Aquila", 'New York (NY)', 'Paris', '東京']
  const cases: readonly [path: string, args: unknown[], expected: unknown[]][] = [
    ['$catalog/counts', [3], [0, 1, 2]],
    ['$catalog/counts', [0], []],
    ['$catalog/countsAtOnce', [3], [0, 1, 2]],
    [
      '$catalog/kinds',
      [],
      [
        ...[[1, 'a\nb', null, true], null],
        { at: '1970-01-01T00:00:00.000Z', big: String(2n ** 60n), city: 'Paris' },
        ...[paris, above10],
      ],
    ],
    ['$catalog/waits', [gate.url], [4, 'open', 4]],
    ['$catalog/callsOthers', [], [0, 1, 0, 1, [0, 1, 2]]],
    ['$catalog/returnsGenerator', [], [0, 1]],
    ['$singleton/Counter/numbers', [], [1, 2]],
    ['City/names', [], names],
    ['City/each?$filter="name = Paris"', [], [paris]],
    ['City(Paris)/letters', [], [...'Paris']],
    ['$catalog/saves', [], [5, 6]],
  ]
  for (const [path, args, expected] of cases) {
    const answer = await call(path, args)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=UTF-8')
    t.equal(answer.headers.get('x-accel-buffering'), 'no')
    t.same(lines(await answer.text()), expected, `${path} ${JSON.stringify(args)}`)
    if (/Counter|saves|returnsGenerator/.test(path)) continue
    const asEvents = await call(path, args, EVENTS)
    t.equal(asEvents.headers.get('content-type'), 'text/event-stream; charset=UTF-8')
    const values = expected.map(data => ({ event: undefined, data }))
    t.same(events(await asEvents.text()), [...values, { event: 'end', data: null }], `${path} as events`)
  }
  t.same(
    lines(await (await call('$catalog/counts', [50_000])).text()),
    Array.from({ length: 50_000 }, (_, i) => i),
  )
})

t.test('GET, HEAD and the forms that a client prefers', async t => {
  const { server, call } = await start(t)
  const get = (path: string, headers = {}) => call(path, [], { method: 'GET', body: null, headers })
  const type = async (accept: string) =>
    (await get('$catalog/counts?$params="[1]"', { Accept: accept })).headers.get('content-type')!.split(';')[0]
  t.equal(await type('*/*'), 'application/x-ndjson')
  t.equal(await type('application/json'), 'application/x-ndjson')
  t.equal(await type('text/event-stream, */*;q=0.1'), 'text/event-stream')
  t.equal(await type('text/event-stream;q=0.5, application/x-ndjson'), 'application/x-ndjson')
  t.equal(await type('application/x-ndjson'), 'application/x-ndjson')
  t.same(lines(await (await get('$catalog/counts?$params="[2]"')).text()), [0, 1])
  for (const accept of ['*/*', 'application/x-ndjson', 'text/event-stream']) {
    const each = await get('City/each?$filter="name = Paris"', { Accept: accept })
    t.match(await each.text(), /"name":"Paris"/, accept)
  }
  const head = await call('$catalog/counts?$params="[1000000]"', [], { method: 'HEAD', body: null })
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
  // One that is kept as a set stays a stream, and the thread is free.
  const kept = await call('City/each?$method=entityset&$filter="name = Paris"')
  t.equal(lines(await kept.text()).length, 1)
  t.equal((await server.post('/$catalog/made')).status, 200)
})

t.test('values are sent before the next one is made', async t => {
  const { gate, call } = await start(t)
  for (const init of [{}, EVENTS]) {
    const { body } = await call('$catalog/waits', [gate.url], init)
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    t.match((await reader.read()).value, /^(data: )?4\n/)
    await gate.arrived()
    gate.open('second')
    t.match((await reader.read()).value, /"second"/)
    while (!(await reader.read()).done);
  }
})

t.test('an error before the first value is an ordinary answer, a later one the last line or event', async t => {
  const { gate, call } = await start(t)
  const first: readonly [path: string, status: number, message: RegExp][] = [
    ['throwsFirst', 418, /^short and stout$/],
    ['throwsLater', 500, /ds\.throwsLater failed with Error/],
    ['loops', 503, /exceeded its deadline of 0\.2 s/],
  ]
  for (const [name, status, message] of first) {
    for (const init of [{}, EVENTS]) {
      const answer = await call(`$catalog/${name}`, [], init)
      t.equal(answer.status, status)
      t.equal(answer.headers.get('content-type'), 'application/json; charset=UTF-8')
      t.match(((await answer.json()) as { __ERROR: [object] }).__ERROR[0], { message })
    }
  }
  const after: readonly [path: string, values: unknown[], message: RegExp][] = [
    ['throwsAfter', [1, 2], /^short and stout$/],
    ['throwsAtOnce', [1], /ds\.throwsAtOnce failed with Error/],
    ['mixes', [1], /neither a message nor a generator/],
    ['forgets', [1], /ds\.forgets returned while something that it had started/],
    ['stalls', [1], /ds\.stalls was stopped: it exceeded its deadline of 1 s/],
    ['exits', [1], /ds\.exits was stopped: its code ended the thread/],
  ]
  for (const [name, values, message] of after) {
    const answer = await call(`$catalog/${name}`, [gate.url])
    t.equal(answer.status, 200)
    const text = await answer.text()
    t.notMatch(text, /inner secret|\.ts/)
    t.match(lines(text), [...values, { __ERROR: [{ message }] }], name)
    const found = events(await (await call(`$catalog/${name}`, [gate.url], EVENTS)).text())
    t.match(found.at(-1), { event: 'error', data: { __ERROR: [{ message }] } }, name)
    t.equal(found.length, values.length + 1)
  }
  gate.open('x', true)
})

t.test('a stream in a thread that another call ends shows that it is not complete', async t => {
  const { gate, call } = await start(t)
  const { body } = await call('$catalog/waits', [gate.url])
  await gate.arrived()
  t.match(await (await call('$catalog/exits')).text(), /process\.exit/)
  t.match(lines(await new Response(body).text()).at(-1), {
    __ERROR: [{ message: /ds\.waits was stopped while it waited/ }],
  })
  t.same(lines(await (await call('$catalog/counts', [1])).text()), [0])
})

t.test('a slow client suspends the generator, and one that goes ends it', async t => {
  for (const name of ['floods', 'floodsAtOnce']) {
    await t.test(name, async t => {
      const { gate, server, call } = await start(t)
      const stop = new AbortController()
      const { body } = await call(`$catalog/${name}`, [gate.url], { signal: stop.signal })
      const reader = body!.getReader()
      await reader.read()
      let made = 0
      for (let i = 0; i < 100; i++) made = (await server.post('/$catalog/made')).json.result as number
      // The buffers of two sockets, and what the server has sent ahead.
      t.ok(made * 64 < 24 * 1024, `${made} blocks of 64 KiB were made`)
      stop.abort()
      await reader.read().catch(() => {})
      t.equal(await gate.query('ended'), 'ended=true,4')
      gate.open('x', true)
    })
  }
  await t.test('while it waits', async t => {
    const { gate, call } = await start(t)
    const stop = new AbortController()
    const { body } = await call('$catalog/listens', [gate.url], { signal: stop.signal })
    await body!.getReader().read()
    await gate.arrived()
    stop.abort()
    t.equal(await gate.query('ended'), 'ended=AbortError')
    gate.open('x', true)
  })
})

t.test('a stream counts as a waiting call until its end', async t => {
  const { gate, call } = await start(t, { asyncLimit: 2 })
  const open = await Promise.all([1, 2].map(() => call('$catalog/waits', [gate.url])))
  await gate.arrived(2)
  const refused = await call('$catalog/counts', [1])
  t.equal(refused.status, 503)
  t.match(await refused.text(), /2 calls of asynchronous functions are waiting already/)
  gate.open('x', true)
  for (const { body } of open) await new Response(body).text()
  t.equal((await call('$catalog/counts', [1])).status, 200)
})

t.test('changes of the session are kept', async t => {
  const { server, call } = await start(t)
  const cookie = String((await server.post('/$catalog/stores')).headers['set-cookie'] ?? '').split(';')[0]!
  const headers = { Cookie: cookie }
  const seen = []
  for (let i = 0; i < 2; i++) seen.push(...lines(await (await call('$catalog/stores', [], { headers })).text()))
  t.same(seen.length, 2)
})

t.test('a message whose body is a stream', async t => {
  const { call } = await start(t)
  const cases: readonly [kind: string, expected: string][] = [
    ['generator', 'id;name\n1;Ada\n'],
    ['synchronous', ''],
    ['readable', 'id;name\n1;Ada\n'],
    ['web', 'id;name\n1;Ada\n'],
  ]
  for (const [kind, expected] of cases) {
    const answer = await call('$catalog/message', [kind])
    t.equal(answer.status, 201, kind)
    t.equal(answer.headers.get('content-type'), 'text/csv')
    t.equal(await answer.text(), expected, kind)
  }
  const failed = await call('$catalog/message', ['failsFirst'])
  t.equal(failed.status, 418)
  const numbers = await call('$catalog/message', ['numbers'])
  t.equal(numbers.status, 500)
  t.match(await numbers.text(), /something else than texts and bytes/)
  const cut = await call('$catalog/message', ['fails'])
  t.equal(cut.status, 200)
  await t.rejects(cut.text(), 'the connection is cut off')
})
