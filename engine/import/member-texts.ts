/**
 * Texts of the members of a JSON object, as they are written: a number has its digits, an object its brackets.
 * @param json known to be valid
 */
export const memberTexts = (json: string): Map<string, string> =>
  new Map(Array.from(memberRanges(json), ([name, [start, end]]) => [name, json.slice(start, end)]))

/**
 * Positions of the values in a JSON object, by the names of its members: start and end. If several members have the same name, the last one
 * is used.
 * @param json known to be valid
 */
export function memberRanges(json: string): Map<string, readonly [number, number]> {
  const members = new Map<string, readonly [number, number]>()
  let depth = 0
  let name: string | undefined
  let start = 0
  for (let i = 0; i < json.length; i++) {
    const character = json[i]!
    if (character === '"') {
      const end = endOfString(json, i)
      if (depth === 1 && name === undefined) name = JSON.parse(json.slice(i, end)) as string
      i = end - 1
    } else if (character === ':' && depth === 1) start = i + 1
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']' || character === ',') {
      if (depth === 1 && name !== undefined) {
        const value = json.slice(start, i)
        members.set(name, [i - value.trimStart().length, start + value.trimEnd().length])
        name = undefined
      }
      if (character !== ',') depth--
    }
  }
  return members
}

/** Index after the quote that ends a string. @param start index of the quote before it */
function endOfString(json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}
