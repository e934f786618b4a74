import type { Metric, MetricValue } from './metric.ts'

/** Upper bounds of the buckets of every time histogram, in seconds; one more bucket takes the rest. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const BOUNDS_MS = BOUNDS.map(bound => bound * 1000)
const SUM = BOUNDS.length + 1

/** Number of cells of a time histogram: its buckets, then the sum in seconds. */
export const HISTOGRAM_CELLS = SUM + 1

/** Adds a time to the histogram that begins at a cell, `count` times. */
export function observe(cells: Float64Array, start: number, ms: number, count = 1): void {
  let bucket = 0
  while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++
  cells[start + bucket]! += count
  cells[start + SUM]! += (count * ms) / 1000
}

/** A histogram with its labels, and the place at which it begins. */
interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly cells: Float64Array
  readonly start: number
}

/** Makes a metric of time histograms; series without an observation are left out. */
export function histogram(name: string, help: string, series: readonly HistogramSeries[]): Metric {
  const values = series.flatMap(({ labels, cells, start }): MetricValue[] => {
    let count = 0
    const buckets = [...BOUNDS, '+Inf'].map((le, i) => {
      count += cells[start + i]!
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: cells[start + SUM]! },
      { metricName: `${name}_count`, labels, value: count },
    ]
  })
  return { name, help, type: 'histogram', values }
}
