/**
 * The whole server, asked without waiting for answers: `node-http` answers everything in order, as it does one by one; the builds
 * of uWebSockets.js close the connection at some request, after answers that are the same.
 */
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { company } from '../support/fixtures/company.ts'
import {
  answersIn,
  cutAtRandom,
  type RawAnswer,
  type RawRequest,
  rawRequest,
  sendInTurn,
  sendPipelined,
} from '../support/clients/pipelined.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { seedOf } from '../support/runner/rounds.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { loadableTransports } from '../support/servers/transports.ts'

const CITIES = 1_000
const COUNT = 200
/** All cities are some 1.3 MB: an answer of more than 1 MiB is sent from a file. */
const fixture = {
  ...company,
  rows: {
    ...company.rows,
    City: [
      ...company.rows.City!,
      ...Array.from({ length: CITIES }, (_, i) => ({ name: `C${i}${'x'.repeat(1_200)}`, population: i })),
    ],
  },
}
const GZIP = 'Accept-Encoding: gzip\r\n'
const json = (value: unknown) => ({ body: JSON.stringify(value) })

const requestOf = (random: Random, i: number): RawRequest => {
  const id = random.integer(1, 4)
  const page = `/rest/City?$filter="population>=${random.integer(0, 900)}"&$top=${random.pick([5, 50])}`
  return random.pick([
    rawRequest('GET', `/rest/Employee(${id})`),
    rawRequest('HEAD', `/rest/Employee(${id})`),
    rawRequest('GET', '/rest/Employee(99)'),
    rawRequest('GET', page.replaceAll('"', '%22').replaceAll('>', '%3E')),
    rawRequest('GET', '/rest/City?$orderby=population&$top=100', { headers: GZIP }),
    rawRequest('GET', '/rest/City?$top=2000'),
    rawRequest('GET', '/rest/$catalog/$all'),
    rawRequest('GET', '/rest/Nothing'),
    rawRequest('GET', '/nothing'),
    rawRequest('GET', '/rest/Employee?$filter=%22nonsense%20=%201%22'),
    rawRequest('OPTIONS', '/rest/Employee'),
    rawRequest('POST', '/rest/Employee/add', json([i, 1])),
    rawRequest('POST', '/rest/Employee/total', { ...json([]), chunked: true }),
    rawRequest('POST', '/rest/City?$method=update', json({ name: `N${i}`, population: i })),
    rawRequest('POST', '/rest/City?$method=update', { body: '{"name":', chunked: true }),
    rawRequest('GET', `/rest/City(N${random.integer(0, i)})`),
    rawRequest('POST', `/rest/City(N${random.integer(0, i)})?$method=delete`),
    rawRequest('GET', '/rest/City/$count'),
  ])
}

/** Timestamps differ, and with them the length of what is compressed. */
const comparable = ({ status, head, body }: RawAnswer) => ({
  status,
  head: head.replace(/\r\n(Date|Connection|Keep-Alive|Set-Cookie|Content-Length): [^\r]*/gi, ''),
  body: String(/\r\nContent-Encoding: gzip/i.test(head) ? gunzipSync(body) : body).replace(TIMESTAMP, ''),
})
const TIMESTAMP = /"__TIMESTAMP":"[^"]*"/g

const start = (t: Test, transport: TransportName) =>
  startServer(t, fixture, { transport, setting: 'pool', isDirect: true, config: { plugins: [staffPlugin] } })

for (const transport of loadableTransports) {
  t.test(`requests of all kinds on ${transport}`, async t => {
    const random = randomOf(seedOf())
    const requests = [
      ...Array.from({ length: COUNT - 1 }, (_, i) => requestOf(random, i)),
      rawRequest('GET', '/rest/City/$count', { headers: 'Connection: close\r\n' }),
    ]
    const expected = (await sendInTurn((await start(t, transport)).port, requests)).map(comparable)
    t.strictSame(
      [200, 404, 400].filter(status => !expected.some(answer => answer.status === status)),
      [],
      'there are answers of each kind',
    )
    t.ok(
      expected.some(({ body }) => body.length > 2 ** 20),
      'some are sent from files',
    )
    const isQueued = transport === 'node-http'
    const ways = isQueued ? [[0, 0] as const, [60, 1] as const] : [[60, 0] as const]
    for (const [cuts, pauseMs] of ways) {
      const server = await start(t, transport)
      const received = await sendPipelined(server.port, cutAtRandom(requests, random, cuts), pauseMs)
      const { answers, restBytes } = answersIn(received, requests)
      const whole = isQueued ? COUNT : answers.length
      t.equal(answers.length, whole, `${whole} answers, ${cuts} cuts`)
      for (const [i, answer] of answers.entries()) {
        t.strictSame(comparable(answer), expected[i], requests[i]!.bytes.toString().split('\r\n')[0]!)
      }
      if (isQueued) t.equal(restBytes, 0)
      t.equal((await server.get('/Employee(1)')).status, 200, 'the next request is served')
    }
  })
}
