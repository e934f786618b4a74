import type { NumberSummary } from '../../data/kernels.ts'
import { SEGMENT_WORDS, type Segment } from '../../data/snapshot.ts'

export type NumberSegment = Segment & { kind: 'number' }

/** Cache by segment; a segment never changes. */
const summaries = new WeakMap<Segment, NumberSummary>()

/** Summary of all values of a segment. Cost: O(values) the first time. */
export function summaryOf(segment: NumberSegment): NumberSummary {
  let summary = summaries.get(segment)
  if (!summary) {
    summary = summariseNumbers(segment, segment.presence)
    summaries.set(segment, summary)
  }
  return summary
}

/** Summary of the entries whose bits are set, all of which have a value. The loop rounds like the kernel. */
export function summariseNumbers({ page, values }: NumberSegment, entries: Uint32Array): NumberSummary {
  if (page) return page.kernels.summarise(page.address, entries)
  const even = summariseLane(values, entries, EVEN)
  const odd = summariseLane(values, entries, ~EVEN)
  return {
    count: even.count + odd.count,
    ...joinLanes(even, odd),
    // Adding 0 turns -0 into 0.
    min: Math.min(even.min, odd.min) + 0,
    max: Math.max(even.max, odd.max) + 0,
  }
}

/** Sum of a segment in two doubles, from the sums of its even and its odd entries. */
export function joinLanes(even: Lane, odd: Lane): Lane {
  const sum = even.high + odd.high
  const part = sum - even.high
  const rest = even.low + odd.low + (even.high - (sum - part) + (odd.high - part))
  const high = sum + rest
  return { high, low: rest - (high - sum) }
}

export interface Lane {
  high: number
  low: number
}

const EVEN = 0x55555555

/** Summarises one lane. Uses local variables only, because an aggregate spends its time in this loop. */
function summariseLane(values: Float64Array, entries: Uint32Array, lane: number): NumberSummary {
  let count = 0
  let high = 0
  let low = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = entries[word]! & lane; bits !== 0; bits &= bits - 1) {
      const value = values[word * 32 + (31 - Math.clz32(bits & -bits))]!
      count++
      const sum = high + value
      const part = sum - high
      low += high - (sum - part) + (value - part)
      high = sum
      if (value < min) min = value
      if (value > max) max = value
    }
  }
  return { count, high, low, min, max }
}

/** First entry with this value among those whose bits are set. */
export function entryOf({ values }: NumberSegment, entries: Uint32Array, value: number): number {
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = entries[word]!; bits !== 0; bits &= bits - 1) {
      const entry = word * 32 + (31 - Math.clz32(bits & -bits))
      if (values[entry] === value) return entry
    }
  }
  return -1
}
