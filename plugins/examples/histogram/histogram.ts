import type { TaskFunction } from 'tesser'

export interface HistogramArguments {
  readonly attribute: string
  readonly buckets: number
}

/** Runs in a pool thread, on one snapshot of the data, with the rights of the client. */
const histogram: TaskFunction<HistogramArguments> = (store, { attribute, buckets }) => {
  const selection = store.select()
  const values = new Float64Array(selection.size)
  let size = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  selection.forEach(attribute, value => {
    if (typeof value !== 'number') refuse(`"${attribute}" is not a number`)
    values[size++] = value
    min = Math.min(min, value)
    max = Math.max(max, value)
  })
  if (size === 0) return { count: 0, buckets: [] }
  const width = (max - min) / buckets
  const counts = new Array<number>(buckets).fill(0)
  for (const value of values.subarray(0, size)) {
    // The maximum belongs to the last range; if all values are equal, they are in the first.
    const bucket = width === 0 ? 0 : Math.min(buckets - 1, Math.floor((value - min) / width))
    counts[bucket]!++
  }
  return {
    count: size,
    buckets: counts.map((count, i) => ({ from: min + i * width, to: min + (i + 1) * width, count })),
  }
}
export default histogram

function refuse(message: string): never {
  throw { errCode: 4002, componentSignature: 'tesser-example-histogram', message, httpStatus: 400 }
}
