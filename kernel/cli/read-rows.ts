import { Readable } from 'node:stream'
import { CsvError, parse as parseCsv } from 'csv-parse'
import { parse as parseJson } from 'secure-json-parse'
import type { Attribute } from '../../engine/catalog/attribute.ts'
import type { DataClass } from '../../engine/catalog/dataclass.ts'
import { suggestion } from '../../engine/suggestion.ts'
import { readText } from './read-text.ts'
import { type RowText, splitArray, splitLines } from './split-rows.ts'

export const FORMATS = ['json', 'ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export interface RowFile {
  path: string
  format: Format
  /** Of CSV fields: one character. */
  delimiter?: string
  onBytes?: (count: number) => void
}

/** A row as it stands in its file. */
export interface Row {
  line: number
  /** The JSON object as it was written, so that long integers keep their digits; or whatever is there instead. */
  json: string
  /** The same, parsed; or why that is not possible. */
  value: Record<string, unknown> | Error
}

/** Format of a file by its name, `.gz` set aside. */
export function formatOf(path: string): Format | undefined {
  const extension = /\.([a-z]+)(\.gz)?$/i.exec(path)?.[1]?.toLowerCase()
  return extension === 'jsonl' ? 'ndjson' : FORMATS.find(format => format === extension)
}

/**
 * The rows of a file, one after the other.
 * @throws {Error} when the file cannot be read, or a CSV column is no attribute of the dataclass
 */
export async function* readRows(file: RowFile, dataClass: DataClass): AsyncGenerator<Row> {
  const parts = readText(file.path, file.onBytes ?? (() => {}))
  if (file.format === 'csv') yield* readCsv(parts, file.delimiter ?? ',', dataClass)
  else for await (const row of file.format === 'json' ? splitArray(parts) : splitLines(parts)) yield parseRow(row)
}

function parseRow({ line, text }: RowText): Row {
  try {
    const value: unknown = parseJson(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return {
      line,
      json: text,
      value: isObject ? (value as Record<string, unknown>) : new Error('a row is a JSON object'),
    }
  } catch (error) {
    return { line, json: text, value: error as SyntaxError }
  }
}

async function* readCsv(parts: AsyncIterable<string>, delimiter: string, dataClass: DataClass): AsyncGenerator<Row> {
  let attributes: (Attribute | undefined)[] = []
  const parser = parseCsv({
    delimiter,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // An empty field is null, a quoted empty one an empty text.
    cast: (text, { quoting }) => (text === '' && !quoting ? null : text),
  })
  const source = Readable.from(parts)
  source.on('error', error => parser.destroy(error))
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<{
      record: (string | null)[]
      info: { lines: number }
    }>) {
      if (attributes.length === 0) {
        attributes = record.map(name => column(name ?? '', dataClass))
        continue
      }
      const isComplete = record.length === attributes.length
      const row = isComplete
        ? csvRow(record, attributes as Attribute[])
        : new Error(`${record.length} fields for ${attributes.length} columns`)
      yield { line: info.lines, json: JSON.stringify(row instanceof Error ? record : row), value: row }
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new Error(`line ${error.lines ?? '?'}: ${error.message}`, { cause: error })
      : error
  }
}

function column(name: string, { attributesByName, name: className }: DataClass): Attribute {
  const attribute = attributesByName.get(name.trim())
  if (!attribute)
    throw new Error(`column "${name}" is no attribute of ${className}${suggestion(name, attributesByName.keys())}`)
  return attribute
}

function csvRow(fields: readonly (string | null)[], attributes: readonly Attribute[]): Record<string, unknown> | Error {
  try {
    return Object.fromEntries(
      attributes.map((attribute, i) => [attribute.name, csvValue(attribute, fields[i] ?? null)]),
    )
  } catch (error) {
    return error as SyntaxError
  }
}

/** JSON of a field. The server reads numbers, dates and keys from text itself. */
function csvValue(attribute: Attribute, field: string | null): unknown {
  if (field === null || attribute.kind !== 'storage') return field
  if (attribute.type === 'object' || attribute.type === 'vector') return parseJson(field)
  if (attribute.type !== 'bool') return field
  return /^(true|1)$/i.test(field) ? true : /^(false|0)$/i.test(field) ? false : field
}
