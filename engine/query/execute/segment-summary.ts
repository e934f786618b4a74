import { SEGMENT_WORDS, type Segment } from '../../storage/snapshot.ts'

/** What is known of some numbers of a segment. */
export interface NumberSummary {
  readonly count: number
  /** Their sum as two doubles, see `Sum` in `../aggregate/summary.ts`. */
  readonly high: number
  readonly low: number
  readonly min: number
  readonly max: number
  /** The first entries that have them. */
  readonly minEntry: number
  readonly maxEntry: number
}

type NumberSegment = Segment & { kind: 'number' }

/** A segment never changes, so that what was worked out once stays true as long as there is the segment. */
const known = new WeakMap<Segment, NumberSummary>()

/** Of all values of a segment. Cost: O(values) for the first time. */
export function summaryOf(segment: NumberSegment): NumberSummary {
  let summary = known.get(segment)
  if (!summary) {
    summary = summariseNumbers(segment.values, segment.present)
    known.set(segment, summary)
  }
  return summary
}

/** Of the entries whose bits are set. All in local variables: this loop is what an aggregate costs. */
export function summariseNumbers(values: Float64Array, words: Uint32Array): NumberSummary {
  let count = 0
  let high = 0
  let low = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let minEntry = 0
  let maxEntry = 0
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = words[word]!; bits !== 0; bits &= bits - 1) {
      const entry = word * 32 + (31 - Math.clz32(bits & -bits))
      const value = values[entry]!
      count++
      const sum = high + value
      const part = sum - high
      low += high - (sum - part) + (value - part)
      high = sum
      if (value < min) {
        min = value
        minEntry = entry
      }
      if (value > max) {
        max = value
        maxEntry = entry
      }
    }
  }
  return { count, high, low, min, max, minEntry, maxEntry }
}
