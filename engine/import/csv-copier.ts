import type { Attribute } from '../catalog/attribute.ts'
import type { PlainForm } from '../catalog/types/plain-form.ts'
import type { StorageType } from '../catalog/value-type.ts'
import type { RowCopier } from '../write/body/row-copier.ts'
import type { RowFormat, RowReader } from './row-reader.ts'

const QUOTE = 0x22
const CARRIAGE_RETURN = 0x0d

interface Column {
  readonly attribute: Attribute
  readonly slot: number
  /** True if the value is the text of the field, unless it is empty. */
  readonly isDirect: boolean
}

/** Encodes rows of CSV from their bytes. */
export class CsvCopier {
  private readonly delimiter: number

  private constructor(
    private readonly reader: RowReader,
    private readonly copier: RowCopier,
    { delimiter }: NonNullable<RowFormat['csv']>,
    private readonly columns: readonly (Column | undefined)[],
  ) {
    this.delimiter = delimiter.charCodeAt(0)
  }

  /** @returns undefined for rows that have to be read in another way */
  static of(reader: RowReader, copier: RowCopier, format: RowFormat): CsvCopier | undefined {
    const { csv } = format
    if (!csv || !/^[\x20-\x7f\t]$/.test(csv.delimiter) || csv.delimiter === '"') return undefined
    const columns: (Column | undefined)[] = csv.attributes.map(() => undefined)
    for (const attribute of reader.attributes!) {
      const slot = copier.slotOf(attribute.name)
      if (slot === undefined) return undefined
      columns[csv.attributes.indexOf(attribute.name)] = {
        attribute,
        slot,
        isDirect: isDirect(attribute, copier.formOf(slot), format),
      }
    }
    return new CsvCopier(reader, copier, csv, columns)
  }

  /**
   * Encodes the row `source[start…end]`, which is UTF-8.
   * @returns false if it has to be read in another way, which tells what is wrong with it if anything is
   */
  copy(source: Buffer, start: number, end: number): boolean {
    const { columns, delimiter, copier } = this
    const stop = source[end - 1] === CARRIAGE_RETURN ? end - 1 : end
    copier.begin(source)
    let at = start
    for (let i = 0; i < columns.length; i++, at++) {
      const isQuoted = at < stop && source[at] === QUOTE
      const fieldStart = isQuoted ? at + 1 : at
      const fieldEnd = isQuoted ? quotedEnd(source, fieldStart, stop) : plainEnd(source, at, stop, delimiter)
      if (fieldEnd < 0) return false
      at = isQuoted ? fieldEnd + 1 : fieldEnd
      // The last field, and only that, ends at the end of the row.
      if (i === columns.length - 1 ? at !== stop : at >= stop || source[at] !== delimiter) return false
      const column = columns[i]
      if (column && !this.take(column, fieldStart, fieldEnd, isQuoted)) return false
    }
    return copier.finish()
  }

  private take({ attribute, slot, isDirect }: Column, start: number, end: number, isQuoted: boolean): boolean {
    const { values } = this.copier
    if (start === end && !isQuoted) {
      values.takeNull(slot)
      return true
    }
    if (isDirect && values.takeBytes(slot, start, end)) return true
    try {
      return values.takeJson(slot, this.reader.jsonOf(attribute, values.source.toString('utf8', start, end)))
    } catch {
      return false
    }
  }
}

/** End of a field that begins after a quote; -1 if it has quotes inside, or no end. */
function quotedEnd(source: Buffer, start: number, stop: number): number {
  let at = start
  while (at < stop && source[at] !== QUOTE) at++
  return at < stop && source[at + 1] !== QUOTE ? at : -1
}

/** End of a field without quotes; -1 if it has one. */
function plainEnd(source: Buffer, start: number, stop: number, delimiter: number): number {
  let at = start
  for (; at < stop; at++) {
    const byte = source[at]
    if (byte === delimiter) break
    if (byte === QUOTE) return -1
  }
  return at
}

/**
 * True if bytes in the plain form are the value, whatever the format of the file is. Dates in that form are read alike in each order of day,
 * month and year, and no currency can be part of a number.
 */
function isDirect(attribute: Attribute, form: PlainForm | undefined, { decimal, nulls, proposed }: RowFormat): boolean {
  if (!form || attribute.kind !== 'storage' || proposed?.[attribute.name]) return false
  if (attribute.type === 'string') return true
  if (nulls?.map(text => Buffer.from(text)).some(text => form.test(text, 0, text.length))) return false
  // A point may separate thousands.
  return decimal !== ',' || !FRACTIONS.has(attribute.type)
}

/** Types of numbers with a point. */
const FRACTIONS: ReadonlySet<string> = new Set<StorageType>(['number', 'float', 'decimal'])
