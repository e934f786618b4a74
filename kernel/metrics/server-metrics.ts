import packageJson from '../../package.json' with { type: 'json' }
import { byLabel, counter, gauge, type Metric } from '../../engine/base/counts/metric.ts'
import type { Lifecycle } from '../base/lifecycle.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Transport } from '../transport/transport.ts'

/** State of the kernel as metrics. */
export async function serverMetrics(transport: Transport, sessions: Sessions, lifecycle: Lifecycle): Promise<Metric[]> {
  const { inFlight, connections, refusals } = await transport.load()
  const labels = { version: packageJson.version, node: process.versions.node, transport: transport.name }
  return [
    gauge(
      'tesser_build_info',
      'Always 1; the labels have the versions of the server and of Node.js, and the HTTP implementation.',
      [{ labels, value: 1 }],
    ),
    gauge('tesser_ready', '1 while requests are served.', lifecycle.state === 'ready' ? 1 : 0),
    gauge('tesser_http_requests_in_flight', 'Requests that have not been answered yet.', inFlight),
    ...(connections === undefined ? [] : [gauge('tesser_http_connections', 'Open connections.', connections)]),
    counter(
      'tesser_http_connections_refused_total',
      'Connections closed immediately because there were too many (server.maxConnections).',
      refusals,
    ),
    gauge('tesser_sessions', 'Sessions with a record that this server has seen.', byLabel('of', sessions.recorded)),
    ...(transport.certificate
      ? [
          gauge(
            'tesser_tls_certificate_expiry_timestamp_seconds',
            'When the certificate of new connections expires, in seconds since 1970.',
            Date.parse(transport.certificate.validTo) / 1000,
          ),
        ]
      : []),
  ]
}
