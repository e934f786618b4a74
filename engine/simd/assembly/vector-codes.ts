// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, touch } from './segment'

/** Offset of the addresses of the codes of its vectors in a segment. */
declare const vectorCodesOffset: u32

const COSINE: u32 = 0
const DISTANCE: u32 = 2
/** Offsets in the codes of a vector, in bytes: see `../../vector/math/vector-codes.ts`. */
const SCALE = 0
const ERROR = 4
const LENGTH = 8
const NUMBERS = 16
/** Upper bound of the rounding error of lengths, relative to squares. */
const ROUNDING: f64 = 1e-6

/** Bounds of the scores of those candidates that can reach a limit. */
export function scoreCodes(
  segments: usize,
  count: u32,
  candidates: usize,
  query: usize,
  dimension: u32,
  metric: u32,
  step: f64,
  queryError: f64,
  queryLength: f64,
  limit: f64,
  above: bool,
  entries: usize,
  bounds: usize,
): u32 {
  const end = query + ((<usize>dimension) << 1)
  const start = entries
  const touchSum = touch(segments, count, candidates, vectorCodesOffset, <usize>dimension + NUMBERS)
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let codes = <usize>load<u32>(segments + (segment << 2)) + vectorCodesOffset
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      for (let rest = selected(present, candidates, at); rest !== 0; rest &= rest - 1) {
        const bit = <usize>ctz(rest)
        const vector = <usize>load<u32>(codes + (bit << 2))
        const error = <f64>load<f32>(vector, ERROR)
        const cosine = <f64>product(vector + NUMBERS, query, end) * (step * <f64>load<f32>(vector, SCALE))
        const off = error + (1 + error) * queryError
        let least = cosine - off
        let most = cosine + off
        if (metric !== COSINE) {
          const length = <f64>load<f32>(vector, LENGTH)
          const lengths = length * queryLength
          if (metric === DISTANCE) {
            const squares = length * length + queryLength * queryLength
            const far = squares * (1 + ROUNDING) - 2 * lengths * least
            const near = squares * (1 - ROUNDING) - 2 * lengths * most
            // With max and not ?: because that would turn NaN into 0.
            least = sqrt<f64>(max<f64>(near, 0))
            most = sqrt<f64>(max<f64>(far, 0))
          } else {
            least *= lengths
            most *= lengths
          }
        }
        if (above ? most < limit : least > limit) continue
        store<u32>(entries, <u32>((segment << 12) + (at << 3) + bit))
        store<f32>(bounds, <f32>least)
        store<f32>(bounds, <f32>most, 4)
        entries += 4
        bounds += 8
      }
      codes += 256
    }
    candidates = next(candidates)
  }
  // Stored where it is never read.
  store<u32>(bounds, touchSum)
  return <u32>((entries - start) >> 2)
}

/** Σ of i8 × i16. Two sums, because each addition waits for the one before. */
function product(a: usize, b: usize, end: usize): i32 {
  let s0 = i32x4.splat(0)
  let s1 = s0
  for (; b < end; a += 16, b += 32) {
    s0 = i32x4.add(s0, i32x4.dot_i16x8_s(v128.load_ext<i8>(a), v128.load(b)))
    s1 = i32x4.add(s1, i32x4.dot_i16x8_s(v128.load_ext<i8>(a, 8), v128.load(b, 16)))
  }
  const four = i32x4.add(s0, s1)
  const two = i32x4.add(four, v128.shuffle<i32>(four, four, 2, 3, 0, 1))
  return i32x4.extract_lane(two, 0) + i32x4.extract_lane(two, 1)
}
