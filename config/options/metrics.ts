import { flag, integer, text } from '../option.ts'

/** Metrics for Prometheus. */
export const metricsOptions = {
  'metrics.enabled': flag({
    default: true,
    doc: 'Count requests, and serve metrics for Prometheus: at `/metrics` to administrators, or on a port of their own.',
  }),
  'metrics.port': integer({
    default: 0,
    min: 0,
    max: 65_535,
    doc: 'Port that serves `/metrics` and nothing else, to every client that reaches it; the server itself has no `/metrics` then. 0: no such port.',
  }),
  'metrics.host': text({ default: '127.0.0.1', doc: 'Address of that port.' }),
} as const
