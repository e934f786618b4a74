// @ts-nocheck AssemblyScript: its compiler checks the types

export function and(a: usize, b: usize, out: usize, words: u32): u32 {
  return combine(a, 0, b, 0, 0, out, words)
}

export function or(a: usize, b: usize, out: usize, words: u32): u32 {
  return combine(a, -1, b, -1, -1, out, words)
}

export function andNot(a: usize, b: usize, out: usize, words: u32): u32 {
  return combine(a, 0, b, -1, 0, out, words)
}

export function popcount(bitmap: usize, words: u32): u32 {
  return combine(bitmap, 0, bitmap, 0, 0, 0, words)
}

/** `(a ^ flipA) & (b ^ flipB) ^ flipOut`: every operation without a branch. */
function combine(a: usize, flipA: i32, b: usize, flipB: i32, flipOut: i32, out: usize, words: u32): u32 {
  const fa = i32x4.splat(flipA)
  const fb = i32x4.splat(flipB)
  const fo = i32x4.splat(flipOut)
  const bytes: usize = words << 2
  const whole: usize = bytes & ~15
  let hits: u32 = 0
  for (let at: usize = 0; at < whole; at += 16) {
    const bits = v128.xor(v128.and(v128.xor(v128.load(a + at), fa), v128.xor(v128.load(b + at), fb)), fo)
    hits += bitCount(bits)
    if (out !== 0) v128.store(out + at, bits)
  }
  for (let at = whole; at < bytes; at += 4) {
    const bits = ((load<u32>(a + at) ^ flipA) & (load<u32>(b + at) ^ flipB)) ^ flipOut
    hits += popcnt<u32>(bits)
    if (out !== 0) store<u32>(out + at, bits)
  }
  return hits
}

export function bitCount(bits: v128): u32 {
  return <u32>(popcnt<u64>(i64x2.extract_lane(bits, 0)) + popcnt<u64>(i64x2.extract_lane(bits, 1)))
}
