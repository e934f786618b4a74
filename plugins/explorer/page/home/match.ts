/** Entries of the palette that fit what was typed. */

export interface Entry {
  readonly title: string
  readonly kind: string
  readonly link: string
}

const MAX_FOUND = 20

/** The best first: a title that begins with the text, one with a word that does, one that holds it, one with its letters. */
export function found(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase()
  return entries
    .map((entry, at) => ({ entry, at, score: score(entry.title.toLowerCase(), wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => entry)
}

function score(title: string, wanted: string): number {
  if (wanted === '' || title.startsWith(wanted)) return 4
  const at = title.indexOf(wanted)
  if (at > 0) return /\W/.test(title[at - 1]!) ? 3 : 2
  return hasLetters(title, wanted) ? 1 : 0
}

/** Whether the letters are there in their order: `cty` in `city`. */
function hasLetters(title: string, wanted: string): boolean {
  let from = 0
  for (const letter of wanted) {
    from = title.indexOf(letter, from) + 1
    if (from === 0) return false
  }
  return true
}

/** `City 12`: the name of a dataclass and a key. */
export function keyedEntry(
  text: string,
  dataClasses: readonly string[],
): { readonly dataClass: string; readonly key: string } | undefined {
  const [, name = '', key = ''] = /^\s*(\S+)\s+(.*\S)\s*$/s.exec(text) ?? []
  const dataClass = dataClasses.find(each => each.toLowerCase() === name.toLowerCase())
  return dataClass === undefined ? undefined : { dataClass, key }
}
