import type { Format } from '../base/row-formats.ts'
import { InputError } from '../base/input-error.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { suggestion } from '../base/suggestion.ts'
import { attributeName } from './attribute-name.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { readText } from './read-text.ts'
import type { RowFormat } from './row-reader.ts'
import { CsvSplitter } from './split-csv.ts'
import { rawLines, type RowText, splitArray, splitLines } from './split-rows.ts'
import { type TableFile, tableTexts } from './table-file.ts'

export interface RowFileOptions extends ForeignFormat {
  bytes: AsyncIterable<Buffer>
  format: Format
  /** Separator of CSV fields, one character. By default the separator with which the header names the most attributes. */
  delimiter?: string | undefined
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
  const { bytes, encoding, decimal, dates, nulls, columns: names = {}, leavesOutOthers = false } = file
  const parts = readText(bytes, encoding)
  if (file.format !== 'csv') {
    const format = { decimal, dates, nulls, names: file.columns }
    return { format, rows: file.format === 'json' ? splitArray(parts) : splitLines(parts) }
  }
  const knownNames = new Set([...dataClass.attributesByName.keys(), ...Object.keys(names)])
  const { delimiter, header, records } = await openCsv(rawLines(parts), file.delimiter, lines =>
    delimiterOfHeader(lines[0]?.text ?? '', knownNames),
  )
  const attributes = file.attributes ?? attributesOf(header, dataClass, names, leavesOutOthers)
  return { format: { decimal, dates, nulls, csv: { delimiter, attributes } }, header, rows: records }
}

/** Opens the rows of a table like rows of comma-separated CSV. @throws {Error} a column is not an attribute of the dataclass */
export function openTableRows(
  table: TableFile,
  { columns = {}, attributes }: Pick<RowFileOptions, 'columns' | 'attributes'>,
  dataClass: DataClass,
): RowFile {
  const header = table.columns.map(({ name }) => name)
  const csv = { delimiter: ',', attributes: attributes ?? attributesOf(header, dataClass, columns) }
  return { format: { csv }, header, rows: tableTexts(table) }
}

interface CsvFile {
  readonly delimiter: string
  /** Names of the columns, without blanks around them; none for an empty file. */
  readonly header: readonly string[]
  readonly records: AsyncIterable<RowText[]>
}

/**
 * Reads CSV up to its header, which may be below blank lines, comments and `sep=;`.
 * @param chosenDelimiter delimiter
 * @param choose chooses a delimiter if neither the caller nor the file names one, based on the lines read so far, from the header on
 * @throws {Error} the header cannot be read
 */
export async function openCsv(
  lines: AsyncGenerator<RowText[]>,
  chosenDelimiter: string | undefined,
  choose: (lines: readonly RowText[]) => string,
): Promise<CsvFile> {
  const { hint, first } = await firstLines(lines)
  const delimiter = chosenDelimiter ?? hint ?? choose(first)
  const splitter = new CsvSplitter(delimiter)
  const records = splitCsv(after(first, lines), splitter)
  const [head, ...others] = await firstOf(records)
  if (head?.problem !== undefined) throw new Error(`line ${head.line}, the header: ${head.problem}`)
  const header = head ? splitter.split(head.text).map(name => name?.trim() ?? '') : []
  return { delimiter, header, records: after(others, records) }
}

async function* splitCsv(lines: AsyncIterable<RowText[]>, splitter: CsvSplitter): AsyncGenerator<RowText[]> {
  for await (const some of lines) {
    const records: RowText[] = []
    for (const line of some) splitter.push(line, records)
    if (records.length > 0) yield records
  }
  const last: RowText[] = []
  splitter.end(last)
  yield last
}

async function* after(first: RowText[], lines: AsyncIterable<RowText[]>): AsyncGenerator<RowText[]> {
  if (first.length > 0) yield first
  yield* lines
}

/** The next part that is not empty; an empty part at the end. */
async function firstOf(parts: AsyncGenerator<RowText[]>): Promise<RowText[]> {
  for (;;) {
    const { done, value } = await parts.next()
    if (done) return []
    if (value.length > 0) return value
  }
}

export const DELIMITERS: readonly string[] = [',', ';', '\t', '|']

/** True for a line that may be above a header: blank, or a comment. */
export const isAboveHeader = (text: string): boolean => /^\s*$|^#[^,;\t|]*$/.test(text)

/** Delimiter in a first line as Excel writes it: `sep=;`. */
const delimiterIn = (text: string): string | undefined => /^sep=(.)\r?$/i.exec(text)?.[1]

/** Reads up to the header. @returns its lines, and the delimiter in a line `sep=;` above it */
async function firstLines(lines: AsyncGenerator<RowText[]>): Promise<{ hint: string | undefined; first: RowText[] }> {
  let first: RowText[] = []
  let headerIndex = -1
  while (headerIndex < 0) {
    const next = await lines.next()
    if (next.done) break
    first = next.value
    headerIndex = first.findIndex(({ text }) => !isAboveHeader(text))
  }
  first = first.slice(Math.max(headerIndex, 0))
  const hint = delimiterIn(first[0]?.text ?? '')
  return { hint, first: hint === undefined ? first : first.slice(1) }
}

/**
 * The delimiter with which a header names the most attributes. If several name the same number, such as none, the number of fields decides.
 */
function delimiterOfHeader(text: string, names: ReadonlySet<string>): string {
  const rank = (delimiter: string): number => {
    const fields = new CsvSplitter(delimiter).split(text)
    return fields.filter(name => names.has(name?.trim() ?? '')).length + fields.length / (text.length + 2)
  }
  return DELIMITERS.reduce((most, delimiter) => (rank(delimiter) > rank(most) ? delimiter : most))
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
    const name = Object.hasOwn(names, column) ? names[column]! : column
    const attribute =
      name === null ? undefined : (attributesByName.get(name) ?? attributesByName.get(attributeName(name)))
    if (name === null || (!attribute && leavesOutOthers && name === column)) {
      attributeNames.push(null)
      continue
    }
    if (!attribute) {
      const hint = suggestion(name, attributesByName.keys())
      const what = name === column ? `column "${column}"` : `"${name}", for column "${column}",`
      throw new InputError(`${what} is not an attribute of ${className}${hint}`)
    }
    if (attributeNames.includes(attribute.name)) throw new InputError(`there are two columns "${attribute.name}"`)
    attributeNames.push(attribute.name)
  }
  return attributeNames
}
