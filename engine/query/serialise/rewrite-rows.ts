import type { ByteWriter } from '../../answer/byte-writer.ts'
import { parseExact, stringifyExact } from '../../base/exact-json.ts'
import type { RowFormat } from '../contract/request.ts'

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [QUOTE, BACKSLASH, NEW_LINE] = [0x22, 0x5c, 0x0a]
/** Fields that match are quoted. Source: RFC 4180, 2. */
const QUOTED = /[",\r\n]|^\s|\s$/

/**
 * Rewrites a JSON array of entities as lines: the entities unchanged (NDJSON), or their values (CSV, RFC 4180). The text may arrive in
 * pieces that end anywhere; it has no blanks outside of strings. Texts that spreadsheets treat as formulas are not changed: a client that
 * loads the file again must get the same values.
 */
export class RowRewriter {
  private depth = 0
  private isInText = false
  private isEscaped = false
  /** Pieces of a row whose end has not arrived. */
  private pieces: Uint8Array[] = []

  constructor(
    private readonly out: ByteWriter,
    private readonly format: RowFormat,
  ) {
    if (format.kind === 'csv') this.line(format.columns.map(path => path.join('.')))
  }

  write(json: Uint8Array): void {
    let start = 0
    for (let at = 0; at < json.length; at++) {
      const byte = json[at]!
      if (this.isInText) {
        if (this.isEscaped) this.isEscaped = false
        else if (byte === BACKSLASH) this.isEscaped = true
        else if (byte === QUOTE) this.isInText = false
      } else if (byte === QUOTE) this.isInText = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++this.depth === 2) start = at
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (--this.depth === 1) {
          this.row(json.subarray(start, at + 1))
        }
      }
    }
    // The memory of a piece is only borrowed, so its bytes are copied.
    if (this.depth > 1) this.pieces.push(new Uint8Array(json.subarray(start)))
  }

  private row(end: Uint8Array): void {
    const row = this.pieces.length === 0 ? end : Buffer.concat([...this.pieces, end])
    this.pieces = []
    if (this.format.kind === 'lines') {
      this.out.copy(row)
      this.out.byte(NEW_LINE)
      return
    }
    const entity = parseExact(Buffer.from(row.buffer, row.byteOffset, row.length).toString(), 'numbers')
    // A deleted entity has only its stamp.
    if ('__KEY' in (entity as object)) this.line(this.format.columns.map(path => fieldOf(valueAt(entity, path))))
  }

  private line(fields: readonly (string | null)[]): void {
    this.out.text(`${fields.map(quoteField).join(',')}\r\n`)
  }
}

/** Value at a path; for an array, the array of its elements' values. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(value)) return value.map(element => valueAt(element, path))
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
  return valueAt((value as Readonly<Record<string, unknown>>)[name], rest)
}

function fieldOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : stringifyExact(value)
}

/** An empty text is quoted, so that it is not null. */
const quoteField = (field: string | null): string =>
  field === null ? '' : field === '' || QUOTED.test(field) ? `"${field.replaceAll('"', '""')}"` : field
