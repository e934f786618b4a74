// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, valuesOf } from './segment'

export function filterF64(
  segments: usize,
  count: u32,
  candidates: usize,
  lower: f64,
  upper: f64,
  inside: bool,
  out: usize,
): u32 {
  const lowest = f64x2.splat(lower)
  const highest = f64x2.splat(upper)
  const flip: u64 = inside ? 0 : -1
  let hits: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      let bits = selected(present, candidates, at)
      if (bits !== 0) {
        let passes: u64 = 0
        for (let i: usize = 0; i < 64; i += 16) {
          passes |= (<u64>sixteenInRange(values + i * 8, lowest, highest)) << i
        }
        bits &= passes ^ flip
        hits += <u32>popcnt(bits)
      }
      if (out !== 0) store<u64>(out + at, bits)
      values += 512
    }
    candidates = next(candidates)
    out = next(out)
  }
  return hits
}

/** A bit for each of 16 values. */
function sixteenInRange(values: usize, lower: v128, upper: v128): u32 {
  return packed(
    fourInRange(values, lower, upper),
    fourInRange(values + 32, lower, upper),
    fourInRange(values + 64, lower, upper),
    fourInRange(values + 96, lower, upper),
  )
}

/** Four comparisons become one vector of 32-bit masks. */
function fourInRange(values: usize, lower: v128, upper: v128): v128 {
  const first = inRange(v128.load(values), lower, upper)
  return v128.shuffle<i32>(first, inRange(v128.load(values, 16), lower, upper), 0, 2, 4, 6)
}

function inRange(values: v128, lower: v128, upper: v128): v128 {
  return v128.and(f64x2.ge(values, lower), f64x2.le(values, upper))
}

/** 16 masks of 32 bits as 16 bits. */
function packed(a: v128, b: v128, c: v128, d: v128): u32 {
  return i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d)))
}

export function filterU32(
  segments: usize,
  count: u32,
  candidates: usize,
  list: usize,
  length: u32,
  inside: bool,
  out: usize,
): u32 {
  const flip: u64 = inside ? 0 : -1
  let hits: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      let bits = selected(present, candidates, at)
      if (bits !== 0) {
        let passes: u64 = 0
        for (let i: usize = 0; i < 64; i += 16) passes |= (<u64>sixteenInList(values + i * 4, list, length)) << i
        bits &= passes ^ flip
        hits += <u32>popcnt(bits)
      }
      if (out !== 0) store<u64>(out + at, bits)
      values += 256
    }
    candidates = next(candidates)
    out = next(out)
  }
  return hits
}

function sixteenInList(values: usize, list: usize, length: u32): u32 {
  const v0 = v128.load(values)
  const v1 = v128.load(values, 16)
  const v2 = v128.load(values, 32)
  const v3 = v128.load(values, 48)
  let m0 = i32x4.splat(0)
  let m1 = m0
  let m2 = m0
  let m3 = m0
  for (const end = list + (length << 2); list < end; list += 4) {
    const target = v128.load32_splat(list)
    m0 = v128.or(m0, i32x4.eq(v0, target))
    m1 = v128.or(m1, i32x4.eq(v1, target))
    m2 = v128.or(m2, i32x4.eq(v2, target))
    m3 = v128.or(m3, i32x4.eq(v3, target))
  }
  return packed(m0, m1, m2, m3)
}
