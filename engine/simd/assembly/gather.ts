// @ts-nocheck AssemblyScript: its compiler checks the types
import { BITMAP_BYTES, next, presentOf, valuesOf } from './segment'

export function gatherF64(segments: usize, count: u32, candidates: usize, missing: f64, out: usize): u32 {
  const start = out
  for (let segment: u32 = 0; segment < count; segment++) {
    const present = presentOf(segments, segment)
    let values = valuesOf(segments, segment)
    for (let at: usize = 0; at < BITMAP_BYTES; at += 8) {
      const here = load<u64>(present + at)
      let bits = load<u64>(candidates + at)
      if (~(bits & here) === 0) {
        memory.copy(out, values, 512)
        out += 512
      } else {
        while (bits !== 0) {
          const row = ctz(bits)
          const value = load<f64>(values + ((<usize>row) << 3))
          store<f64>(out, select<f64>(value, missing, ((here >>> row) & 1) !== 0))
          out += 8
          bits &= bits - 1
        }
      }
      values += 512
    }
    candidates = next(candidates)
  }
  return <u32>((out - start) >>> 3)
}
