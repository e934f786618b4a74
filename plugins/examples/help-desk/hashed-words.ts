/** Numbers of a vector, as in `model.json`. */
const DIMENSION = 256

/**
 * A vector of length 1 from the words of a text: each word adds one at the place that its hash names. Texts with words in common are
 * similar; synonyms are not. This needs no download and gives the same vector everywhere. A model would be called here, in the job that
 * computes vectors: by `fetch` to a service, or in a thread as in `examples/semantic`.
 */
export function hashedWords(text: string): number[] {
  const vector = new Array<number>(DIMENSION).fill(0)
  for (const [word] of text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    vector[hashOf(word) % DIMENSION]! += 1
  }
  const length = Math.hypot(...vector) || 1
  return vector.map(number => number / length)
}

/** FNV-1a, 32 bits. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(word)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
