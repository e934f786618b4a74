// @ts-nocheck AssemblyScript: its compiler checks the types

/** Offsets of the bitmap and the values in a segment. Given when the module is instantiated. */
declare const presentOffset: u32
declare const valuesOffset: u32

/** Bytes of the bitmap of one segment: 4096 rows. */
export const BITMAP_BYTES: usize = 512

export function presentOf(segments: usize, index: u32): usize {
  return load<u32>(segments + (index << 2)) + presentOffset
}

export function valuesOf(segments: usize, index: u32): usize {
  return load<u32>(segments + (index << 2)) + valuesOffset
}

/** Bits of 64 rows, at a byte offset in the bitmaps, that have a value and are candidates; 0 is all rows. */
export function selected(present: usize, candidates: usize, at: usize): u64 {
  const bits = load<u64>(present + at)
  return candidates === 0 ? bits : bits & load<u64>(candidates + at)
}

/** The bitmap of the next segment; 0, which stands for no bitmap, stays 0. */
export function next(bitmap: usize): usize {
  return bitmap === 0 ? 0 : bitmap + BITMAP_BYTES
}

/** Number of rows, out of 64, above which their memory is loaded ahead without a prefetch. */
const MANY: u64 = 24

/**
 * Prefetches the memory that scattered rows refer to into the cache, all at once. Otherwise a loop would wait for each row, since its
 * result decides how the loop continues.
 * @param offset of the addresses in a segment @param bytes at each of them
 * @returns a value that has to be stored somewhere: reads without a use would be removed
 */
export function touch(segments: usize, count: u32, candidates: usize, offset: usize, bytes: usize): u32 {
  let all: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let addresses = <usize>load<u32>(segments + (segment << 2)) + offset
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8, addresses += 256) {
      let rest = selected(present, candidates, at)
      if (popcnt(rest) > MANY) continue
      for (; rest !== 0; rest &= rest - 1) {
        const address = <usize>load<u32>(addresses + ((<usize>ctz(rest)) << 2))
        for (let line: usize = 0; line < bytes; line += 64) all |= <u32>load<u8>(address + line)
      }
    }
    candidates = next(candidates)
  }
  return all
}

/** Prefetches the memory whose addresses are the values. */
export function touchValues(segments: usize, count: u32, candidates: usize, bytes: usize): u32 {
  return touch(segments, count, candidates, valuesOffset, bytes)
}
