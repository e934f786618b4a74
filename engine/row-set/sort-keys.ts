/** Minimum number of keys for a radix sort; for fewer, counters for each digit would cost more than comparing. */
const MIN_RADIX = 1024
const DIGIT_BITS = 11
const DIGITS = 2 ** DIGIT_BITS

/**
 * Positions 0 … keys.length - 1 in ascending order of their keys; of equal keys the lower position first. -0 equals 0, and no
 * key may be NaN. A radix sort over the bits of the numbers: 1 M keys take some 60 ms, some 300 ms by comparing.
 * Source: Knuth, The Art of Computer Programming, volume 3, 5.2.5, algorithm R.
 */
export function sortKeys(keys: Float64Array): Uint32Array {
  const positions = Uint32Array.from(keys, (_, position) => position)
  if (keys.length < MIN_RADIX) return positions.sort((a, b) => keys[a]! - keys[b]! || a - b)
  const { low, high } = orderedBits(keys)
  let order = positions
  let other = new Uint32Array(keys.length)
  for (const [words, shift] of [low, high].flatMap(words => [0, 11, 22].map(shift => [words, shift] as const))) {
    const starts = digitStarts(words, shift)
    if (!starts) continue
    for (let i = 0; i < order.length; i++) {
      const position = order[i]!
      other[starts[(words[position]! >>> shift) & (DIGITS - 1)]!++] = position
    }
    ;[order, other] = [other, order]
  }
  return order
}

/** Integers in the order of the numbers, as two halves: negative numbers have all bits flipped, others the sign bit. */
function orderedBits(keys: Float64Array): { low: Uint32Array; high: Uint32Array } {
  const low = new Uint32Array(keys.length)
  const high = new Uint32Array(keys.length)
  const float = new Float64Array(1)
  const halves = new Uint32Array(float.buffer)
  for (let i = 0; i < keys.length; i++) {
    float[0] = keys[i]! + 0
    const isNegative = halves[1]! >>> 31 === 1
    low[i] = isNegative ? ~halves[0]! : halves[0]!
    high[i] = isNegative ? ~halves[1]! : halves[1]! | 0x80000000
  }
  return { low, high }
}

/** Start of the range of each digit; undefined when all numbers have the same digit. */
function digitStarts(words: Uint32Array, shift: number): Uint32Array | undefined {
  const starts = new Uint32Array(DIGITS)
  for (let i = 0; i < words.length; i++) starts[(words[i]! >>> shift) & (DIGITS - 1)]!++
  if (starts[(words[0]! >>> shift) & (DIGITS - 1)] === words.length) return undefined
  let sum = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = starts[digit]!
    starts[digit] = sum
    sum += count
  }
  return starts
}
