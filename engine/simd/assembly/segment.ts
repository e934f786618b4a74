// @ts-nocheck AssemblyScript: its compiler checks the types

/** Where in a segment its bitmap and its values are. Given when the module is instantiated. */
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

/** Those of 64 rows, at a byte offset in the bitmaps, that have a value and are candidates; 0 is all rows. */
export function selected(present: usize, candidates: usize, at: usize): u64 {
  const bits = load<u64>(present + at)
  return candidates === 0 ? bits : bits & load<u64>(candidates + at)
}

/** The bitmap of the next segment; 0 stays 0, which is no bitmap. */
export function next(bitmap: usize): usize {
  return bitmap === 0 ? 0 : bitmap + BITMAP_BYTES
}
