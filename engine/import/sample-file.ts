import { type Format, hasFeatures } from '../base/row-formats.ts'
import { parse } from 'secure-json-parse'
import { quantity } from '../base/counted.ts'
import { parseExact } from '../base/exact-json.ts'
import { isDeeper } from '../base/json-depth.ts'
import { isJsonObject } from '../base/json-object.ts'
import { amountsIn, currencyOf } from './amounts.ts'
import { type GeometryColumns, geometryType, guessGeometryColumns, rowOfFeature } from './features.ts'
import { fixedDecimal } from './fixed-decimal.ts'
import { foreignDate } from './foreign-dates.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { guessFormat, NULL_TEXTS, type OpenQuestion } from './guess-format.ts'
import { guessType, type ValueSource } from './guess-type.ts'
import { parsePath, showPath } from './json-path.ts'
import type { SampleColumn } from './propose-class.ts'
import { readText } from './read-text.ts'
import { openCsv } from './open-csv.ts'
import { objectTexts } from './row-file.ts'
import { fieldCount, NO_OBJECT, problemOf, TOO_DEEP } from './row-reader.ts'
import { type ByteSample, guessEncoding } from './sample-bytes.ts'
import { excessOf } from './row-bounds.ts'
import { REASONS, ROW } from './rejected-source.ts'
import { CsvSplitter, NOT_CLOSED } from './split-csv.ts'
import { NoListError } from './split-list.ts'
import { rawLines, type RowText } from './split-rows.ts'
import { charactersOf, type TableFile, type TableRow } from './table-file.ts'

/** Format of a text file, given by the user or guessed. */
export interface TextFormat extends ForeignFormat {
  readonly encoding?: string | undefined
  readonly delimiter?: string | undefined
  /** Number of lines above the header of CSV. */
  readonly skipLines?: number | undefined
  /** Path to the list of rows in a JSON document. */
  readonly path?: string | undefined
}

/** The first rows of a file, and properties of the file derived from them. */
export interface FileSample extends ValueSource {
  readonly columns: readonly SampleColumn[]
  readonly rows: number
  /** Further rows that cannot be loaded. */
  readonly unreadable: readonly UnreadableRow[]
  /** True if the file has no other rows. */
  readonly isWhole: boolean
  readonly format: TextFormat
  /** How a table is read, for the user. */
  readonly description?: string | undefined
  /** Parts of a table that are not read, one sentence each. */
  readonly notes?: readonly string[] | undefined
  /** Questions that the sample leaves to the user. */
  readonly open: readonly OpenQuestion[]
}

/** A row that cannot be read, with the reason. */
interface UnreadableRow {
  readonly line: number
  readonly reason: string
}

const MAX_ROWS = 10_000
const CSV: ValueSource = { isTyped: false, hasFields: true }
const TABLE: ValueSource = { isTyped: true, hasFields: true }
/** Maximum number of values of a sample: a table, or rows of objects with different names, may have few rows and many columns. */
const MAX_VALUES = 10_000_000
/** Number of different names after which a sample of objects ends. */
const MAX_NAMES = 10_000
/** Depth of rows of JSON from which they are not sampled, because values are examined recursively. No attribute holds such an object. */
const MAX_DEPTH = 1_000
/** Characters of rows of JSON after which a sample ends. */
const MAX_CHARACTERS = 4 * 2 ** 20
/** Characters of texts of a table after which a sample ends. */
const MAX_TABLE_CHARACTERS = 2 ** 25

/**
 * Reads the first rows of a text file.
 * @param chosenFormat options that need no guess
 * @param names names of attributes of the dataclass, the first criterion for recognizing a delimiter
 * @param reread reads the file again, since its list of rows may be after the sample
 * @throws {Error} the file cannot be read
 */
export function sampleFile(
  format: Format,
  sample: ByteSample,
  chosenFormat: TextFormat,
  names: ReadonlySet<string> = new Set(),
  reread?: () => AsyncIterable<Buffer>,
): Promise<FileSample> {
  const encoding = chosenFormat.encoding ?? guessEncoding(sample)
  const textFormat = { ...chosenFormat, encoding }
  const begin = readText(once(sample.bytes), encoding)
  if (format === 'csv') return sampleCsv(sample, begin, textFormat, names)
  const isReread = !sample.isWhole && reread !== undefined
  const parts = isReread ? readText(reread(), encoding) : begin
  return sampleObjects(format, parts, !sample.isWhole && !isReread, textFormat)
}

async function sampleCsv(
  { isWhole }: ByteSample,
  parts: AsyncIterable<string>,
  chosenFormat: TextFormat,
  names: ReadonlySet<string>,
): Promise<FileSample> {
  const lines = await all(rawLines(parts))
  // The last line may be incomplete.
  if (!isWhole) lines.pop()
  const { delimiter, skipLines, header, records } = await openCsv(once(lines), chosenFormat, names)
  const splitter = new CsvSplitter(delimiter)
  const rows: (string | null)[][] = []
  const unreadable: UnreadableRow[] = []
  let read = 0
  let isCut = false
  for await (const some of records) {
    for (const record of some.slice(0, MAX_ROWS - read)) {
      const problem = problemOf(record)
      // The sample ends within a record that has further lines.
      isCut ||= !isWhole && problem === NOT_CLOSED
      const fields = problem === undefined ? splitter.split(record.text) : []
      const reason = problem ?? (fields.length === header.length ? undefined : fieldCount(fields, header.length))
      if (reason === undefined) rows.push(fields)
      else if (!isCut) unreadable.push({ line: record.line, reason })
    }
    read += some.length
  }
  const columns = header.map((_, i) => rows.map(fields => fields[i]!))
  const { open, ...guessed } = guessFormat(columns, chosenFormat)
  const namedColumns = header.map((name, i) => ({ name, values: columns[i]! }))
  const nulls = chosenFormat.nulls ?? nullsIn(namedColumns, CSV, guessed)
  return {
    columns: namedColumns,
    ...CSV,
    rows: rows.length,
    unreadable,
    isWhole: isWhole && read <= MAX_ROWS,
    format: { encoding: chosenFormat.encoding, delimiter, skipLines, ...guessed, ...(nulls.length > 0 && { nulls }) },
    open,
  }
}

/** @param isCut the text ends within the file */
async function sampleObjects(
  format: Format,
  parts: AsyncIterable<string>,
  isCut: boolean,
  textFormat: TextFormat,
): Promise<FileSample> {
  const { texts, isWhole } = await firstTexts(format, objectTexts(format, parts, textFormat.path), isCut)
  const geometry = hasFeatures(format)
    ? guessGeometryColumns(
        texts.flatMap(row => ((problemOf(row) ?? excessOf(row.text)) === undefined ? [row.text] : [])),
      )
    : undefined
  const rows: Record<string, unknown>[] = []
  const unreadable: UnreadableRow[] = []
  const names = new Set<string>()
  for (const row of texts.slice(0, MAX_ROWS)) {
    if (names.size > MAX_NAMES || rows.length * names.size > MAX_VALUES) break
    const read = objectIn(row, geometry)
    if (typeof read === 'string') {
      unreadable.push({ line: row.line, reason: read })
      continue
    }
    rows.push(read)
    for (const name of Object.keys(read)) if (!name.startsWith('__')) names.add(name)
  }
  return {
    columns: [...names].map(name => ({
      name,
      values: rows.map(row => (Object.hasOwn(row, name) ? (row[name] ?? null) : null)),
      type: geometry && geometryType(name, geometry),
    })),
    isTyped: true,
    hasFields: false,
    rows: rows.length,
    unreadable,
    isWhole: isWhole && rows.length + unreadable.length === texts.length,
    format: textFormat,
    description: describeObjects(format, textFormat),
    open: [],
  }
}

/** Texts of the first rows. */
async function firstTexts(
  format: Format,
  rows: AsyncIterable<RowText[]>,
  isCut: boolean,
): Promise<{ texts: RowText[]; isWhole: boolean }> {
  const texts: RowText[] = []
  let characters = 0
  try {
    for await (const some of rows) {
      for (const row of some) {
        texts.push(row)
        characters += row.text.length
      }
      if (!isCut && (texts.length > MAX_ROWS || characters > MAX_CHARACTERS)) return { texts, isWhole: false }
    }
  } catch (error) {
    if (texts.length === 0 && !(isCut && error instanceof NoListError)) throw error
  }
  if (!isCut) return { texts, isWhole: true }
  // The last text may be incomplete.
  if (format === 'ndjson' || format === 'geojsonl') texts.pop()
  else while (texts.at(-1)?.problem !== undefined) texts.pop()
  return { texts, isWhole: false }
}

/** How a list in a document is read, for the user. */
function describeObjects(format: Format, { encoding, path }: TextFormat): string | undefined {
  const list = path !== undefined && path !== '' && `the list ${showPath(parsePath(path))}`
  if (!hasFeatures(format) && !list) return undefined
  return [`${hasFeatures(format) ? 'GeoJSON' : 'JSON'} in ${encoding}`, list].filter(Boolean).join(', ')
}

/** The object in a row of JSON, or the reason why the row is not an object. */
function objectIn(row: RowText, geometry: GeometryColumns | undefined): Record<string, unknown> | string {
  const problem = problemOf(row) ?? excessOf(row.text)
  if (problem !== undefined) return problem
  try {
    const value = geometry ? featureIn(row.text, geometry) : parseExact(row.text, 'numbers')
    if (!isJsonObject(value)) return NO_OBJECT
    return isDeeper(value, MAX_DEPTH) ? TOO_DEEP : value
  } catch (error) {
    return error instanceof RangeError ? TOO_DEEP : (error as Error).message
  }
}

/** The row of a feature, also of one in an error file. */
function featureIn(text: string, geometry: GeometryColumns): unknown {
  const value: unknown = parse(text)
  if (!isJsonObject(value)) return value
  const source = Object.hasOwn(value, REASONS) ? value[ROW] : undefined
  return parseExact(rowOfFeature(typeof source === 'string' ? source : text, geometry), 'numbers')
}

/**
 * The first rows of a table.
 * @param chosenFormat options for the texts in its cells that need no guess
 */
export async function sampleTable(table: TableFile, chosenFormat: ForeignFormat = {}): Promise<FileSample> {
  const first: TableRow[] = []
  let isWhole = true
  const maxRows = Math.min(MAX_ROWS, Math.ceil(MAX_VALUES / Math.max(1, table.columns.length)))
  let characters = 0
  for await (const some of table.rows()) {
    for (const row of some) {
      isWhole &&= first.length < maxRows && characters < MAX_TABLE_CHARACTERS
      if (!isWhole) break
      first.push(row)
      characters += charactersOf(row.cells)
    }
    if (!isWhole) break
  }
  const rows = first.filter(({ problem }) => problem === undefined)
  const columns = table.columns.map((column, i): SampleColumn => {
    const values = rows.map(({ cells }) => cells[i])
    return { ...column, type: column.type ?? fixedDecimal(values), values }
  })
  const { open, decimal, ...guessed } = guessFormat(
    columns.map(column => foreignTexts(column, chosenFormat)),
    chosenFormat,
  )
  // Numbers of a sheet are read as texts with a decimal point: 1.234 is never 1234.
  const format = decimal === '.' ? { ...guessed, decimal } : guessed
  const nulls = chosenFormat.nulls ?? nullsIn(columns, TABLE, format)
  return {
    columns,
    ...TABLE,
    rows: rows.length,
    unreadable: first.flatMap(({ line, problem }) => (problem === undefined ? [] : [{ line, reason: problem }])),
    isWhole,
    format: nulls.length > 0 ? { ...format, nulls } : format,
    description: table.description,
    notes: [...(table.notes?.() ?? []), ...nullsNote(nulls)],
    open,
  }
}

/** Texts for null in columns whose other values have a type. */
const nullsIn = (columns: readonly SampleColumn[], source: ValueSource, format: ForeignFormat): string[] => [
  ...new Set(
    columns.flatMap(({ values, type }) =>
      type || !values.some(isMarker) ? [] : guessType(values, source, format).nulls,
    ),
  ),
]

const isMarker = (value: unknown): boolean => typeof value === 'string' && NULL_TEXTS.has(value.trim())

function nullsNote(nulls: readonly string[]): string[] {
  if (nulls.length === 0) return []
  const texts = nulls.map(text => JSON.stringify(text)).join(' ')
  return [`${quantity(nulls.length, 'text')} for null, except in columns of texts: ${texts}`]
}

/**
 * Values of a column of texts that are dates or amounts, and all amounts in given currencies; of another column none: its texts are meant as
 * texts.
 */
function foreignTexts({ values, type }: SampleColumn, { currencies, nulls }: ForeignFormat): string[] {
  if (type !== undefined) return []
  const markers = nulls ? new Set(nulls) : NULL_TEXTS
  const filledValues = values.filter(
    value => value !== null && value !== undefined && !(typeof value === 'string' && markers.has(value.trim())),
  )
  const texts = filledValues.filter(value => typeof value === 'string')
  const amounts = currencies ? amountsIn(texts, currencies) : []
  if (amounts.length > 0) return amounts
  const isDate = (text: string): boolean => foreignDate(text, { dates: 'dmy', years: 2000 }) !== undefined
  const isForeign = texts.length === filledValues.length
  return isForeign && (currencyOf(texts) !== undefined || texts.every(isDate)) ? texts : []
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}

async function all<T>(parts: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = []
  for await (const some of parts) for (const each of some) items.push(each)
  return items
}

/** Names of columns, without columns that have neither a name nor values. */
export function withoutEmpty(
  { columns }: Pick<FileSample, 'columns'>,
  names: Readonly<Record<string, string | null>> | undefined,
): Readonly<Record<string, string | null>> | undefined {
  const unnamedColumns = columns.filter(({ name }) => name === '')
  const isEmpty = unnamedColumns.every(({ values }) =>
    values.every(value => value === null || value === undefined || value === ''),
  )
  return unnamedColumns.length > 0 && isEmpty ? { '': null, ...names } : names
}
