// @ts-nocheck AssemblyScript: its compiler checks the types

/** In place of the first slot: the slice begins at the start of the text. */
const HEAD: u32 = 0xffffffff
/** Marks an insert instead of a slice of the row. */
const INSERT: u32 = 0xfffffffe
/** `,{` */
const COMMA_OPEN: u16 = 0x7b2c
const CLOSE: u8 = 0x7d
/** Number of rows whose cache lines are requested together: some 12 KB, which a first-level cache holds. */
const AT_ONCE: u32 = 16
const LINE: usize = 64

export function copyRows(
  rows: usize,
  count: u32,
  offsets: usize,
  text: usize,
  slices: usize,
  slicesEnd: usize,
  lastSlot: u32,
  inserts: usize,
  insertCount: u32,
  insertBytes: usize,
  out: usize,
  outEnd: usize,
  result: usize,
): u32 {
  const textEnd: usize = offsets + ((<usize>lastSlot) << 2)
  for (let i: u32 = 0; i < count; i++) {
    const place = rows + ((<usize>i) << 2)
    if (i % AT_ONCE === 0) touchRows(place, min(AT_ONCE, count - i), textEnd, text, result)
    const row: usize = load<u32>(place)
    // All slices together are no longer than the text up to the end of the last.
    let most: usize = load<u32>(row + textEnd)
    const ranges = inserts + ((<usize>(i * insertCount)) << 3)
    for (let n: u32 = 0; n < insertCount; n++) {
      const range = ranges + ((<usize>n) << 3)
      most += load<u32>(range, 4) - load<u32>(range)
    }
    if (most + 19 > outEnd - out) {
      store<u32>(result, out)
      return i
    }
    store<u16>(out, COMMA_OPEN)
    out += 2
    for (let slice = slices; slice < slicesEnd; slice += 8) {
      const from: u32 = load<u32>(slice)
      const to: u32 = load<u32>(slice, 4)
      let source: usize
      let size: usize
      if (from === INSERT) {
        const range = ranges + ((<usize>to) << 3)
        source = insertBytes + load<u32>(range)
        size = load<u32>(range, 4) - load<u32>(range)
      } else {
        const start: usize = from === HEAD ? 0 : load<u32>(row + offsets + ((<usize>from) << 2))
        source = row + text + start
        size = load<u32>(row + offsets + ((<usize>to) << 2)) - start
      }
      // Up to 15 bytes too many, which the next ones overwrite.
      for (let at: usize = 0; at < size; at += 16) v128.store(out + at, v128.load(source + at))
      out += size
    }
    store<u8>(out++, CLOSE)
  }
  store<u32>(result, out)
  return count
}

/** Reads a byte of each cache line, so that the processor waits for many of them at a time instead of one after the other. */
export function touchRows(rows: usize, count: u32, end: usize, text: usize, result: usize): void {
  let touchSum: u32 = 0
  for (let i: u32 = 0; i < count; i++) touchSum += load<u32>(<usize>load<u32>(rows + ((<usize>i) << 2)) + end)
  for (let i: u32 = 0; i < count; i++) {
    const row: usize = load<u32>(rows + ((<usize>i) << 2))
    const size = text + load<u32>(row + end)
    for (let at: usize = 0; at < size; at += LINE) touchSum += load<u8>(row + at)
  }
  // Stores a result of the reads: the engine removes reads without a use.
  store<u32>(result, touchSum)
}
