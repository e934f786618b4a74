// @ts-nocheck AssemblyScript: its compiler checks the types

/** In front of slot 0: the slice begins where the text does. */
const HEAD: u32 = 0xffffffff
/** `,{` */
const COMMA_OPEN: u16 = 0x7b2c
const CLOSE: u8 = 0x7d
/** Rows whose cache lines are asked for at once: some 12 KB, which a first-level cache holds. */
const AT_ONCE: u32 = 16
const LINE: usize = 64

export function copyRows(
  rows: usize,
  count: u32,
  offsets: usize,
  text: usize,
  slices: usize,
  slicesEnd: usize,
  out: usize,
  outEnd: usize,
  result: usize,
): u32 {
  const lastSlot: usize = load<u32>(slicesEnd - 4)
  for (let i: u32 = 0; i < count; i++) {
    const place = rows + ((<usize>i) << 2)
    if (i % AT_ONCE === 0) touchRows(place, min(AT_ONCE, count - i), offsets + (lastSlot << 2), text, result)
    const row: usize = load<u32>(place)
    // All slices together are no longer than what comes before the end of the last.
    const most: usize = load<u32>(row + offsets + (lastSlot << 2))
    if (most + 19 > outEnd - out) {
      store<u32>(result, out)
      return i
    }
    store<u16>(out, COMMA_OPEN)
    out += 2
    for (let slice = slices; slice < slicesEnd; slice += 8) {
      const from: u32 = load<u32>(slice)
      const start: usize = from === HEAD ? 0 : load<u32>(row + offsets + ((<usize>from) << 2))
      const size: usize = load<u32>(row + offsets + ((<usize>load<u32>(slice, 4)) << 2)) - start
      // Up to 15 bytes more, which the next ones replace.
      for (let at: usize = 0; at < size; at += 16) v128.store(out + at, v128.load(row + text + start + at))
      out += size
    }
    store<u8>(out++, CLOSE)
  }
  store<u32>(result, out)
  return count
}

/** Reads a byte of each cache line: the processor waits for many of them at a time then, not for one after the other. */
export function touchRows(rows: usize, count: u32, end: usize, text: usize, result: usize): void {
  let touched: u32 = 0
  for (let i: u32 = 0; i < count; i++) touched += load<u32>(<usize>load<u32>(rows + ((<usize>i) << 2)) + end)
  for (let i: u32 = 0; i < count; i++) {
    const row: usize = load<u32>(rows + ((<usize>i) << 2))
    const size = text + load<u32>(row + end)
    for (let at: usize = 0; at < size; at += LINE) touched += load<u8>(row + at)
  }
  // What is read has to be used, or it is not read.
  store<u32>(result, touched)
}
