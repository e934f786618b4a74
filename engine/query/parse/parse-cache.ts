/** Size of the tree of a query. Measured: 10 to 100 bytes per character of its text. */
const BYTES_PER_CHARACTER = 100

export interface ParseCacheLimits {
  entries: number
  sizeBytes: number
}

/**
 * Caches a parser: a recent result is found by its text, in about 0.1 µs instead of the 30 µs and more of the grammar. The results are
 * shared and must not be changed. Errors are not cached.
 *
 * The least recently used text is dropped first. A text that would take more than an eighth of the space is not cached, so that a few huge
 * texts cannot displace everything else.
 * @param onLookup called with true if a text was found
 */
export function cachedParser<Tree>(
  parse: (text: string) => Tree,
  limits: ParseCacheLimits,
  onLookup?: (isHit: boolean) => void,
): (text: string) => Tree {
  // A map keeps its insertion order; a used entry moves to the end.
  const trees = new Map<string, { tree: Tree; sizeBytes: number }>()
  let sizeBytes = 0

  return text => {
    const cachedEntry = trees.get(text)
    onLookup?.(cachedEntry !== undefined)
    if (cachedEntry) {
      trees.delete(text)
      trees.set(text, cachedEntry)
      return cachedEntry.tree
    }
    const entry = { tree: parse(text), sizeBytes: text.length * BYTES_PER_CHARACTER }
    if (entry.sizeBytes * 8 > limits.sizeBytes) return entry.tree
    trees.set(text, entry)
    sizeBytes += entry.sizeBytes
    for (const [oldest, { sizeBytes: freedBytes }] of trees) {
      if (trees.size <= limits.entries && sizeBytes <= limits.sizeBytes) break
      trees.delete(oldest)
      sizeBytes -= freedBytes
    }
    return entry.tree
  }
}
