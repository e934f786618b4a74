import { parse } from 'secure-json-parse'
import type { Attribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { counted } from '../base/counted.ts'
import { parseExact, stringifyExact } from '../base/exact-json.ts'
import { exactness, isJsonObject } from '../write/parse-body.ts'
import { type ForeignFormat, readForeign } from './foreign-values.ts'
import { hasUndecodable } from './read-text.ts'
import { CsvSplitter } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** How the texts of rows are read: plain data, for the threads that read them. */
export interface RowFormat extends ForeignFormat {
  /** Columns of CSV. Undefined: each row is a JSON object. */
  readonly csv?: { readonly delimiter: string; readonly attributes: readonly (string | null)[] } | undefined
  /** Attributes by the names of properties of JSON rows, where they differ; null for a property that is left out. */
  readonly names?: Readonly<Record<string, string | null>> | undefined
}

/** A row as read from its text. */
export interface ReadRow {
  /** The JSON object as it was written, so that long integers keep their digits; or whatever the file has in its place. */
  json: string
  /** The parsed object, or the reason why it cannot be parsed. */
  value: Record<string, unknown> | Error
  /** Fields of CSV as they were written. */
  raw?: () => Record<string, unknown>
}

interface CsvColumns {
  readonly splitter: CsvSplitter
  /** Number of columns. */
  readonly count: number
  /** Attributes of those that are read. */
  readonly attributes: readonly Attribute[]
  /** Their indexes. */
  readonly indexes: readonly number[]
}

const NOT_UTF8 = 'it has bytes that are not UTF-8; save the file as UTF-8, or give its --encoding'
const ROW_OF_ERRORS = '],"row":'

/** Reads the texts of rows of one file. */
export class RowReader {
  /** Keeps the digits of long numbers where the dataclass has them. */
  private readonly parse: (text: string) => unknown
  private readonly csv: CsvColumns | undefined

  constructor(
    private readonly dataClass: DataClass,
    private readonly format: RowFormat,
  ) {
    const { csv } = format
    const exact = exactness(dataClass)
    this.parse = exact ? text => parseExact(text, exact === 'numbers') : parse
    const { attributesByName } = dataClass
    this.csv = csv && {
      splitter: new CsvSplitter(csv.delimiter),
      count: csv.attributes.length,
      attributes: csv.attributes.flatMap(name => (name === null ? [] : [attributesByName.get(name)!])),
      indexes: csv.attributes.flatMap((name, index) => (name === null ? [] : [index])),
    }
  }

  /** The value of an invalid row is an error. */
  read({ text, problem }: RowText): ReadRow {
    if (problem !== undefined) return { json: text.toWellFormed(), value: new Error(problem) }
    if (hasUndecodable(text)) return { json: text.toWellFormed(), value: new Error(NOT_UTF8) }
    return this.csv ? this.readCsv(text, this.csv) : this.readJson(text)
  }

  /** Attributes of the columns of CSV. */
  get attributes(): readonly Attribute[] | undefined {
    return this.csv?.attributes
  }

  /** JSON values of the columns of a row of CSV; undefined for an invalid row. */
  fields(text: string): unknown[] | undefined {
    if (!this.csv || hasUndecodable(text)) return undefined
    const { splitter, count, attributes, indexes } = this.csv
    const fields = splitter.split(text)
    if (fields.length !== count) return undefined
    try {
      return attributes.map((attribute, i) => csvValue(attribute, fields[indexes[i]!]!, this.format))
    } catch {
      return undefined
    }
  }

  private readCsv(text: string, { splitter, count, attributes, indexes }: CsvColumns): ReadRow {
    const fields = splitter.split(text)
    if (fields.length !== count) {
      const problem = `${counted(fields.length, 'field')} for ${counted(count, 'column')}`
      return { json: JSON.stringify(fields), value: new Error(problem) }
    }
    const row = (read: (attribute: Attribute, field: string | null) => unknown): Record<string, unknown> =>
      Object.fromEntries(
        attributes.map((attribute, i) => [attribute.name, read(attribute, fields[indexes[i]!] ?? null)]),
      )
    const raw = () => row((_, field) => field)
    try {
      const value = row((attribute, field) => csvValue(attribute, field, this.format))
      return { json: JSON.stringify(value), value, raw }
    } catch (error) {
      return { json: JSON.stringify(fields), value: error as SyntaxError, raw }
    }
  }

  private readJson(text: string): ReadRow {
    try {
      const value = this.parse(text)
      if (!isJsonObject(value)) return { json: text, value: new Error('a row is a JSON object') }
      if (isOfErrors(value, this.dataClass)) return this.corrected(text, value.row)
      return this.format.names ? renamed(value, this.format.names) : { json: text, value }
    } catch (error) {
      return { json: text, value: error as SyntaxError }
    }
  }

  /** Row in a line of a file of errors. Its texts are read as CSV fields, which they may have been. */
  private corrected(text: string, row: unknown): ReadRow {
    if (!isJsonObject(row)) return { json: text, value: new Error('"row" is not a JSON object') }
    const raw = () => row
    try {
      const read = Object.entries(row).map(([name, field]): [string, unknown] => {
        const attribute = this.dataClass.attributesByName.get(name)
        return [name, attribute && typeof field === 'string' ? csvValue(attribute, field, this.format) : field]
      })
      const start = text.indexOf(ROW_OF_ERRORS)
      // Keeps the digits of long integers that were not texts.
      const isAsWritten = start > 0 && read.every(([name, field]) => field === row[name])
      const value = Object.fromEntries(read)
      return {
        json: isAsWritten ? text.slice(start + ROW_OF_ERRORS.length, -1) : stringifyExact(value),
        value,
        raw,
      }
    } catch (error) {
      return { json: text, value: error as SyntaxError, raw }
    }
  }
}

function renamed(value: Record<string, unknown>, names: NonNullable<RowFormat['names']>): ReadRow {
  const entries = Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    const attribute = Object.hasOwn(names, name) ? names[name]! : name
    return attribute === null ? [] : [[attribute, each]]
  })
  const row = Object.fromEntries(entries)
  return { json: stringifyExact(row), value: row }
}

/** True for a line of the file of errors of another load. */
const isOfErrors = (
  { line, errors, row, ...others }: Record<string, unknown>,
  { attributesByName }: DataClass,
): boolean =>
  Array.isArray(errors) &&
  typeof line === 'number' &&
  row !== undefined &&
  Object.keys(others).length === 0 &&
  !attributesByName.has('errors')

/** Words for true and false in English, German, Dutch, French, Italian, Spanish and Portuguese. */
const TRUE = /^\s*(?:true|yes|t|y|1|ja|j|wahr|waar|oui|vrai|sì|si|vero|sí|verdadero|sim|verdadeiro)\s*$/i
const FALSE = /^\s*(?:false|no|f|n|0|nein|falsch|nee|onwaar|non|faux|falso|não|nao)\s*$/i

/** JSON value of a field. The server itself reads numbers, dates and keys from text. */
export function csvValue(attribute: Attribute, field: string | null, format: ForeignFormat): unknown {
  if (field === null || attribute.kind !== 'storage') return field
  if (format.nulls && attribute.type !== 'string' && format.nulls.includes(field.trim())) return null
  switch (TYPES[attribute.type].field) {
    case 'json':
      return parse(field)
    case 'bool':
      return TRUE.test(field) ? true : FALSE.test(field) ? false : field
    case 'number':
    case 'date':
    case 'text':
      return readForeign(attribute, field, format)
  }
}
