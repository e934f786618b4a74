import { parse as parseJson } from 'secure-json-parse'
import { type Attribute, type DataClass, TYPES } from '../../engine/index.ts'
import { counted } from '../../engine/base/counted.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import { type ForeignFormat, readForeign } from './foreign-values.ts'
import { hasUndecodable, readText } from './read-text.ts'
import { csvFields, NOT_UTF8, splitCsv } from './split-csv.ts'
import { rawLines, type RowText, splitArray, splitLines } from './split-rows.ts'

export const FORMATS = ['json', 'ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

interface RowFile extends ForeignFormat {
  path: string
  format: Format
  /** Separator of CSV fields, one character. By default the one with which the header names most attributes. */
  delimiter?: string | undefined
  /** UTF-8 by default. */
  encoding?: string | undefined
  onBytes?: (count: number) => void
}

/** A row as read from its file. */
export interface ReadRow {
  line: number
  /** The JSON object as it was written, so that long integers keep their digits; or whatever the file has in its place. */
  json: string
  /** The parsed object, or the reason why it cannot be parsed. */
  value: Record<string, unknown> | Error
  /** Fields of CSV as they were written. */
  raw?: () => Record<string, unknown>
}

/** Format of a file by its name, without `.gz`. */
export function formatOf(path: string): Format | undefined {
  const extension = /\.([a-z]+)(\.gz)?$/i.exec(path)?.[1]?.toLowerCase()
  if (extension === 'jsonl') return 'ndjson'
  return extension === 'tsv' ? 'csv' : FORMATS.find(format => format === extension)
}

/**
 * Reads the rows of a file in order. The value of an invalid row is an error.
 * @throws {Error} if the file cannot be read, or a CSV column is not an attribute of the dataclass
 */
export async function* readRows(file: RowFile, dataClass: DataClass): AsyncGenerator<ReadRow> {
  const parts = readText(file.path, file.onBytes ?? (() => {}), file.encoding)
  if (file.format === 'csv') yield* readCsv(rawLines(parts), file, dataClass)
  else
    for await (const row of file.format === 'json' ? splitArray(parts) : splitLines(parts))
      yield parseRow(row, dataClass, file)
}

function parseRow({ line, text, problem }: RowText, dataClass: DataClass, format: ForeignFormat): ReadRow {
  if (problem !== undefined) return { line, json: text, value: new Error(problem) }
  if (hasUndecodable(text)) return { line, json: text.toWellFormed(), value: new Error(NOT_UTF8) }
  try {
    const value: unknown = parseJson(text)
    if (!isObject(value)) return { line, json: text, value: new Error('a row is a JSON object') }
    return isOfErrors(value, dataClass)
      ? correctedRow(line, text, value.row, dataClass, format)
      : { line, json: text, value }
  } catch (error) {
    return { line, json: text, value: error as SyntaxError }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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

const ROW_OF_ERRORS = '],"row":'

/** Row in a line of a file of errors. Its texts are read as CSV fields, which they may have been. */
function correctedRow(line: number, text: string, row: unknown, dataClass: DataClass, format: ForeignFormat): ReadRow {
  if (!isObject(row)) return { line, json: text, value: new Error('"row" is not a JSON object') }
  const raw = () => row
  try {
    const read = Object.entries(row).map(([name, field]): [string, unknown] => {
      const attribute = dataClass.attributesByName.get(name)
      return [name, attribute && typeof field === 'string' ? csvValue(attribute, field, format) : field]
    })
    const start = text.indexOf(ROW_OF_ERRORS)
    // Keeps the digits of long integers that were not texts.
    const isAsWritten = start > 0 && read.every(([name, field]) => field === row[name])
    const value = Object.fromEntries(read)
    return {
      line,
      json: isAsWritten ? text.slice(start + ROW_OF_ERRORS.length, -1) : JSON.stringify(value),
      value,
      raw,
    }
  } catch (error) {
    return { line, json: text, value: error as SyntaxError, raw }
  }
}

async function* readCsv(lines: AsyncGenerator<RowText>, file: RowFile, dataClass: DataClass): AsyncGenerator<ReadRow> {
  const { delimiter, isHint, first } = await findDelimiter(lines, file.delimiter, dataClass)
  let attributes: Attribute[] | undefined
  for await (const { line, text, fields, problem } of splitCsv(isHint ? lines : after(first, lines), delimiter)) {
    if (!attributes) {
      if (problem !== undefined) throw new Error(`line ${line}, the header: ${problem}`)
      attributes = columns(fields, dataClass)
      continue
    }
    if (problem !== undefined) yield { line, json: text.toWellFormed(), value: new Error(problem) }
    else {
      yield fields.length === attributes.length
        ? csvRow(line, fields, attributes, file)
        : { line, json: JSON.stringify(fields), value: wrongCount(fields.length, attributes.length) }
    }
  }
}

async function* after(first: RowText | undefined, lines: AsyncIterable<RowText>): AsyncGenerator<RowText> {
  if (first) yield first
  yield* lines
}

const DELIMITERS = [',', ';', '\t', '|']

/** Reads the first line that is not blank, which is the header or, as Excel writes it, `sep=;`. */
async function findDelimiter(
  lines: AsyncGenerator<RowText>,
  given: string | undefined,
  { attributesByName }: DataClass,
): Promise<{ delimiter: string; isHint: boolean; first: RowText | undefined }> {
  let first: RowText | undefined
  while (!first?.text.trim()) {
    const next = await lines.next()
    if (next.done) break
    first = next.value
  }
  const text = first?.text ?? ''
  const hint = /^sep=(.)\r?$/i.exec(text)?.[1]
  const known = (delimiter: string): number =>
    csvFields(text, delimiter).filter(name => attributesByName.has(name?.trim() ?? '')).length
  const found = DELIMITERS.reduce((best, delimiter) => (known(delimiter) > known(best) ? delimiter : best))
  return { delimiter: given ?? hint ?? found, isHint: hint !== undefined, first }
}

function columns(names: readonly (string | null)[], { attributesByName, name: className }: DataClass): Attribute[] {
  const attributes: Attribute[] = []
  for (const name of names) {
    const attribute = attributesByName.get(name?.trim() ?? '')
    if (!attribute) {
      const others = suggestion(name ?? '', attributesByName.keys())
      throw new Error(`column "${name ?? ''}" is not an attribute of ${className}${others}`)
    }
    if (attributes.includes(attribute)) throw new Error(`there are two columns "${attribute.name}"`)
    attributes.push(attribute)
  }
  return attributes
}

const wrongCount = (fields: number, columns: number): Error =>
  new Error(`${counted(fields, 'field')} for ${counted(columns, 'column')}`)

function csvRow(
  line: number,
  fields: readonly (string | null)[],
  attributes: readonly Attribute[],
  format: ForeignFormat,
): ReadRow {
  const row = (read: (attribute: Attribute, field: string | null) => unknown): Record<string, unknown> =>
    Object.fromEntries(attributes.map((attribute, i) => [attribute.name, read(attribute, fields[i] ?? null)]))
  const raw = () => row((_, field) => field)
  try {
    const value = row((attribute, field) => csvValue(attribute, field, format))
    return { line, json: JSON.stringify(value), value, raw }
  } catch (error) {
    return { line, json: JSON.stringify(fields), value: error as SyntaxError, raw }
  }
}

/** JSON value of a field. The server itself reads numbers, dates and keys from text. */
function csvValue(attribute: Attribute, field: string | null, format: ForeignFormat): unknown {
  if (field === null || attribute.kind !== 'storage') return field
  switch (TYPES[attribute.type].field) {
    case 'json':
      return parseJson(field)
    case 'bool':
      return /^(true|1)$/i.test(field) ? true : /^(false|0)$/i.test(field) ? false : field
    case 'number':
    case 'date':
    case 'text':
      return readForeign(attribute, field, format)
  }
}
