// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, selected, valuesOf } from './segment'

/** Offsets of the length and the bytes of a text, in bytes from its address. */
declare const textLengthOffset: u32
declare const textBytesOffset: u32
/** Bits of the length field that hold the length. */
const LENGTH_MASK: u32 = 0x7fffffff

/** `pattern`: u32 number of parts, at least 2, then for each part u32 its length and its bytes, padded to whole words. */
export function filterPattern(
  segments: usize,
  count: u32,
  candidates: usize,
  pattern: usize,
  inside: bool,
  out: usize,
): u32 {
  const flip: u64 = inside ? 0 : -1
  let hits: u32 = 0
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      const bits = selected(present, candidates, at)
      let passes: u64 = 0
      for (let rest = bits; rest !== 0; rest &= rest - 1) {
        const row = ctz(rest)
        passes |= (<u64>matches(load<u32>(values + ((<usize>row) << 2)), pattern)) << row
      }
      const hitBits = bits & (passes ^ flip)
      hits += <u32>popcnt(hitBits)
      if (out !== 0) store<u64>(out + at, hitBits)
      values += 256
    }
    candidates = next(candidates)
    out = next(out)
  }
  return hits
}

/** True if the first part is at the start, the last at the end, and those between in order: the first match of each is enough. */
function matches(text: usize, pattern: usize): bool {
  let at = text + textBytesOffset
  let end = at + (load<u32>(text + textLengthOffset) & LENGTH_MASK)
  let partCount = load<u32>(pattern)
  let part = pattern + 4
  let length: usize = load<u32>(part)
  if (length > end - at || !isAt(at, part + 4, length)) return false
  at += length
  for (partCount -= 2; partCount !== 0; partCount--) {
    part = following(part, length)
    length = load<u32>(part)
    at = find(at, end, part + 4, length)
    if (at === 0) return false
    at += length
  }
  part = following(part, length)
  length = load<u32>(part)
  end -= length
  return at <= end && isAt(end, part + 4, length)
}

function following(part: usize, length: usize): usize {
  return part + 4 + ((length + 3) & ~3)
}

function isAt(at: usize, part: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(at + i) !== load<u8>(part + i)) return false
  return true
}

/** First match of a part between `at` and `end`, 0 when there is none: 16 places at a time by its first two bytes. */
function find(at: usize, end: usize, part: usize, length: usize): usize {
  if (length === 0) return at
  const first = i8x16.splat(load<u8>(part))
  const second = i8x16.splat(load<u8>(part, 1))
  const isLong = length > 1
  while (at < end && length <= end - at) {
    let places = i8x16.eq(v128.load(at), first)
    if (isLong) places = v128.and(places, i8x16.eq(v128.load(at, 1), second))
    for (let rest = <u32>i8x16.bitmask(places); rest !== 0; rest &= rest - 1) {
      const place = at + ctz(rest)
      if (place > end || length > end - place) return 0
      if (length <= 2 || isAt(place + 2, part + 2, length - 2)) return place
    }
    at += 16
  }
  return 0
}
