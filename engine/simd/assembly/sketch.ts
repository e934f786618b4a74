// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf } from './segment'

/** Offset of the address of the sketches of its vectors in a segment. */
declare const sketchesOffset: u32

const HEADER_BYTES: usize = 16

/**
 * Candidates whose sketch has at least a sum, 32 rows at a time: a byte of each is two indexes into a table of 16
 * entries, which `swizzle` looks up for 16 rows.
 */
export function filterSketches(
  segments: usize,
  count: u32,
  candidates: usize,
  table: usize,
  bytes: u32,
  least: i32,
  firstBytes: u32,
  firstLeast: i32,
  out: usize,
  sums: usize,
  room: usize,
): u32 {
  const end = table + ((<usize>bytes) << 5)
  const middle = table + ((<usize>firstBytes) << 5)
  const limit = i16x8.splat(<i16>least)
  const firstLimit = i16x8.splat(<i16>firstLeast)
  const low = i8x16.splat(15)
  const even = i16x8.splat(255)
  let hits: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let block = <usize>load<u32>(load<u32>(segments + (segment << 2)) + sketchesOffset) + HEADER_BYTES
    for (let at: usize = 0; at < BITMAP_BYTES; at += 4, block += (<usize>bytes) << 5) {
      let bits = load<u32>(present + at)
      if (candidates !== 0) bits &= load<u32>(candidates + at)
      if (bits === 0) {
        store<u32>(out + at, 0)
        continue
      }
      // Sums of rows 0, 2, … and 1, 3, … of the first 16, then of the others.
      let s0 = i16x8.splat(0)
      let s1 = s0
      let s2 = s0
      let s3 = s0
      let codes = block
      let entries = table
      for (let stop = middle; ; stop = end) {
        for (; entries < stop; entries += 128) {
          // Eight entries of at most 31 fit into a byte.
          let a = i8x16.splat(0)
          let b = a
          for (let four: usize = 0; four < 128; four += 32) {
            const first = v128.load(entries + four)
            const second = v128.load(entries + four, 16)
            const x = v128.load(codes + four)
            const y = v128.load(codes + four, 16)
            a = i8x16.add(a, lookUp(first, v128.and(x, low)))
            a = i8x16.add(a, lookUp(second, v128.and(i16x8.shr_u(x, 4), low)))
            b = i8x16.add(b, lookUp(first, v128.and(y, low)))
            b = i8x16.add(b, lookUp(second, v128.and(i16x8.shr_u(y, 4), low)))
          }
          codes += 128
          s0 = i16x8.add(s0, v128.and(a, even))
          s1 = i16x8.add(s1, i16x8.shr_u(a, 8))
          s2 = i16x8.add(s2, v128.and(b, even))
          s3 = i16x8.add(s3, i16x8.shr_u(b, 8))
        }
        if (stop === end) break
        bits &= atLeast(s0, s1, firstLimit, even) | (atLeast(s2, s3, firstLimit, even) << 16)
        if (bits === 0) break
      }
      bits &= atLeast(s0, s1, limit, even) | (atLeast(s2, s3, limit, even) << 16)
      store<u32>(out + at, bits)
      hits += popcnt(bits)
      if (sums === 0 || bits === 0) continue
      v128.store(room, v128.shuffle<u16>(s0, s1, 0, 8, 1, 9, 2, 10, 3, 11))
      v128.store(room, v128.shuffle<u16>(s0, s1, 4, 12, 5, 13, 6, 14, 7, 15), 16)
      v128.store(room, v128.shuffle<u16>(s2, s3, 0, 8, 1, 9, 2, 10, 3, 11), 32)
      v128.store(room, v128.shuffle<u16>(s2, s3, 4, 12, 5, 13, 6, 14, 7, 15), 48)
      const row = (segment << 12) + ((<u32>at) << 3)
      for (; bits !== 0; bits &= bits - 1, sums += 8) {
        const bit = ctz(bits)
        store<u32>(sums, row + bit)
        store<u32>(sums, <u32>load<u16>(room + ((<usize>bit) << 1)), 4)
      }
    }
    candidates = next(candidates)
    out += BITMAP_BYTES
  }
  return hits
}

/** Entries of a table by indexes up to 15. For higher indexes, `swizzle` would return 0 and take two more instructions. */
function lookUp(table: v128, indexes: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(table, indexes)
  return i8x16.swizzle(table, indexes)
}

/** A bit for each of 16 sums. */
function atLeast(evens: v128, odds: v128, limit: v128, even: v128): u32 {
  const bytes = v128.or(v128.and(i16x8.ge_s(evens, limit), even), i16x8.shl(i16x8.ge_s(odds, limit), 8))
  return <u32>i8x16.bitmask(bytes)
}
