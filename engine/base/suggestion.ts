import { distance } from 'fastest-levenshtein'

/**
 * `; did you mean "employer"?` with the nearest of `candidates`, or an empty text when none is near enough to help.
 * `candidates` may hold only names that the reader may know: a message must not reveal what is not exposed.
 */
export function suggestion(word: string, candidates: Iterable<string>): string {
  // A client controls the length of `word`, and the cost of the distance is the product of both lengths.
  if (word.length > 100) return ''
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const name of candidates) {
    const d = distance(word.toLowerCase(), name.toLowerCase())
    if (d < bestDistance) {
      best = name
      bestDistance = d
    }
  }
  return best === undefined ? '' : `; did you mean "${best}"?`
}
