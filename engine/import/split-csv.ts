import type { RowText } from './split-rows.ts'

/** Maximum length of a field over several lines, in characters; above it, the quote is treated as unclosed. */
const MAX_QUOTED_LENGTH = 16 * 2 ** 20

/** Maximum number of fields of a record, above any reasonable number: fields take twenty times the memory of their text. */
export const MAX_FIELDS = 32_768
export const TOO_MANY_FIELDS = `more than ${MAX_FIELDS} fields; is this the right delimiter?`

export const NOT_CLOSED = 'a quote is opened and not closed'

/**
 * Joins lines of CSV (RFC 4180) to records. A line with a wrong quote is reported with its problem, and reading continues with the next
 * line: the parsers of published packages stop there, or treat all lines up to the next quote as part of the field.
 */
export class CsvSplitter {
  /** Start of the open record. */
  private lines: RowText[] = []
  private fields: (string | null)[] = []
  /** Start of the open quoted field. */
  private value = ''

  constructor(private readonly delimiter: string) {}

  /** True within a record: a quote has been opened in an earlier line. */
  get isOpen(): boolean {
    return this.lines.length > 0
  }

  /** Takes the next line. @param records receives each record that ends with it */
  push(line: RowText, records: RowText[]): void {
    // A line without quotes is a record.
    if (this.lines.length === 0 && !line.problem && !line.text.includes('"')) {
      if (line.text !== '' && line.text !== '\r') records.push(line)
    } else this.join(line, records)
  }

  /** Fields of a record that {@link push} has found, the first {@link MAX_FIELDS} and one more. */
  split(text: string): (string | null)[] {
    if (!text.includes('"'))
      return (text.endsWith('\r') ? text.slice(0, -1) : text).split(this.delimiter, MAX_FIELDS + 1).map(orNull)
    this.fields = []
    const outcome = this.addLine(text, true)
    return outcome === 'whole' ? this.fields : []
  }

  /** Handles the end of the file. */
  end(records: RowText[]): void {
    while (this.lines.length > 0) {
      const [first, ...others] = this.lines
      this.lines = []
      records.push({ ...first!, problem: NOT_CLOSED })
      for (const other of others) this.push(other, records)
    }
  }

  private join(line: RowText, records: RowText[]): void {
    // Lines to process, in reverse order.
    const open = [line]
    for (let next = open.pop(); next; next = open.pop()) {
      const isFirst = this.lines.length === 0
      if (isFirst && !next.problem && !next.text.includes('"')) {
        this.push(next, records)
        continue
      }
      if (isFirst) this.fields = []
      this.lines.push(next)
      const outcome = next.problem ? { problem: next.problem } : this.addLine(next.text, isFirst)
      if (outcome === 'open') continue
      const { lines } = this
      this.lines = []
      const [first, ...others] = lines
      if (outcome === 'whole') {
        records.push({ line: first!.line, text: lines.map(({ text }) => text).join('\n') })
        continue
      }
      // The following lines may be separate records.
      for (const other of others.reverse()) open.push(other)
      records.push({ ...first!, ...outcome })
    }
  }

  /** @returns `whole` if the record ends with this line, `open` if it continues, or the problem of the line */
  private addLine(text: string, isFirst: boolean): 'whole' | 'open' | { problem: string } {
    const { delimiter, fields } = this
    const length = text.endsWith('\r') ? text.length - 1 : text.length
    let isQuoted = !isFirst
    if (isQuoted) this.value += '\n'
    for (let at = 0; ; ) {
      if (fields.length > MAX_FIELDS) return { problem: TOO_MANY_FIELDS }
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
      // Programs write ="0042" so that Excel keeps the text as it is.
      const quoteAt = text[at] === '=' ? at + 1 : at
      if (text[quoteAt] === '"') {
        this.value = ''
        isQuoted = true
        at = quoteAt + 1
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
