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
    doc: 'Port that serves `/metrics` and nothing else, to all that reach it; `/metrics` of the server does not exist then. 0: there is none.',
  }),
  'metrics.host': text({ default: '127.0.0.1', doc: 'Address of that port.' }),
} as const
