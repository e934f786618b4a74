/**
 * Parses the JSON of an answer. Integers that a double cannot hold become bigints; fractions that it cannot hold become strings of their
 * digits.
 */
export function parseExact(text: string): unknown {
  const places = longNumbers(text)
  if (places.length === 0) return JSON.parse(text)
  const mark = markNotIn(text)
  let markedText = ''
  let from = 0
  for (const { index, digits } of places) {
    markedText += `${text.slice(from, index)}"\\u0000${mark}${digits}"`
    from = index + digits.length
  }
  return JSON.parse(markedText + text.slice(from), (_, value: unknown) => unmark(value, mark))
}

function unmark(value: unknown, mark: string): unknown {
  if (typeof value !== 'string' || !value.startsWith(`\u0000${mark}`)) return value
  const digits = value.slice(mark.length + 1)
  return digits.includes('.') ? digits : BigInt(digits)
}

/**
 * JSON of a request body: bigints as their digits, typed arrays as arrays.
 * @throws {TypeError} for NaN, infinity and invalid dates, which JSON can only represent as null
 */
export function writeExact(value: unknown): string {
  let mark: string | undefined
  const write = (replace: (each: bigint) => string): string =>
    JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, name, each: unknown) {
      // Dates are texts already, invalid ones null.
      const original = this[name]
      if (each === null || typeof each === 'number') refuseUnsendable(original, name || 'the value')
      if (typeof each === 'bigint') return replace(each)
      return ArrayBuffer.isView(each) ? Array.from(each as Float32Array) : each
    })
  const text = write(each => {
    mark = ''
    return String(each)
  })
  if (mark === undefined) return text
  mark = markNotIn(text)
  return write(each => `\u0000${mark}${each}`).replace(new RegExp(`"\\\\u0000${mark}(-?\\d+)"`, 'g'), '$1')
}

/** @throws {TypeError} JSON would replace the value by null */
export function refuseUnsendable(value: unknown, name: string): void {
  const isInvalid = value instanceof Date && Number.isNaN(value.getTime())
  if (isInvalid || (typeof value === 'number' && !Number.isFinite(value)))
    throw new TypeError(
      `${name} is ${isInvalid ? 'an invalid Date' : value}, which cannot be sent; send null for no value`,
    )
}

/**
 * Returns a number and a letter that do not follow a NUL in any string of a JSON document, so that a NUL with both can mark replaced
 * values.
 */
function markNotIn(document: string): string {
  const usedNumbers = new Set<string>()
  const note = (each: unknown): void => {
    if (typeof each === 'string') for (const [, number] of each.matchAll(MARK)) usedNumbers.add(number!)
  }
  // NUL has only one spelling in JSON. The characters after it have several, so the texts must be parsed.
  if (document.includes('\\u0000')) {
    JSON.parse(document, (name, value: unknown) => {
      note(name)
      note(value)
      return value
    })
  }
  let number = 0
  while (usedNumbers.has(String(number))) number++
  return `${number}n`
}

const MARK = /\0(\d{1,9})n/g

/** Maximum number of characters at which a double holds every number. */
const SHORT = 15

/** Numbers that lose digits as doubles, with their positions. */
function longNumbers(text: string): { index: number; digits: string }[] {
  const numbers = []
  const texts = new Texts(text)
  // A longer number covers one of these positions, so the characters between them can be skipped.
  for (let at = SHORT; at < text.length; at += SHORT + 1) {
    if (!isDigit(text, at)) continue
    let index = at
    while (isDigit(text, index - 1)) index--
    while (isDigit(text, at + 1)) at++
    if (at - index < SHORT || String(Number(text.slice(index, at + 1))) === text.slice(index, at + 1)) continue
    if (text.charAt(index - 1) === '-') index--
    const outside = texts.endAround(index)
    const isPower = /[eE+]/.test(text.charAt(index - 1)) || /[eE]/.test(text.charAt(at + 1))
    if (outside > index) at = outside
    else if (!isPower) numbers.push({ index, digits: text.slice(index, at + 1) })
  }
  return numbers
}

/** True for digits and the point. The slash, which is between them in Unicode, occurs only in strings. */
function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code > 45 && code < 58
}

/** Strings of a JSON document, visited once from first to last. */
class Texts {
  readonly #document: string
  /** Index of the opening quote of the first string not visited yet; negative if there is none. */
  #open: number

  constructor(document: string) {
    this.#document = document
    this.#open = document.indexOf('"')
  }

  /** @param index at least the index of the previous call @returns the index if it is outside strings, otherwise the end of its string */
  endAround(index: number): number {
    while (this.#open >= 0 && this.#open < index) {
      const end = endOfText(this.#document, this.#open)
      this.#open = this.#document.indexOf('"', end)
      if (end > index) return end
    }
    return index
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
