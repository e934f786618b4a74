import { distance } from 'fastest-levenshtein'

/**
 * `; did you mean "employer"?` with the nearest of `known`, or an empty text when none is near enough to help.
 * `known` may hold only names that the reader may know: a message must not reveal what is not exposed.
 */
export function suggestion(received: string, known: Iterable<string>): string {
  // A client decides how long `received` is; the distance costs the product of both lengths.
  if (received.length > 100) return ''
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(received.length / 3)) + 1
  for (const name of known) {
    const d = distance(received.toLowerCase(), name.toLowerCase())
    if (d < bestDistance) {
      best = name
      bestDistance = d
    }
  }
  return best === undefined ? '' : `; did you mean "${best}"?`
}
