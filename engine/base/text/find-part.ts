/**
 * Failure function of Knuth, Morris and Pratt: for each position in a part, the length of the longest proper prefix that ends
 * there, with which a search continues after a mismatch.
 */
export function bordersOf(part: ArrayLike<number>): Uint32Array {
  const borders = new Uint32Array(part.length)
  let border = 0
  for (let i = 1; i < part.length; i++) {
    while (border > 0 && part[i] !== part[border]) border = borders[border - 1]!
    if (part[i] === part[border]) border++
    borders[i] = border
  }
  return borders
}

/** Maximum length of a part for `indexOf`; for longer ones V8 uses only their end, which may take the product of both lengths. */
const MAX_INDEX_OF = 250

/** A function like `text.indexOf(part, from)` that takes time in proportion to the length of the text, whatever the two are. */
export function partFinder(part: string): (text: string, from: number) => number {
  if (part.length <= MAX_INDEX_OF) return (text, from) => text.indexOf(part, from)
  const codes = Uint16Array.from({ length: part.length }, (_, i) => part.charCodeAt(i))
  const borders = bordersOf(codes)
  return (text, from) => {
    let matchLength = 0
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      while (matchLength > 0 && code !== codes[matchLength]) matchLength = borders[matchLength - 1]!
      if (code === codes[matchLength]) matchLength++
      if (matchLength === codes.length) return at + 1 - matchLength
    }
    return -1
  }
}
