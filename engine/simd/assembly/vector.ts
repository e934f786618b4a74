// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, touchValues, valuesOf } from './segment'

/** Offsets of the length and the numbers of a vector, in bytes from its address. */
declare const vectorLengthOffset: u32
declare const vectorNumbersOffset: u32

const COSINE: u32 = 0
const DISTANCE: u32 = 2
/** Products of lengths above it or below its inverse could leave the range of f32. */
const MAX_LENGTH: f32 = 1e18
/** Least number whose square does not vanish. */
const LEAST: f32 = 1e-19

/** `out`: for each candidate the lowest and the highest f32 that its score can be; NaN when it may be anything. */
export function scoreVectors(
  segments: usize,
  count: u32,
  candidates: usize,
  query: usize,
  dimension: u32,
  metric: u32,
  scale: f32,
  tolerance: f32,
  out: usize,
): u32 {
  const end = query + ((<usize>dimension) << 2)
  const start = out
  const bytes = vectorNumbersOffset + ((<usize>dimension) << 2)
  const touchSum = touchValues(segments, count, candidates, bytes)
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      for (let rest = selected(present, candidates, at); rest !== 0; rest &= rest - 1) {
        const vector = <usize>load<u32>(values + ((<usize>ctz(rest)) << 2))
        const numbers = vector + vectorNumbersOffset
        let score: f32
        let error: f32
        if (metric === DISTANCE) {
          score = sqrt<f32>(squaredDistance(numbers, query, end))
          error = tolerance * score + LEAST
        } else {
          const length = load<f32>(vector + vectorLengthOffset)
          score = product(numbers, query, end)
          if (metric === COSINE) score /= length
          else score *= scale
          error = metric === COSINE ? tolerance : tolerance * length * scale
          if (!(length < MAX_LENGTH && length > 1 / MAX_LENGTH)) score = NaN
        }
        store<f32>(out, score - error)
        store<f32>(out + 4, score + error)
        out += 8
      }
      values += 256
    }
    candidates = next(candidates)
  }
  // Stored where it is never read.
  store<u32>(out, touchSum)
  return <u32>((out - start) >> 3)
}

/** Four sums, because each addition waits for the one before. */
function product(a: usize, b: usize, end: usize): f32 {
  let s0 = f32x4.splat(0)
  let s1 = s0
  let s2 = s0
  let s3 = s0
  for (; b + 64 <= end; a += 64, b += 64) {
    s0 = f32x4.add(s0, f32x4.mul(v128.load(a), v128.load(b)))
    s1 = f32x4.add(s1, f32x4.mul(v128.load(a, 16), v128.load(b, 16)))
    s2 = f32x4.add(s2, f32x4.mul(v128.load(a, 32), v128.load(b, 32)))
    s3 = f32x4.add(s3, f32x4.mul(v128.load(a, 48), v128.load(b, 48)))
  }
  for (; b + 16 <= end; a += 16, b += 16) s0 = f32x4.add(s0, f32x4.mul(v128.load(a), v128.load(b)))
  let sum = total(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)))
  for (; b < end; a += 4, b += 4) sum += load<f32>(a) * load<f32>(b)
  return sum
}

function squaredDistance(a: usize, b: usize, end: usize): f32 {
  let s0 = f32x4.splat(0)
  let s1 = s0
  let s2 = s0
  let s3 = s0
  for (; b + 64 <= end; a += 64, b += 64) {
    s0 = f32x4.add(s0, squared(f32x4.sub(v128.load(a), v128.load(b))))
    s1 = f32x4.add(s1, squared(f32x4.sub(v128.load(a, 16), v128.load(b, 16))))
    s2 = f32x4.add(s2, squared(f32x4.sub(v128.load(a, 32), v128.load(b, 32))))
    s3 = f32x4.add(s3, squared(f32x4.sub(v128.load(a, 48), v128.load(b, 48))))
  }
  for (; b + 16 <= end; a += 16, b += 16) s0 = f32x4.add(s0, squared(f32x4.sub(v128.load(a), v128.load(b))))
  let sum = total(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)))
  for (; b < end; a += 4, b += 4) {
    const difference = load<f32>(a) - load<f32>(b)
    sum += difference * difference
  }
  return sum
}

function squared(v: v128): v128 {
  return f32x4.mul(v, v)
}

function total(v: v128): f32 {
  const two = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1))
  return f32x4.extract_lane(two, 0) + f32x4.extract_lane(two, 1)
}
