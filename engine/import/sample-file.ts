import type { Format } from '../base/row-formats.ts'
import { parseExact } from '../base/exact-json.ts'
import { isJsonObject } from '../base/json-object.ts'
import { currencyOf } from './amounts.ts'
import { fixedDecimal } from './fixed-decimal.ts'
import { foreignDate } from './foreign-dates.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { guessFormat, type OpenQuestion } from './guess-format.ts'
import { guessType, type ValueSource } from './guess-type.ts'
import type { SampleColumn } from './propose-class.ts'
import { readText } from './read-text.ts'
import { openCsv } from './open-csv.ts'
import { fieldCount, NO_OBJECT, problemOf } from './row-reader.ts'
import { type ByteSample, guessEncoding } from './sample-bytes.ts'
import { CsvSplitter, NOT_CLOSED } from './split-csv.ts'
import { rawLines, type RowText, splitArray, splitLines } from './split-rows.ts'
import type { TableFile, TableRow } from './table-file.ts'

/** Format of a text file, given by the user or guessed. */
export interface TextFormat extends ForeignFormat {
  readonly encoding?: string | undefined
  readonly delimiter?: string | undefined
  /** Number of lines above the header of CSV. */
  readonly skipLines?: number | undefined
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

/**
 * Reads the first rows of a text file.
 * @param chosenFormat options that need no guess
 * @param names names of attributes of the dataclass, the first criterion for recognizing a delimiter
 * @throws {Error} the file cannot be read
 */
export function sampleFile(
  format: Format,
  sample: ByteSample,
  chosenFormat: TextFormat,
  names: ReadonlySet<string> = new Set(),
): Promise<FileSample> {
  const encoding = chosenFormat.encoding ?? guessEncoding(sample)
  const parts = readText(once(sample.bytes), encoding)
  return format === 'csv'
    ? sampleCsv(sample, parts, { ...chosenFormat, encoding }, names)
    : sampleObjects(sample, format === 'json' ? splitArray(parts) : splitLines(parts), { ...chosenFormat, encoding })
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
  const nulls = chosenFormat.nulls ?? [...new Set(columns.flatMap(values => guessType(values, CSV, guessed).nulls))]
  return {
    columns: header.map((name, i) => ({ name, values: columns[i]! })),
    isTyped: false,
    hasFields: true,
    rows: rows.length,
    unreadable,
    isWhole: isWhole && read <= MAX_ROWS,
    format: { encoding: chosenFormat.encoding, delimiter, skipLines, ...guessed, ...(nulls.length > 0 && { nulls }) },
    open,
  }
}

async function sampleObjects(
  sample: ByteSample,
  parts: AsyncIterable<RowText[]>,
  format: TextFormat,
): Promise<FileSample> {
  const texts: RowText[] = []
  try {
    for await (const some of parts) texts.push(...some)
  } catch (error) {
    if (texts.length === 0) throw error
  }
  // The last text may be incomplete.
  if (!sample.isWhole) texts.pop()
  const rows: Record<string, unknown>[] = []
  const unreadable: UnreadableRow[] = []
  for (const row of texts.slice(0, MAX_ROWS)) {
    const read = objectIn(row)
    if (typeof read === 'string') unreadable.push({ line: row.line, reason: read })
    else rows.push(read)
  }
  const names = new Set(rows.flatMap(row => Object.keys(row).filter(name => !name.startsWith('__'))))
  return {
    columns: [...names].map(name => ({
      name,
      values: rows.map(row => (Object.hasOwn(row, name) ? (row[name] ?? null) : null)),
    })),
    isTyped: true,
    hasFields: false,
    rows: rows.length,
    unreadable,
    isWhole: sample.isWhole && texts.length <= MAX_ROWS,
    format,
    open: [],
  }
}

/** The object in a row of JSON, or the reason why the row is not an object. */
function objectIn(row: RowText): Record<string, unknown> | string {
  const problem = problemOf(row)
  if (problem !== undefined) return problem
  try {
    const value = parseExact(row.text, 'numbers')
    return isJsonObject(value) ? value : NO_OBJECT
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * The first rows of a table.
 * @param chosenFormat options for the texts in its cells that need no guess
 */
export async function sampleTable(table: TableFile, chosenFormat: ForeignFormat = {}): Promise<FileSample> {
  const first: TableRow[] = []
  let isWhole = true
  for await (const some of table.rows()) {
    first.push(...some)
    if (first.length <= MAX_ROWS) continue
    first.length = MAX_ROWS
    isWhole = false
    break
  }
  const rows = first.filter(({ problem }) => problem === undefined)
  const columns = table.columns.map((column, i): SampleColumn => {
    const values = rows.map(({ cells }) => cells[i])
    return { ...column, type: column.type ?? fixedDecimal(values), values }
  })
  const { open, decimal, ...format } = guessFormat(
    columns.map(column => foreignTexts(column, chosenFormat.currencies)),
    chosenFormat,
  )
  return {
    columns,
    isTyped: true,
    hasFields: true,
    rows: rows.length,
    unreadable: first.flatMap(({ line, problem }) => (problem === undefined ? [] : [{ line, reason: problem }])),
    isWhole,
    // Numbers of a sheet are read as texts with a decimal point: 1.234 is never 1234.
    format: decimal === '.' ? { ...format, decimal } : format,
    description: table.description,
    notes: table.notes?.(),
    open,
  }
}

/** Values of a column of texts that are dates or amounts; of another column none: its texts are meant as texts. */
function foreignTexts({ values, type }: SampleColumn, given?: readonly string[]): string[] {
  const filledValues = values.filter(value => value !== null && value !== undefined)
  const texts = filledValues.filter(value => typeof value === 'string')
  const isDate = (text: string): boolean => foreignDate(text, { dates: 'dmy', years: 2000 }) !== undefined
  const isForeign = type === undefined && texts.length === filledValues.length
  return isForeign && (currencyOf(texts, given) !== undefined || texts.every(isDate)) ? texts : []
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
