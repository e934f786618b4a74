/** Texts in an area of the browser, which shows every line end as `\n`. */

/** The text as an area shows it. */
export const withPlainEnds = (text: string): string => text.replace(/\r\n?/g, '\n')

/**
 * The text after a user has changed what the area shows. Line ends outside the changed part stay as they are; new ones are like those of
 * the stored text if these are all alike, else LF.
 * @param before the previous text
 */
export function restoreEnds(storedText: string, before: string, typed: string): string {
  if (typed === withPlainEnds(storedText)) return storedText
  const shownText = withPlainEnds(before)
  const most = Math.min(shownText.length, typed.length)
  let front = 0
  while (front < most && shownText[front] === typed[front]) front++
  let back = 0
  while (back < most - front && shownText[shownText.length - 1 - back] === typed[typed.length - 1 - back]) back++
  const insertion = typed.slice(front, typed.length - back).replaceAll('\n', lineEndOf(storedText))
  const head = before.slice(0, placeIn(before, front))
  return join(join(head, insertion), before.slice(placeIn(before, shownText.length - back)))
}

/** Joins two parts of a text such that a CR and an LF do not become one line end. */
const join = (head: string, tail: string): string =>
  (tail.startsWith('\n') ? head.replace(/\r+$/, ends => '\n'.repeat(ends.length)) : head) + tail

/** Converts a position in the text that an area shows to a position in the stored text. */
function placeIn(text: string, position: number): number {
  let at = 0
  for (let count = 0; count < position; count++) at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1
  return at
}

function lineEndOf(text: string): string {
  const ends = new Set(text.match(/\r\n?|\n/g))
  const [only = '\n'] = ends
  return ends.size === 1 ? only : '\n'
}
