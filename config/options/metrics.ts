import { flag, integer, text } from '../option.ts'

/** Options for Prometheus metrics. */
export const metricsOptions = {
  'metrics.enabled': flag({
    default: true,
    doc: 'Count requests, and serve metrics for Prometheus: at `/metrics` to administrators, or on a separate port.',
  }),
  'metrics.port': integer({
    default: 0,
    min: 0,
    max: 65_535,
    doc: 'Port that serves only `/metrics`, to every client that reaches it; the server itself then has no `/metrics`. 0: no separate port.',
  }),
  'metrics.host': text({ default: '127.0.0.1', doc: 'Address on which `metrics.port` listens.' }),
} as const
