/** A metric with all its series, in the JSON form that `prom-client` reads and writes. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: readonly MetricValue[]
}

export interface MetricValue {
  readonly value: number
  /** Must take few distinct values, whatever clients send. */
  readonly labels: Readonly<Record<string, string | number>>
  /** Name of a part of a histogram or a summary: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

/** A gauge; without labels when `value` is a number. */
export function gauge(name: string, help: string, value: number | readonly MetricValue[]): Metric {
  return { name, help, type: 'gauge', values: valuesOf(value) }
}

export function counter(name: string, help: string, value: number | readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', values: valuesOf(value) }
}

/** Metric values with a single label, one for each entry of `values`. */
export const byLabel = (label: string, values: Readonly<Record<string, number>>): MetricValue[] =>
  Object.entries(values).map(([name, value]) => ({ value, labels: { [label]: name } }))

const valuesOf = (value: number | readonly MetricValue[]): readonly MetricValue[] =>
  typeof value === 'number' ? [{ value, labels: {} }] : value
