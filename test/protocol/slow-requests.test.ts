/** Lines about slow requests, `Server-Timing`, and traces. */
import t, { type Test } from 'tap'
import { SlowLog } from '../../kernel/metrics/slow-log.ts'
import type { FinishedRequest } from '../../kernel/transport/transport.ts'
import { logSink } from '../support/base/log-sink.ts'
import { abusePlugin, staffPlugin } from '../support/plugins/test-plugins.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { transports } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
/** Less than the option allows, so that each request is a slow one. */
const NO_TIME = Number.MIN_VALUE
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

async function start(t: Test, { log, ...config }: Record<string, Record<string, unknown>>) {
  const { lines, logger } = logSink()
  const { ask: askConfigured } = await startConfigured(t, {
    logger: () => logger,
    config: { plugins: [staffPlugin, abusePlugin], ...config },
    change: loaded => ({ ...loaded, log: { ...loaded.log, ...log } }),
  })
  const ask = (path: string, headers: Record<string, string> = {}, body?: string) =>
    askConfigured(path, { headers, ...(body !== undefined && { body }) })
  return { ask, lines }
}

for (const transport of transports) {
  t.test(`a slow request is logged with its plan and without values on ${transport}`, async t => {
    const { ask, lines } = await start(t, {
      server: { transport },
      log: { slowQueryMs: NO_TIME },
      pool: { inlineCostMs: 0 },
    })
    const slow = async (part: string) => {
      const found = () => lines.find(({ msg, address }) => msg === 'slow request' && String(address).includes(part))
      await until(() => found() !== undefined)
      return found()
    }
    const filter = encodeURIComponent(`"name = secret and (name = 'also words' or name = :1)"`)
    const params = encodeURIComponent('["hidden"]')
    await ask(`/rest/City?$filter=${filter}&$params=${params}&$orderby=%22name%20desc%22&$top=7`, {
      traceparent: TRACEPARENT,
    })
    const line = await slow('City?')
    t.match(line, {
      level: 40,
      client: /^(127\.0\.0\.1|::1)$/,
      method: 'GET',
      address: '/rest/City?$filter&$params&$orderby&$top',
      plugin: 'read',
      dataClass: 'City',
      orderBy: 'name desc',
      ranIn: 'pool',
      trace: TRACE,
      ms: Number,
      waitedMs: Number,
      ranMs: Number,
      rowsExamined: Number,
      rowsSent: Number,
      answerBytes: Number,
    })
    await ask(`/rest/City?$filter=${encodeURIComponent('"name = secret and name != hidden"')}&$top=3`)
    await ask('/rest/Company(1)/contract?hidden=secret', {}, 'secret')
    await ask('/rest/City/$query', {}, JSON.stringify({ $filter: 'name = "hidden words"' }))
    const planned = await slow('City?$filter&$top')
    t.match(planned, { filter: 'name = ? and name != ?', plan: /^[A-Z]\w+/ })
    t.match(await slow('$query'), { address: '/rest/City/$query', filter: 'name = ?' })
    const agent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const wanted = { name: 'query', arguments: { class: 'City', filter: "name = 'hidden' or name = 'secret'" } }
    await ask('/mcp', agent, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: wanted }))
    const ofAgent = { address: '/mcp', plugin: 'mcp', dataClass: 'City', filter: 'name = ? or name = ?', ranIn: 'pool' }
    t.match(await slow('/mcp'), ofAgent)
    t.notMatch(JSON.stringify(lines), /secret|hidden|also/)
  })

  t.test(`Server-Timing on ${transport}`, async t => {
    const { ask } = await start(t, { server: { transport, serverTiming: true }, pool: { inlineCostMs: 0 } })
    const dur = String.raw`;dur=\d+\.\d`
    const { headers } = await ask('/rest/City?$filter="name=a@"')
    t.match(headers['server-timing'], new RegExp(`^total${dur}, pool-wait${dur}, pool${dur}$`))
    t.match((await ask('/health')).headers['server-timing'], new RegExp(`^total${dur}$`))
    const saved = await ask('/rest/City?$method=update', {}, '{"name":"timed"}')
    t.match(
      saved.headers['server-timing'],
      new RegExp(`^total${dur}, pool-wait${dur}, pool${dur}, writer-wait${dur}, writer${dur}`),
    )
  })

  t.test(`traces are in log lines on ${transport}`, async t => {
    const { ask, lines } = await start(t, { server: { transport, accessLog: true } })
    await ask('/rest/$catalog/throws', { traceparent: TRACEPARENT }, '[]')
    await ask('/rest/Company(1)', { traceparent: TRACEPARENT })
    const traced = lines.filter(({ trace }) => trace === TRACE)
    t.match(traced.map(({ msg }) => msg).sort(), ['request', 'request', /failed/])
    const inCode = async (traceparent: string) =>
      JSON.parse((await ask('/rest/$catalog/traceparent', { traceparent }, '[]')).text) as unknown
    t.same(await inCode(TRACEPARENT), { result: TRACEPARENT }, 'and in code of classes')
    t.same(await inCode(TRACE), { result: '' })
    for (const wrong of [
      TRACE,
      `ff${TRACEPARENT.slice(2)}`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      TRACEPARENT.toUpperCase(),
      `${TRACEPARENT}x`,
      `${TRACEPARENT}-${'a'.repeat(100)}`,
    ]) {
      const before = lines.length
      await ask('/rest/Company(1)', { traceparent: wrong })
      t.notOk(
        lines.slice(before).some(({ trace }) => trace),
        wrong,
      )
    }
  })
}

t.test('a slow request is logged with its whole address where that is configured, and without its body', async t => {
  const { ask, lines } = await start(t, { log: { slowQueryMs: NO_TIME, slowQueryValues: true } })
  await ask('/rest/City?$filter="name=wanted"&$top=3')
  await ask('/rest/City/$query', {}, JSON.stringify({ $filter: 'name = hidden' }))
  await until(() => lines.filter(({ msg }) => msg === 'slow request').length === 2)
  const addresses = lines.flatMap(({ address }) => address ?? [])
  t.same(addresses, ['/rest/City?$filter=%22name=wanted%22&$top=3', '/rest/City/$query'])
  t.notMatch(JSON.stringify(lines), /hidden/)
})

const COMPLETE: [path: string, query: string, address: string][] = [
  ['/rest/City', '$top=3', '/rest/City?$top=3'],
  ['//rest/City', '$top=3', '//rest/City?$top=3'],
  ['/auth/sso/callback', 'code=secret&state=secret', '/auth/sso/callback?…'],
  ['/restaurant', 'code=secret', '/restaurant?…'],
  ['/health', '', '/health'],
]
t.test('queries of addresses outside of the protocol are never logged', async t => {
  const { lines, logger } = logSink()
  const log = new SlowLog(logger, { outline: () => ({}) }, true, () => 0)
  for (const [path, query] of COMPLETE) {
    log.add({ method: 'GET', path, query, client: { address: '' }, work: [] } as unknown as FinishedRequest, 1_000)
  }
  t.strictSame(
    lines.map(({ address }) => address),
    COMPLETE.map(([, , address]) => address),
  )
})

t.test('ten lines a second, then the number of further ones', async t => {
  const { lines, logger } = logSink()
  let now = 0
  const log = new SlowLog(logger, { outline: () => ({}) }, false, () => now)
  const slow = {
    method: 'GET',
    path: '/rest/A',
    query: '',
    client: { address: '' },
    work: [],
  } as unknown as FinishedRequest
  for (let i = 0; i < 50; i++) log.add(slow, 1_000)
  t.equal(lines.length, 10)
  now = 1_000
  log.add(slow, 1_000)
  t.match(lines.at(-1), { leftOut: 40 })
  now = 2_000
  log.add(slow, 1_000)
  t.notOk(lines.at(-1)!.leftOut)
})
