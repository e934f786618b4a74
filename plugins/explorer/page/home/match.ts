/** Entries of the palette that match the typed text. */

export interface Entry {
  readonly title: string
  readonly kind: string
  readonly link: string
}

const MAX_FOUND = 20

/** Matches, the best first: titles that begin with the text, have a word that does, contain it, or contain its letters in order. */
export function findEntries(entries: readonly Entry[], text: string): Entry[] {
  const searchText = text.trim().toLowerCase()
  return entries
    .map((entry, at) => ({ entry, at, score: score(entry.title.toLowerCase(), searchText) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => entry)
}

function score(title: string, searchText: string): number {
  if (searchText === '' || title.startsWith(searchText)) return 4
  const at = title.indexOf(searchText)
  if (at > 0) return /\W/.test(title[at - 1]!) ? 3 : 2
  return hasLetters(title, searchText) ? 1 : 0
}

/** Returns true if the letters occur in this order: `cty` in `city`. */
function hasLetters(title: string, searchText: string): boolean {
  let from = 0
  for (const letter of searchText) {
    from = title.indexOf(letter, from) + 1
    if (from === 0) return false
  }
  return true
}

/** Parses `City 12`: the name of a dataclass and a key. */
export function keyedEntry(
  text: string,
  dataClasses: readonly string[],
): { readonly dataClass: string; readonly key: string } | undefined {
  const [, name = '', key = ''] = /^\s*(\S+)\s+(.*\S)\s*$/s.exec(text) ?? []
  const dataClass = dataClasses.find(each => each.toLowerCase() === name.toLowerCase())
  return dataClass === undefined ? undefined : { dataClass, key }
}
