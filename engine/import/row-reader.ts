import { isJsonObject } from '../base/json-object.ts'
import { parse } from 'secure-json-parse'
import type { Attribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { quantity } from '../base/counted.ts'
import { parseExact, stringifyExact } from '../base/exact-json.ts'
import { keptDigits } from '../write/body/parse-body.ts'
import { attributeName } from './attribute-name.ts'
import { type GeometryColumns, geometryColumnsOf, rowOfFeature } from './features.ts'
import { type ForeignFormat, readForeign } from './foreign-values.ts'
import { memberTexts } from './member-texts.ts'
import { hasUndecodable, NOT_UTF8 } from './read-text.ts'
import { REASONS, ROW, withoutReasons } from './rejected-source.ts'
import { CsvSplitter, MAX_FIELDS } from './split-csv.ts'
import { excessOf } from './row-bounds.ts'
import type { RowText } from './split-rows.ts'
import { cellText } from './table-file.ts'
import { checkValue, type ProposedValues } from './value-form.ts'

/** How the texts of rows are read: plain data, for the threads that read them. */
export interface RowFormat extends ForeignFormat {
  /** Columns of CSV. Undefined: each row is a JSON object. */
  readonly csv?: { readonly delimiter: string; readonly attributes: readonly (string | null)[] } | undefined
  /** Each row is a feature of GeoJSON, see {@link rowOfFeature}. */
  readonly hasFeatures?: boolean | undefined
  /** Attributes by the names of properties of JSON rows, where they differ; null for a property that is left out. */
  readonly names?: Readonly<Record<string, string | null>> | undefined
  /** Origins of the types of proposed columns, by attribute, if the dataclass has been proposed for this file. */
  readonly proposed?: Readonly<Record<string, ProposedValues>> | undefined
}

/** A row as read from its text. */
export interface ReadRow {
  /** The JSON object as it was written, so that long integers keep their digits; or the text that the file has instead of an object. */
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
  /** Attributes of the columns that are read. */
  readonly attributes: readonly Attribute[]
  /** Indexes of the columns that are read. */
  readonly indexes: readonly number[]
}

export const NO_OBJECT = 'a row is a JSON object'
/** Reason for a {@link RangeError} of a recursion. */
export const TOO_DEEP = 'its values are nested too deeply'

/** Reads the texts of rows of one file. */
export class RowReader {
  /** Parses JSON, keeping the digits of long numbers for attributes that store them. */
  private readonly parse: (text: string) => unknown
  private readonly csv: CsvColumns | undefined
  /** Columns of features for their geometry. */
  private readonly geometryColumns: GeometryColumns | undefined

  constructor(
    private readonly dataClass: DataClass,
    private readonly format: RowFormat,
  ) {
    const { csv, names = {} } = format
    const digits = keptDigits(dataClass)
    if (format.hasFeatures) this.geometryColumns = geometryColumnsOf(dataClass, column => nameOf(column, names))
    this.parse = text => parseExact(text, digits)
    const { attributesByName } = dataClass
    this.csv = csv && {
      splitter: new CsvSplitter(csv.delimiter),
      count: csv.attributes.length,
      attributes: csv.attributes.flatMap(name => (name === null ? [] : [attributesByName.get(name)!])),
      indexes: csv.attributes.flatMap((name, index) => (name === null ? [] : [index])),
    }
  }

  /** Reads a row. The value of an invalid row is an error. */
  read(row: RowText): ReadRow {
    const { text } = row
    const problem = problemOf(row)
    if (problem !== undefined) return { json: text.toWellFormed(), value: new Error(problem) }
    if (this.csv) return this.readCsv(text, this.csv)
    const excess = excessOf(text)
    if (excess !== undefined) return { json: text, value: new Error(excess) }
    const read = this.geometryColumns ? this.readFeature(text, this.geometryColumns) : this.readJson(text)
    return read.value instanceof RangeError ? { ...read, value: new Error(TOO_DEEP) } : read
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
      return attributes.map((attribute, i) => this.jsonOf(attribute, fields[indexes[i]!]!))
    } catch {
      return undefined
    }
  }

  private readCsv(text: string, { splitter, count, attributes, indexes }: CsvColumns): ReadRow {
    const fields = splitter.split(text)
    if (fields.length !== count) return { json: JSON.stringify(fields), value: new Error(fieldCount(fields, count)) }
    const row = (read: (attribute: Attribute, field: string | null) => unknown): Record<string, unknown> =>
      Object.fromEntries(
        attributes.map((attribute, i) => [attribute.name, read(attribute, fields[indexes[i]!] ?? null)]),
      )
    const raw = () => row((_, field) => field)
    try {
      const value = row((attribute, field) => this.jsonOf(attribute, field))
      return { json: JSON.stringify(value), value, raw }
    } catch (error) {
      return { json: JSON.stringify(fields), value: error as SyntaxError, raw }
    }
  }

  /** JSON value of a field of CSV. @throws {Error} if the type proposed for the attribute would change the value */
  jsonOf(attribute: Attribute, field: string | null): unknown {
    const value = csvValue(attribute, field, this.format)
    if (this.format.proposed && value !== null) checkValue(attribute, field!, this.format)
    return value
  }

  /** @throws {Error} if the type proposed for an attribute would change its value */
  private checkMembers(json: string): void {
    for (const [property, value] of Object.entries(parseExact(json, 'numbers') as object)) {
      const attribute = this.attributeOf(property)
      if (attribute && value !== null) checkValue(attribute, cellText(value), this.format)
    }
  }

  /** Attribute of a property of JSON. */
  private attributeOf(property: string): Attribute | undefined {
    return this.dataClass.attributesByName.get(this.targetOf(property) ?? '')
  }

  /** Name of the attribute of a property of JSON, as for a column of CSV; null if the property is left out. */
  private targetOf(property: string): string | null {
    const { attributesByName } = this.dataClass
    const name = nameOf(property, this.format.names)
    if (name === null || attributesByName.has(name) || name.startsWith('__')) return name
    const derivedName = attributeName(name)
    return attributesByName.has(derivedName) ? derivedName : name
  }

  private readFeature(text: string, columns: GeometryColumns): ReadRow {
    try {
      const value = parse(text) as unknown
      if (!isJsonObject(value)) return { json: text, value: new Error(NO_OBJECT) }
      const source = Object.hasOwn(value, REASONS) ? value[ROW] : undefined
      return typeof source === 'string' ? this.readFeature(source, columns) : this.readJson(rowOfFeature(text, columns))
    } catch (error) {
      return { json: text, value: error as Error }
    }
  }

  private readJson(text: string): ReadRow {
    try {
      const value = this.parse(text)
      if (!isJsonObject(value)) return { json: text, value: new Error(NO_OBJECT) }
      if (Object.hasOwn(value, REASONS)) return this.readReported(value, text)
      if (isOfErrors(value, this.dataClass)) return this.corrected(text, value.row)
      if (this.format.proposed) this.checkMembers(text)
      const texts = this.withTexts(value, text)
      if (Object.keys(value).some(property => this.targetOf(property) !== property))
        return this.renameFields(texts ?? value)
      return texts ? { json: stringifyExact(texts), value: texts } : { json: text, value }
    } catch (error) {
      return { json: text, value: error as SyntaxError }
    }
  }

  /** Reads an object of an error file, without its line and reasons. */
  private readReported({ [ROW]: source }: Record<string, unknown>, text: string): ReadRow {
    return this.readJson(typeof source === 'string' ? source : withoutReasons(text))
  }

  /**
   * Converts numbers, booleans and objects of a row to texts if their attributes hold texts, as in a CSV file, so that a file with values
   * of several types in one column can be loaded. Undefined if there are none.
   */
  private withTexts(row: Record<string, unknown>, json: string): Record<string, unknown> | undefined {
    const properties = Object.keys(row).filter(
      property => typeof row[property] !== 'string' && row[property] !== null && this.isText(property),
    )
    if (properties.length === 0) return undefined
    const texts = memberTexts(json)
    return { ...row, ...Object.fromEntries(properties.map(property => [property, texts.get(property)])) }
  }

  /** True for a property of JSON whose attribute holds texts. */
  private isText(property: string): boolean {
    const attribute = this.attributeOf(property)
    return attribute?.kind === 'storage' && attribute.type === 'string'
  }

  /** A row with the names of attributes in place of the names of properties. */
  private renameFields(row: Record<string, unknown>): ReadRow {
    const fields = new Map<string, unknown>()
    for (const [property, value] of Object.entries(row)) {
      const attribute = this.targetOf(property)
      if (attribute === null) continue
      const other = fields.get(attribute) ?? null
      if (other !== null && value !== null) throw new Error(`two columns have a value for ${attribute}`)
      fields.set(attribute, value ?? other)
    }
    const value = Object.fromEntries(fields)
    return { json: stringifyExact(value), value }
  }

  /** Row in a line of a file of errors. Its texts are read as CSV fields, because they may come from a CSV file. */
  private corrected(text: string, row: unknown): ReadRow {
    if (!isJsonObject(row)) return { json: text, value: new Error('"row" is not a JSON object') }
    const raw = () => row
    try {
      const read = Object.entries(row).map(([name, field]): [string, unknown] => {
        const attribute = this.dataClass.attributesByName.get(name)
        return [name, attribute && typeof field === 'string' ? csvValue(attribute, field, this.format) : field]
      })
      const rowText = memberTexts(text).get('row')!
      const fields = Object.fromEntries(read)
      const value = this.withTexts(fields, rowText) ?? fields
      // Keeps the digits of long integers that were not texts.
      const isAsWritten = read.every(([name]) => value[name] === row[name])
      return { json: isAsWritten ? rowText : stringifyExact(value), value, raw }
    } catch (error) {
      return { json: text, value: error as SyntaxError, raw }
    }
  }
}

/** Reason why a row cannot be read, whatever its format is. */
export const problemOf = ({ text, problem }: RowText): string | undefined =>
  problem ?? (hasUndecodable(text) ? NOT_UTF8 : undefined)

/** Reason for rejecting a row of CSV whose number of fields differs from the number of columns. */
export const fieldCount = (fields: readonly unknown[], columns: number): string =>
  `${fields.length > MAX_FIELDS ? `more than ${MAX_FIELDS} fields` : quantity(fields.length, 'field')} for ${quantity(columns, 'column')}`

/** Attribute of a property of JSON, by name; null if it is left out. */
const nameOf = (property: string, names: RowFormat['names'] = {}): string | null =>
  Object.hasOwn(names, property) ? names[property]! : property

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
