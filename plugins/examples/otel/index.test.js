import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { createTestServer } from 'tesser/testing'

const received = []
const collector = createServer(async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  received.push({ url: request.url, body: JSON.parse(Buffer.concat(pieces).toString()) })
  response.end('{}')
})
let server

before(async () => {
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const endpoint = `http://127.0.0.1:${collector.address().port}`
  server = await createTestServer({
    model: new URL('../../../config/demo/model.json', import.meta.url),
    plugins: [{ plugin: new URL('./index.ts', import.meta.url), options: { endpoint, intervalMs: 20 } }],
  })
})

after(async () => {
  await server.close()
  collector.close()
})

async function spanNamed(name) {
  for (;;) {
    const resources = received.flatMap(({ body }) => body.resourceSpans)
    const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap(scope => scope.spans))
    const span = spans.find(each => each.name === name)
    if (span) return span
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

const attribute = (span, key) => Object.values(span.attributes.find(each => each.key === key).value)[0]

test('a request is a span below that of its client', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await server.get('/rest/City?$top=1', { traceparent })
  const span = await spanNamed('GET read')
  assert.equal(received[0].url, '/v1/traces')
  assert.equal(span.traceId, '4bf92f3577b34da6a3ce929d0e0e4736')
  assert.equal(span.parentSpanId, '00f067aa0ba902b7')
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  assert.equal(span.kind, 2)
  assert.equal(attribute(span, 'http.response.status_code'), '200')
  assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
  assert.ok(Math.abs(Number(BigInt(span.endTimeUnixNano) / 1_000_000n) - Date.now()) < 60_000)
})

test('a client without a trace gets one, and one that is not sampled none', async () => {
  const count = () => received.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans).length
  const before = count()
  await server.get('/rest/Country?$top=1', { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' })
  await server.get('/nothing')
  const span = await spanNamed('GET tesser')
  assert.match(span.traceId, /^[0-9a-f]{32}$/)
  assert.equal(span.parentSpanId, undefined)
  assert.equal(attribute(span, 'http.response.status_code'), '404')
  assert.equal(count(), before + 1)
})
