// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, valuesOf } from './segment'

export function semiJoin(
  segments: usize,
  count: u32,
  candidates: usize,
  targets: usize,
  targetWords: u32,
  out: usize,
): u32 {
  let hits: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      let bits = selected(present, candidates, at)
      let matches: u64 = 0
      if (popcnt(bits) > 20) {
        // All of them, without a branch that the processor could guess wrong.
        for (let row: u64 = 0; row < 64; row++) {
          matches |= bitOf(targets, targetWords, rowId(values, row)) << row
        }
        bits &= matches
      } else {
        for (; bits !== 0; bits &= bits - 1) {
          const row = ctz(bits)
          matches |= bitOf(targets, targetWords, rowId(values, row)) << row
        }
        bits = matches
      }
      hits += <u32>popcnt(bits)
      if (out !== 0) store<u64>(out + at, bits)
      values += 512
    }
    candidates = next(candidates)
    out = next(out)
  }
  return hits
}

export function markReferenced(segments: usize, count: u32, candidates: usize, targets: usize, targetWords: u32): void {
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      for (let bits = selected(present, candidates, at); bits !== 0; bits &= bits - 1) {
        const target = rowId(values, ctz(bits))
        const word = target >>> 5
        if (word < targetWords) {
          const address = targets + (word << 2)
          store<u32>(address, load<u32>(address) | (1 << (target & 31)))
        }
      }
      values += 512
    }
    candidates = next(candidates)
  }
}

/** Adding 2^52 leaves an integer below 2^32 in the low bits. Unlike a conversion it takes any value. */
function rowId(values: usize, row: u64): u32 {
  return <u32>reinterpret<u64>(load<f64>(values + ((<usize>row) << 3)) + 4503599627370496.0)
}

function bitOf(bitmap: usize, words: u32, id: u32): u64 {
  const word = id >>> 5
  const isInside = word < words
  return <u64>((load<u32>(bitmap + (select<u32>(word, 0, isInside) << 2)) >>> (id & 31)) & u32(isInside))
}
