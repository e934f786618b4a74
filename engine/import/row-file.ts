import { type Format, hasFeatures } from '../base/row-formats.ts'
import { InputError } from '../base/input-error.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { suggestion } from '../base/suggestion.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { checkCurrencies } from './amounts.ts'
import { attributeName } from './attribute-name.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { parsePath } from './json-path.ts'
import { openCsv } from './open-csv.ts'
import { readText } from './read-text.ts'
import { isReason } from './rejected-source.ts'
import type { RowFormat } from './row-reader.ts'
import { splitList } from './split-list.ts'
import { rawLines, type RowText, splitLines } from './split-rows.ts'
import { type TableFile, tableTexts } from './table-file.ts'

export interface RowFileOptions extends ForeignFormat {
  bytes: AsyncIterable<Buffer>
  format: Format
  /** Separator of CSV fields, one character. By default the separator with which the header names the most attributes. */
  delimiter?: string | undefined
  /** Number of lines above the header of CSV; by default they are recognized as blank lines, comments and titles. */
  skipLines?: number | undefined
  /** Path to the list of rows in a JSON document; by default the document is the list, or a collection of features. */
  path?: string | undefined
  /** UTF-8 by default. */
  encoding?: string | undefined
  /**
   * Attributes by the names of columns, or of properties of JSON, if the names differ; null for columns and properties that are left out.
   */
  columns?: Readonly<Record<string, string | null>> | undefined
  /** Leaves out CSV columns that are not attributes; by default they are an error. */
  leavesOutOthers?: boolean | undefined
  /** Attributes of the CSV columns in their order, whatever the header says; null for a column that is left out. */
  attributes?: readonly (string | null)[] | undefined
}

/** An open file of rows. */
export interface RowFile {
  readonly format: RowFormat
  /** Names of the columns of CSV, as they are in the header. */
  readonly header?: readonly string[]
  /** The texts of the rows in order, grouped as they were read. @throws {Error} if the file cannot be read */
  readonly rows: AsyncIterable<RowText[]>
}

/**
 * Opens a file of rows, and reads the header of CSV.
 * @throws {Error} if the file cannot be read, or a CSV column is not an attribute of the dataclass
 */
export async function openRowFile(file: RowFileOptions, dataClass: DataClass): Promise<RowFile> {
  const { bytes, encoding, columns: names = {}, leavesOutOthers = false } = file
  const { decimal, dates, years, currencies, nulls } = file
  checkCurrencies(currencies)
  const foreign = { decimal, dates, years, currencies, nulls }
  if (file.path !== undefined && file.format !== 'json' && file.format !== 'geojson')
    throw new InputError(`a path leads to a list in JSON or GeoJSON, and the format is ${file.format}`)
  const parts = readText(bytes, encoding)
  if (file.format !== 'csv') {
    const format = { ...foreign, names: file.columns, ...(hasFeatures(file.format) && { hasFeatures: true }) }
    return { format, rows: objectTexts(file.format, parts, file.path) }
  }
  const knownNames = new Set([...dataClass.attributesByName.keys(), ...Object.keys(names)])
  const { delimiter, header, records } = await openCsv(rawLines(parts), file, knownNames)
  const attributes = file.attributes ?? attributesOf(header, dataClass, names, leavesOutOthers)
  return { format: { ...foreign, csv: { delimiter, attributes } }, header, rows: records }
}

/** Path to the features of a collection. */
const FEATURES = '/features'

/**
 * Texts of the rows of JSON, NDJSON or GeoJSON.
 * @throws {InputError} it is not a path
 */
export function objectTexts(
  format: Format,
  parts: AsyncIterable<string>,
  path: string | undefined,
): AsyncIterable<RowText[]> {
  if (format === 'json' || format === 'geojson')
    return splitList(parts, parsePath(path ?? (format === 'geojson' ? FEATURES : '')))
  return splitLines(parts)
}

interface TableRowOptions extends Pick<RowFileOptions, 'columns' | 'attributes'>, ForeignFormat {}

/** Opens the rows of a table like rows of comma-separated CSV. @throws {Error} a column is not an attribute of the dataclass */
export function openTableRows(
  table: TableFile,
  { columns = {}, attributes, decimal, dates, years, currencies, nulls }: TableRowOptions,
  dataClass: DataClass,
): RowFile {
  checkCurrencies(currencies)
  const header = table.columns.map(({ name }) => name)
  const csv = { delimiter: ',', attributes: attributes ?? attributesOf(header, dataClass, columns) }
  return { format: { csv, decimal, dates, years, currencies, nulls }, header, rows: tableTexts(table) }
}

/**
 * Names of the attributes that columns hold; null for a column that is left out.
 * @param leavesOutOthers columns that are not attributes are left out
 * @throws {Error} a column is not an attribute
 */
function attributesOf(
  header: readonly (string | null)[],
  { attributesByName, name: className }: DataClass,
  names: Readonly<Record<string, string | null>>,
  leavesOutOthers = false,
): (string | null)[] {
  const attributeNames: (string | null)[] = []
  for (const text of header) {
    const column = text?.trim() ?? ''
    if (isReason(column)) {
      attributeNames.push(null)
      continue
    }
    const name = Object.hasOwn(names, column) ? names[column]! : column
    const attribute =
      name === null ? undefined : (attributesByName.get(name) ?? attributesByName.get(attributeName(name)))
    if (name === null || (!attribute && leavesOutOthers && name === column)) {
      attributeNames.push(null)
      continue
    }
    if (!attribute) {
      const hint = suggestion(name, attributesByName.keys())
      const what =
        name === column ? `column "${excerpt(column)}"` : `"${excerpt(name)}", for column "${excerpt(column)}",`
      throw new InputError(`${what} is not an attribute of ${className}${hint}`)
    }
    if (attributeNames.includes(attribute.name)) throw new InputError(`there are two columns "${attribute.name}"`)
    attributeNames.push(attribute.name)
  }
  return attributeNames
}
