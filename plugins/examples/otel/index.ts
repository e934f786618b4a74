import { randomBytes } from 'node:crypto'
import { definePlugin, type TransportRequest, Type } from 'tesser'
import { type Attribute, integer, number, SpanExporter, text } from './spans.ts'

/** Sends a span for each request to an OpenTelemetry collector, as a child of the span in the client's `traceparent`. */
export default definePlugin({
  name: 'tesser-example-otel',
  kernel: '^1.0.0',
  options: Type.Object({
    endpoint: Type.String({ default: 'http://127.0.0.1:4318' }),
    service: Type.String({ default: 'tesser' }),
    ratio: Type.Number({ default: 1, minimum: 0, maximum: 1 }),
    intervalMs: Type.Integer({ default: 5_000, minimum: 10 }),
  }),
  register(scope, { endpoint, service, ratio, intervalMs }) {
    const exporter = new SpanExporter(endpoint, service, intervalMs, problem => scope.log.warn(problem))
    const started = new WeakMap<TransportRequest, number>()
    scope.onRequest(request => {
      if (isSampled(request, ratio)) started.set(request, now())
      return undefined
    })
    scope.onReply((reply, request) => {
      const startedAt = started.get(request)
      if (startedAt === undefined) return reply
      const [, traceId, parentSpanId] = request.traceparent.split('-')
      exporter.add({
        traceId: traceId ?? randomBytes(16).toString('hex'),
        spanId: randomBytes(8).toString('hex'),
        ...(parentSpanId && { parentSpanId }),
        // Without the path: its keys would make a separate span name for each entity.
        name: `${request.method} ${request.plugin ?? 'tesser'}`,
        kind: SERVER,
        startTimeUnixNano: nanoseconds(startedAt),
        endTimeUnixNano: nanoseconds(now()),
        attributes: [
          text('http.request.method', request.method),
          integer('http.response.status_code', reply.status),
          text('tesser.plugin', request.plugin ?? 'kernel'),
          ...request.work.flatMap(timesOf),
        ],
        status: reply.status >= 500 ? { code: ERROR } : {},
      })
      return reply
    })
    scope.onClose(() => exporter.close())
  },
})

const SERVER = 2
const ERROR = 2

/** Follows the decision of a client that takes part in a trace; samples a fraction of the others. */
const isSampled = ({ traceparent }: TransportRequest, ratio: number): boolean =>
  traceparent === '' ? Math.random() < ratio : (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1

const timesOf = ({ where, waitedMs, ranMs }: TransportRequest['work'][number]): Attribute[] => [
  number(`tesser.${where}.waited_ms`, waitedMs),
  number(`tesser.${where}.ran_ms`, ranMs),
]

/** Milliseconds since 1970, with fractions. */
const now = (): number => performance.timeOrigin + performance.now()
const nanoseconds = (ms: number): string => `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1e6)).padStart(6, '0')}`
