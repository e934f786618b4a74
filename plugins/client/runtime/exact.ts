/**
 * Parses the JSON of an answer. Integers that a double cannot hold become bigints, fractions that it cannot hold the texts of
 * their digits.
 */
export function parseExact(text: string): unknown {
  const places = longNumbers(text)
  if (places.length === 0) return JSON.parse(text)
  const mark = markNotIn(text)
  let quoted = ''
  let from = 0
  for (const { index, digits } of places) {
    quoted += `${text.slice(from, index)}"\\u0000${mark}${digits}"`
    from = index + digits.length
  }
  return JSON.parse(quoted + text.slice(from), (_, value: unknown) => unmarked(value, mark))
}

function unmarked(value: unknown, mark: string): unknown {
  if (typeof value !== 'string' || !value.startsWith(`\u0000${mark}`)) return value
  const digits = value.slice(mark.length + 1)
  return digits.includes('.') ? digits : BigInt(digits)
}

/** JSON of a request body: bigints as their digits, typed arrays as arrays. */
export function writeExact(value: unknown): string {
  let mark: string | undefined
  const write = (replace: (each: bigint) => string): string =>
    JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'bigint' ? replace(each) : ArrayBuffer.isView(each) ? Array.from(each as Float32Array) : each,
    )
  const text = write(each => {
    mark = ''
    return String(each)
  })
  if (mark === undefined) return text
  mark = markNotIn(text)
  return write(each => `\u0000${mark}${each}`).replace(new RegExp(`"\\\\u0000${mark}(-?\\d+)"`, 'g'), '$1')
}

/** Returns letters that follow no NUL in a JSON text, so that NUL and these letters can mark what is replaced. */
function markNotIn(text: string): string {
  let mark = 'n'
  while (text.includes(`\\u0000${mark}`)) mark += 'n'
  return mark
}

/** Characters of a number that a double holds in any case. */
const SHORT = 15

/** Numbers that lose digits as doubles, with their positions. */
function longNumbers(text: string): { index: number; digits: string }[] {
  const found = []
  // Everything before this index has been scanned, and the index itself is not inside a text.
  let outside = 0
  // A longer number covers one of these places, so the characters between them need not be looked at.
  for (let at = SHORT; at < text.length; at += SHORT + 1) {
    if (!isDigit(text, at)) continue
    let index = at
    while (isDigit(text, index - 1)) index--
    while (isDigit(text, at + 1)) at++
    if (at - index < SHORT || String(Number(text.slice(index, at + 1))) === text.slice(index, at + 1)) continue
    if (text.charAt(index - 1) === '-') index--
    outside = endOfTextAround(text, outside, index)
    if (outside > index) at = outside
    else if (!/[eE]/.test(text.charAt(at + 1))) found.push({ index, digits: text.slice(index, at + 1) })
  }
  return found
}

/** True for digits and the point; the slash between them in Unicode occurs in texts alone. */
function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code > 45 && code < 58
}

/** @returns `index` if it is not inside a text, otherwise the end of that text */
function endOfTextAround(text: string, from: number, index: number): number {
  for (let at = from; ; ) {
    const open = text.indexOf('"', at)
    if (open < 0 || open > index) return index
    at = endOfText(text, open)
    if (at > index) return at
  }
}

function endOfText(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close > 0; close = text.indexOf('"', close + 1)) {
    let before = close
    while (text.charAt(before - 1) === '\\') before--
    if ((close - before) % 2 === 0) return close + 1
  }
  return text.length
}
