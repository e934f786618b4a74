import { hasUndecodable } from './read-text.ts'
import type { RowText } from './split-rows.ts'

/** A record of a CSV file, or a line that cannot be part of one. */
interface CsvRecord extends RowText {
  /** Fields; an empty one is null, a quoted empty one an empty text. */
  fields: (string | null)[]
}

/** Maximum length of a field over several lines, in characters; beyond it the quote counts as unclosed. */
const MAX_QUOTED_LENGTH = 16 * 2 ** 20

const NOT_CLOSED = 'a quote is opened and not closed'
export const NOT_UTF8 = 'it has bytes that are not UTF-8; save the file as UTF-8, or give its --encoding'

/**
 * Splits lines of CSV (RFC 4180) into records. A line with a wrong quote is reported with its problem, and reading continues with the
 * next line: the parsers of published packages stop there, or take all lines up to the next quote for a part of the field.
 */
export async function* splitCsv(lines: AsyncIterable<RowText>, delimiter: string): AsyncGenerator<CsvRecord> {
  const splitter = new CsvSplitter(delimiter)
  for await (const line of lines) yield* splitter.push(line)
  yield* splitter.end()
}

/** Fields of one line; none if it is not a complete record. */
export function csvFields(text: string, delimiter: string): (string | null)[] {
  const [record] = new CsvSplitter(delimiter).push({ line: 1, text })
  return record && !record.problem ? record.fields : []
}

class CsvSplitter {
  /** Start of the open record. */
  private lines: RowText[] = []
  private fields: (string | null)[] = []
  /** Start of the open quoted field. */
  private value = ''

  constructor(private readonly delimiter: string) {}

  *push(line: RowText): Generator<CsvRecord> {
    // Lines to process, in reverse order.
    const open = [line]
    for (let next = open.pop(); next; next = open.pop()) {
      const isFirst = this.lines.length === 0
      if (isFirst && !next.problem && !next.text.includes('"')) {
        const text = next.text.endsWith('\r') ? next.text.slice(0, -1) : next.text
        if (text !== '') yield record(next, text.split(this.delimiter).map(orNull))
        continue
      }
      this.lines.push(next)
      const outcome = next.problem ? { problem: next.problem } : this.addLine(next.text, isFirst)
      if (outcome === 'open') continue
      const { lines, fields } = this
      this.lines = []
      this.fields = []
      const [first, ...others] = lines
      if (outcome === 'whole') {
        yield record({ line: first!.line, text: lines.map(({ text }) => text).join('\n') }, fields)
        continue
      }
      // The lines after it may be records of their own.
      for (const other of others.reverse()) open.push(other)
      yield { ...first!, fields: [], ...outcome }
    }
  }

  *end(): Generator<CsvRecord> {
    while (this.lines.length > 0) {
      const [first, ...others] = this.lines
      this.lines = []
      this.fields = []
      yield { ...first!, fields: [], problem: NOT_CLOSED }
      for (const other of others) yield* this.push(other)
    }
  }

  /** @returns `whole` if the record ends with this line, `open` if it continues, or the problem of the line */
  private addLine(text: string, isFirst: boolean): 'whole' | 'open' | { problem: string } {
    const { delimiter, fields } = this
    const length = text.endsWith('\r') ? text.length - 1 : text.length
    let isQuoted = !isFirst
    if (isQuoted) this.value += '\n'
    for (let at = 0; ; ) {
      if (isQuoted) {
        const quote = text.indexOf('"', at)
        this.value += text.slice(at, quote < 0 ? undefined : quote)
        if (quote < 0) return this.value.length > MAX_QUOTED_LENGTH ? { problem: NOT_CLOSED } : 'open'
        at = quote + 1
        if (text[at] === '"') {
          this.value += '"'
          at++
          continue
        }
        fields.push(this.value)
        if (at === length) return 'whole'
        if (!text.startsWith(delimiter, at)) {
          const next = JSON.stringify(text.slice(at, at + 20))
          return { problem: `a quote ends a field before ${next}; inside a field it is written twice` }
        }
        at += delimiter.length
        isQuoted = false
        continue
      }
      if (text[at] === '"') {
        this.value = ''
        isQuoted = true
        at++
        continue
      }
      const end = text.indexOf(delimiter, at)
      const field = text.slice(at, end < 0 ? length : end)
      if (field.includes('"')) return { problem: 'a quote inside a field that does not begin with one' }
      fields.push(orNull(field))
      if (end < 0) return 'whole'
      at = end + delimiter.length
    }
  }
}

const orNull = (field: string): string | null => (field === '' ? null : field)

const record = (text: RowText, fields: (string | null)[]): CsvRecord =>
  hasUndecodable(text.text) ? { ...text, fields, problem: NOT_UTF8 } : { ...text, fields }
