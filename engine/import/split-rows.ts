/** The text of a row, and the line of the file on which it starts, counted from 1. */
export interface RowText {
  line: number
  text: string
  /** Reason why it is not a row. */
  problem?: string
}

/** Maximum length of a row, in characters, above any reasonable length. */
export const MAX_ROW_LENGTH = 256 * 2 ** 20
/** Maximum number of characters of a list that are read again after unclosed brackets: an element may contain many of them. */
const MAX_READ_AGAIN = 2 ** 26
/** Characters that are kept of a text that is not a row. */
const KEPT_LENGTH = 64 * 1024

/** Lines of a text that are not blank, trimmed and grouped by part. */
export async function* splitLines(parts: AsyncIterable<string>): AsyncGenerator<RowText[]> {
  for await (const rows of rawLines(parts)) {
    for (const row of rows) row.text = row.text.trim()
    yield rows.filter(({ text }) => text !== '')
  }
}

/**
 * All lines of a text, unchanged, without the line feeds. They are grouped by part, because a million single rows are slow in a chain of
 * generators. In a text without line feeds, carriage returns end the lines.
 */
export async function* rawLines(parts: AsyncIterable<string>): AsyncGenerator<RowText[]> {
  let line = 1
  let newline: string | undefined
  let pieces: string[] = []
  let restLength = 0
  let isTooLong = false
  /** A carriage return at the end of the part before, which may be the first half of a line end. */
  let held = ''
  const take = (last: string): RowText => {
    const text = pieces.join('') + last
    const row = isTooLong ? { line, text: text.slice(0, KEPT_LENGTH), problem: TOO_LONG } : { line, text }
    pieces = []
    restLength = 0
    isTooLong = false
    line++
    return row
  }
  for await (let part of parts) {
    if (!newline) {
      part = held + part
      held = !part.includes('\n') && part.endsWith('\r') ? '\r' : ''
      part = part.slice(0, part.length - held.length)
      newline = part.includes('\n') ? '\n' : part.includes('\r') ? '\r' : undefined
      if (newline) part += held
      if (newline) held = ''
    }
    let start = 0
    const rows: RowText[] = []
    for (let end = newline ? part.indexOf(newline) : -1; end >= 0; end = part.indexOf(newline!, start)) {
      rows.push(take(isTooLong ? '' : part.slice(start, end)))
      start = end + 1
    }
    if (rows.length > 0) yield rows
    if (isTooLong) continue
    pieces.push(part.slice(start))
    restLength += part.length - start
    isTooLong = restLength > MAX_ROW_LENGTH
    if (isTooLong) pieces = [pieces.join('').slice(0, KEPT_LENGTH)]
  }
  yield [take(isTooLong ? '' : held)]
}

/**
 * Splits a JSON array into its elements, as they are written. Only brackets and quotes are examined, so that an error inside an
 * element affects that element alone. A string ends at the end of its line at the latest, as JSON demands. An element whose
 * brackets do not close ends at the next line that begins like its own.
 */
export class ArraySplitter {
  /** Text after the array; undefined before its end. */
  rest: string | undefined
  private depth = 1
  private isInString = false
  private isEscaped = false
  private isOver = false
  /** Text since the comma before the element. */
  private element = ''
  /** Line of the first character of the element; undefined before that. */
  private elementLine: number | undefined
  /** White space since the line began; undefined after another character. */
  private margin: string | undefined
  /** Indentation of elements, once an element with unclosed brackets has been found. */
  private strictMargin: string | undefined
  private readAgain = 0

  /** @param line of the first character after the bracket with which the array begins */
  constructor(public line = 1) {}

  *push(part: string): Generator<RowText> {
    let start = 0
    for (let i = 0; i < part.length && !this.isOver; i++) {
      const character = part[i]!
      if (character === '\n') {
        this.line++
        this.margin = ''
        this.isInString = false
        this.isEscaped = false
        continue
      }
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false
        else if (character === '\\') this.isEscaped = true
        else if (character === '"') this.isInString = false
        continue
      }
      if (character === ' ' || character === '\r' || character === '\t') {
        if (this.margin !== undefined) this.margin += character
        continue
      }
      const { margin } = this
      this.margin = undefined
      if (this.depth === 1 && (character === ',' || character === ']')) {
        this.isOver = character === ']'
        if (this.isOver) this.rest = part.slice(i + 1)
        const text = (this.element + part.slice(start, i)).trim()
        if (this.elementLine !== undefined || !this.isOver) yield { line: this.elementLine ?? this.line, text }
        this.element = ''
        this.elementLine = undefined
        start = i + 1
      } else {
        if (this.depth > 1 && character === '{' && margin !== undefined && margin === this.strictMargin) {
          const text = this.element + part.slice(start, i)
          yield this.unclosed(text)
          this.element = ''
          this.elementLine = undefined
          start = i
          this.depth = 1
        }
        this.elementLine ??= this.line
        if (character === '"') this.isInString = true
        else if (character === '[' || character === '{') this.depth++
        else if ((character === ']' || character === '}') && this.depth > 1) this.depth--
      }
    }
    if (!this.isOver) this.element += part.slice(start)
    if (this.element.length > MAX_ROW_LENGTH) yield* this.recover(TOO_LONG)
  }

  *end(): Generator<RowText> {
    if (this.isOver) return
    // Text after unclosed brackets may contain further elements.
    while (!this.isOver && (this.depth > 1 || this.hasOtherRows())) yield* this.recover(`its brackets do not close`)
    if (this.isOver) return
    const text = this.element.trim()
    if (this.elementLine !== undefined) yield { line: this.elementLine, text }
    yield { line: this.line, text: '', problem: 'the file ends inside the array' }
  }

  /** True if the last element contains others: the bracket of the array, or one in the text after it, has closed the element. */
  private hasOtherRows(): boolean {
    // Once, since each attempt reads the rest.
    if (this.strictMargin !== undefined || this.elementLine === undefined) return false
    if (!/\n[ \t]*\{/.test(this.element.trimStart())) return false
    try {
      JSON.parse(this.element)
      return false
    } catch {
      return true
    }
  }

  /** Abandons the element, and continues at a line that begins like the element's own. */
  private *recover(problem: string): Generator<RowText> {
    const { element } = this
    const first = element.length - element.trimStart().length
    const lineStart = element.lastIndexOf('\n', first)
    // An element in the middle of a line is followed by elements that begin a line.
    const margin = lineStart < 0 ? /,[ \t\r]*\n([ \t]*)\{/.exec(element)?.[1] : element.slice(lineStart + 1, first)
    const next = margin === undefined || this.readAgain > MAX_READ_AGAIN ? -1 : element.indexOf(`\n${margin}{`, first)
    const row = { ...this.unclosed(next < 0 ? element : element.slice(0, next)), problem }
    yield row
    this.element = ''
    this.elementLine = undefined
    this.isInString = false
    this.isEscaped = false
    this.margin = undefined
    this.depth = 1
    if (next < 0) return
    this.strictMargin = margin
    this.readAgain += element.length - next
    this.line = row.line + element.slice(first, next).split('\n').length - 1
    yield* this.push(element.slice(next))
  }

  private unclosed(text: string): RowText {
    return { line: this.elementLine!, text: text.trim().slice(0, KEPT_LENGTH), problem: 'its brackets do not close' }
  }
}

/** Problem of a longer row. */
export const TOO_LONG = `a row of more than ${MAX_ROW_LENGTH} characters; is this the right format?`
