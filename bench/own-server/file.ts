/** `start`, followed by bytes that look random and are always the same for a seed. */
export function fileOf(size: number, seed: number, start: Uint8Array = new Uint8Array(0)): Buffer {
  const words = new Uint32Array(Math.ceil(size / 4))
  let state = (seed * 2_654_435_761 + 88_172_645) >>> 0
  for (let i = 0; i < words.length; i++) {
    // xorshift32: Marsaglia (2003).
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[i] = state
  }
  const file = Buffer.from(words.buffer, 0, size)
  file.set(start)
  return file
}
