/** Live figures from two successive readings of the metrics. */

interface MetricValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  readonly metricName?: string
}

/** A metric as `$info/metrics` returns it. */
interface Metric {
  readonly name: string
  readonly values: readonly MetricValue[]
}

export interface Reading {
  /** Time in milliseconds, by the clock of the page. */
  readonly at: number
  readonly metrics: ReadonlyMap<string, readonly MetricValue[]>
}

/** Figures; undefined if the server has no such metric, or if the value is not known yet. */
export interface Figures {
  readonly requests: number | undefined
  /** Milliseconds: mean, and 95th percentile. */
  readonly latency: number | undefined
  readonly latency95: number | undefined
  readonly rows: number | undefined
  readonly changes: number | undefined
  readonly poolTasks: number | undefined
  readonly memory: number | undefined
  /** Number of busy processors, over all threads. */
  readonly processors: number | undefined
}

export const readingOf = (at: number, metrics: readonly Metric[]): Reading => ({
  at,
  metrics: new Map(metrics.map(({ name, values }) => [name, values])),
})

export function figuresOf(before: Reading, now: Reading): Figures {
  const seconds = (now.at - before.at) / 1000
  const rate = (name: string): number | undefined => {
    const increase = difference(before, now, name)
    return increase === undefined || seconds <= 0 ? undefined : increase / seconds
  }
  const times = 'tesser_http_request_duration_seconds'
  const requestCount = difference(before, now, times, `${times}_count`) ?? 0
  const spent = difference(before, now, times, `${times}_sum`)
  return {
    requests: rate('tesser_http_requests_total'),
    latency: spent === undefined || requestCount === 0 ? undefined : (spent / requestCount) * 1000,
    latency95: quantile(before, now, times, 0.95),
    rows: rate('tesser_rows_examined_total'),
    changes: rate('tesser_writer_changes_total'),
    poolTasks: sum(now, 'tesser_pool_tasks'),
    memory: sum(now, 'tesser_memory_used_bytes'),
    processors: rate('tesser_thread_cpu_seconds_total'),
  }
}

/** Sum of all series of a metric; for a histogram, of one of its parts. */
function sum({ metrics }: Reading, name: string, part?: string): number | undefined {
  const values = metrics.get(name)?.filter(({ metricName }) => part === undefined || metricName === part)
  return values?.reduce((total, { value }) => total + value, 0)
}

/** Growth of a counter. A restarted server counts from 0. */
function difference(before: Reading, now: Reading, name: string, part?: string): number | undefined {
  const [first, last] = [sum(before, name, part), sum(now, name, part)]
  if (first === undefined || last === undefined) return last
  return last < first ? last : last - first
}

/** Upper bound of the bucket that contains a quantile of the requests between the readings, in milliseconds. */
function quantile(before: Reading, now: Reading, name: string, share: number): number | undefined {
  const [first, last] = [buckets(before, name), buckets(now, name)]
  const counts = [...last].map(([end, count]) => [end, count - (first.get(end) ?? 0)] as const)
  const total = Math.max(0, ...counts.map(([, count]) => count))
  if (total === 0) return undefined
  const bucket = counts.sort(([a], [b]) => a - b).find(([, count]) => count >= share * total)
  return bucket && Number.isFinite(bucket[0]) ? bucket[0] * 1000 : undefined
}

function buckets({ metrics }: Reading, name: string): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { metricName, labels, value } of metrics.get(name) ?? []) {
    if (metricName !== `${name}_bucket`) continue
    const end = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
    counts.set(end, (counts.get(end) ?? 0) + value)
  }
  return counts
}
