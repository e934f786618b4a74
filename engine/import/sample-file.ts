import { basename } from 'node:path'
import { parseExact } from '../base/exact-json.ts'
import { counted } from '../base/counted.ts'
import { isJsonObject } from '../base/json-object.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { guessFormat } from './guess-format.ts'
import { guessType } from './guess-type.ts'
import type { SampleColumn } from './propose-class.ts'
import { readText } from './read-text.ts'
import type { Format } from './row-file.ts'
import { type ByteSample, guessEncoding } from './sample-bytes.ts'
import { NO_OBJECT, problemOf } from './row-reader.ts'
import { sampleCsv, type UnreadableRow } from './sample-csv.ts'
import { type RowText, splitArray, splitLines } from './split-rows.ts'

/** How the texts of a file are written: given by the user, or guessed. */
interface TextFormat extends ForeignFormat {
  readonly encoding?: string | undefined
  readonly delimiter?: string | undefined
}

/** The first rows of a file, and what they say of all. */
export interface FileSample {
  readonly columns: readonly SampleColumn[]
  /** Texts were texts in the source, and numbers numbers. */
  readonly isTyped: boolean
  /** The values are read as fields of CSV, not as JSON. */
  readonly hasFields: boolean
  readonly rows: number
  /** Rows beside them that cannot be loaded. */
  readonly unreadable: readonly UnreadableRow[]
  /** True if the file has no other rows. */
  readonly isWhole: boolean
  readonly format: TextFormat
  /** Questions that the sample leaves to the user: a sentence each. */
  readonly open: readonly string[]
}

const MAX_ROWS = 10_000

/**
 * Reads the first rows of a file of text.
 * @param given options that need no guess
 * @param names of attributes of the dataclass
 * @throws {Error} the file cannot be read
 */
export function sampleFile(
  format: Format,
  sample: ByteSample,
  given: TextFormat,
  names?: ReadonlySet<string>,
): Promise<FileSample> {
  return format === 'csv' ? sampleFields(sample, given, names) : sampleObjects(format, sample, given)
}

async function sampleFields(sample: ByteSample, given: TextFormat, names?: ReadonlySet<string>): Promise<FileSample> {
  const { encoding, delimiter, header, columns, rows, unreadable, isWhole } = await sampleCsv(sample, given, names)
  const { open, ...guessed } = guessFormat(columns, given)
  const nulls = given.nulls ?? [...new Set(columns.flatMap(values => guessType(values, false, guessed).nulls))]
  return {
    columns: header.map((name, i) => ({ name, values: columns[i]! })),
    isTyped: false,
    hasFields: true,
    rows,
    unreadable,
    isWhole,
    format: { encoding, delimiter, ...guessed, ...(nulls.length > 0 && { nulls }) },
    open,
  }
}

async function sampleObjects(format: 'json' | 'ndjson', sample: ByteSample, given: TextFormat): Promise<FileSample> {
  const encoding = given.encoding ?? guessEncoding(sample)
  const parts = readText(once(sample.bytes), encoding)
  const texts: RowText[] = []
  try {
    for await (const some of format === 'json' ? splitArray(parts) : splitLines(parts)) texts.push(...some)
  } catch (error) {
    if (texts.length === 0) throw error
  }
  // The last one may go on.
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
    format: { ...given, encoding },
    open: [],
  }
}

/** A row of JSON, or the reason why it is none. */
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

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** Names of columns with those that have neither a name nor values left out. */
export function withoutEmpty(
  { columns }: Pick<FileSample, 'columns'>,
  names: Readonly<Record<string, string | null>> | undefined,
): Readonly<Record<string, string | null>> | undefined {
  const unnamed = columns.filter(({ name }) => name === '')
  const isEmpty = unnamed.every(({ values }) =>
    values.every(value => value === null || value === undefined || value === ''),
  )
  return unnamed.length > 0 && isEmpty ? { '': null, ...names } : names
}

/** One line that says how a file of text is read. */
export function describeFormat(
  format: string,
  { encoding, delimiter, decimal, dates, nulls = [] }: TextFormat,
): string {
  if (format !== 'csv') return encoding === undefined ? TABLES[format]! : `${format.toUpperCase()} in ${encoding}`
  const parts = [
    `CSV in ${encoding}`,
    `${delimiter === '\t' ? 'a tab' : `"${delimiter}"`} between fields`,
    decimal && `numbers with "${decimal}"`,
    dates && `dates ${DATE_WORDS[dates]}`,
    nulls.length > 0 &&
      `${counted(nulls.length, 'text')} for null: ${nulls.map(text => JSON.stringify(text)).join(' ')}`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Says how a CSV file is read, before anything is written, and what is not decided. */
export function tellFormat(
  path: string,
  format: string,
  sample: Pick<FileSample, 'format' | 'open'>,
  print: (line: string) => void,
): void {
  if (format !== 'csv') return
  print(`${basename(path)}: ${describeFormat(format, sample.format)}`)
  for (const question of sample.open) print(`  ${question}`)
}

const TABLES: Readonly<Record<string, string>> = { xlsx: 'Excel', parquet: 'Parquet' }
const DATE_WORDS = { ymd: 'year-month-day', dmy: 'day-month-year', mdy: 'month-day-year' } as const
