import { createServer, type Server } from 'node:http'
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { definePlugin, type Metric, type Metrics, Type, type RouteSpec } from '../../kernel/api.ts'
import { MetricsErrors } from './errors.ts'

/**
 * Metrics for Prometheus, in its text format: metrics of the server, of its plugins, and of the process.
 *
 *   GET /metrics   →  200 for administrators: with roles, clients with the privilege `WebAdmin`; without roles, every client that has
 *                     logged in, such as by a key (`tesser key create prometheus`); 401 for others
 *
 * With `metrics.port` they are served on that port, to every client that can reach it, and the server itself has no `/metrics`.
 */
export default definePlugin({
  name: 'metrics',
  kernel: '^1.0.0',
  options: Type.Object({
    enabled: Type.Boolean({ default: true, description: '`metrics.enabled` of the configuration.' }),
    port: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65_535,
      description: '`metrics.port` of the configuration.',
    }),
    host: Type.String({ default: '127.0.0.1', minLength: 1, description: '`metrics.host` of the configuration.' }),
  }),
  register({ route, metrics, log, onReady, onClose }, { enabled, port, host }) {
    if (!enabled) return
    metrics.add(() => ofProcess().getMetricsAsJSON() as unknown as Promise<Metric[]>)
    if (port === 0) {
      route('/metrics', ROUTE, async ({ isAdministrator, session }) => {
        if (!isAdministrator) throw MetricsErrors.ADMINISTRATORS_ONLY(session.isGuest)
        return { status: 200, headers: HEADERS, body: await textOf(metrics) }
      })
      return
    }
    onReady(async () => {
      const server = await listen(metrics, port, host)
      log.info({ url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics` }, 'metrics are served')
      onClose(() => {
        server.close()
        server.closeAllConnections()
      })
    })
  },
})

const ROUTE: RouteSpec = {
  verbs: ['GET'],
  shownToAdministrators: true,
  doc: 'Metrics for Prometheus, unless `metrics.port` serves them on a separate port.',
  tag: 'server',
  operations: {
    GET: {
      id: 'metrics',
      doc: 'Metrics for Prometheus, unless `metrics.port` serves them on a separate port',
      answers: { 200: { doc: 'The text format.', types: ['text/plain'], schema: { type: 'string' } } },
    },
  },
}

const HEADERS = { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }

/** Metrics of the process and its event loop, collected once for all servers in the process. */
let processRegistry: Registry | undefined
function ofProcess(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

async function textOf(metrics: Metrics): Promise<string> {
  // prom-client formats metrics that are given as JSON.
  const entries = (await metrics.read()).map(metric => ({ ...metric, aggregator: 'first' }))
  return AggregatorRegistry.aggregate([entries]).metrics()
}

/** @throws {Error} the server cannot listen on the address */
function listen(metrics: Metrics, port: number, host: string): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    const isFound = /^\/metrics(?:\?|$)/.test(request.url ?? '')
    if (!isFound || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isFound ? 405 : 404).end()
      return
    }
    textOf(metrics).then(
      text => response.writeHead(200, HEADERS).end(text),
      () => response.writeHead(500).end(),
    )
  })
  // Scrapers are few, and a slow one must not hold a connection.
  Object.assign(server, { requestTimeout: 10_000, headersTimeout: 10_000, maxConnections: 32 })
  return new Promise((resolve, reject) => {
    server.once('error', cause => reject(new Error(`metrics.port ${port} at ${host}: ${cause.message}`, { cause })))
    server.listen({ host, port }, () => resolve(server))
  })
}
