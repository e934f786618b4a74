// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, valuesOf } from './segment'

/**
 * Rows with an even number go to one lane and those with an odd number to the other, each with a sum in two doubles; the lanes
 * are joined at the end. An implementation in another language must add in the same order.
 */
export function aggregateF64(segments: usize, count: u32, candidates: usize, result: usize): u32 {
  let hits: u32 = 0
  let high = f64x2.splat(0)
  let low = f64x2.splat(0)
  let min = f64x2.splat(Infinity)
  let max = f64x2.splat(-Infinity)
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      let bits = selected(present, candidates, at)
      hits += <u32>popcnt(bits)
      if (~bits === 0) {
        for (let pair: usize = 0; pair < 512; pair += 16) {
          const value = v128.load(values + pair)
          const sum = f64x2.add(high, value)
          low = f64x2.add(low, rounding(high, value, sum))
          high = sum
          min = f64x2.pmin(min, value)
          max = f64x2.pmax(max, value)
        }
      } else {
        while (bits !== 0) {
          const even: u64 = ctz(bits) & ~1
          const absentLanes = i64x2.eq(v128.and(i64x2.splat(bits >>> even), i64x2(1, 2)), i64x2.splat(0))
          const value = v128.load(values + ((<usize>even) << 3))
          // Adding 0 changes nothing, and neither does comparing with NaN, which an absent lane becomes.
          const addend = v128.andnot(value, absentLanes)
          const compared = v128.or(value, absentLanes)
          const sum = f64x2.add(high, addend)
          low = f64x2.add(low, rounding(high, addend, sum))
          high = sum
          min = f64x2.pmin(min, compared)
          max = f64x2.pmax(max, compared)
          bits &= ~((<u64>3) << even)
        }
      }
      values += 512
    }
    candidates = next(candidates)
  }
  const even = f64x2.extract_lane(high, 0)
  const odd = f64x2.extract_lane(high, 1)
  const laneSum = even + odd
  const part = laneSum - even
  const loss = even - (laneSum - part) + (odd - part)
  const rest = f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + loss
  const total = laneSum + rest
  store<f64>(result, total)
  store<f64>(result, rest - (total - laneSum), 8)
  // Adding 0 turns -0 into 0.
  store<f64>(result, f64.min(f64x2.extract_lane(min, 0), f64x2.extract_lane(min, 1)) + 0, 16)
  store<f64>(result, f64.max(f64x2.extract_lane(max, 0), f64x2.extract_lane(max, 1)) + 0, 24)
  return hits
}

/** Rounding error of `a + b`: TwoSum, which has no branch. */
function rounding(a: v128, b: v128, sum: v128): v128 {
  const part = f64x2.sub(sum, a)
  return f64x2.add(f64x2.sub(a, f64x2.sub(sum, part)), f64x2.sub(b, part))
}
