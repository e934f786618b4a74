import type { ColumnTexts } from './guess-format.ts'
import { readText } from './read-text.ts'
import { delimiterIn, DELIMITERS, isAboveHeader } from './row-file.ts'
import { fieldCount, problemOf } from './row-reader.ts'
import { type ByteSample, guessEncoding } from './sample-bytes.ts'
import { CsvSplitter } from './split-csv.ts'
import { rawLines, type RowText } from './split-rows.ts'

/** The first rows of a CSV file. */
interface CsvSample {
  readonly encoding: string
  readonly delimiter: string
  /** Names of the columns, without blanks around them. */
  readonly header: readonly string[]
  readonly columns: readonly ColumnTexts[]
  /** Number of the rows. */
  readonly rows: number
  /** Rows beside them that cannot be loaded. */
  readonly unreadable: readonly UnreadableRow[]
  /** True if the file has no other rows. */
  readonly isWhole: boolean
}

/** A row that cannot be read, with the reason. */
export interface UnreadableRow {
  readonly line: number
  readonly reason: string
}

const MAX_ROWS = 10_000
/** Records by which a delimiter is chosen. */
const RECORDS_TO_COMPARE = 200

/**
 * Guesses encoding and delimiter of a CSV file, and splits its first rows.
 * @param given options that need no guess
 * @param names of columns, by which a delimiter is recognised before all
 * @throws {Error} the header cannot be read
 */
export async function sampleCsv(
  sample: ByteSample,
  given: { readonly encoding?: string | undefined; readonly delimiter?: string | undefined },
  names: ReadonlySet<string> = new Set(),
): Promise<CsvSample> {
  const encoding = given.encoding ?? guessEncoding(sample)
  const lines: RowText[] = []
  for await (const some of rawLines(readText(once(sample.bytes), encoding))) lines.push(...some)
  // The last line may go on.
  if (!sample.isWhole) lines.pop()
  const first = lines.findIndex(({ text }) => !isAboveHeader(text))
  const rest = first < 0 ? [] : lines.slice(first)
  const hint = rest[0] && delimiterIn(rest[0].text)
  if (hint !== undefined) rest.shift()
  const delimiter = given.delimiter ?? hint ?? guessDelimiter(rest, names)
  const { records: all, whole } = recordsOf(rest, delimiter, MAX_ROWS + 2)
  const [head, ...records] = all
  if (head?.problem !== undefined) throw new Error(`line ${head.line}, the header: ${head.problem}`)
  const splitter = new CsvSplitter(delimiter)
  const header = head ? splitter.split(head.text).map(name => name?.trim() ?? '') : []
  const rows: (string | null)[][] = []
  const unreadable: UnreadableRow[] = []
  for (const [i, record] of records.slice(0, MAX_ROWS).entries()) {
    const problem = problemOf(record)
    const fields = problem === undefined ? splitter.split(record.text) : []
    const reason = problem ?? (fields.length === header.length ? undefined : fieldCount(fields, header.length))
    if (reason === undefined) rows.push(fields)
    // A record that the sample cuts off has an open quote.
    else if (sample.isWhole || i + 1 < whole) unreadable.push({ line: record.line, reason })
  }
  return {
    encoding,
    delimiter,
    header,
    columns: header.map((_, i) => rows.map(fields => fields[i]!)),
    rows: rows.length,
    unreadable,
    isWhole: sample.isWhole && records.length <= MAX_ROWS,
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** The delimiter with which the header names most attributes, or else most records have as many fields as the header. */
function guessDelimiter(lines: readonly RowText[], names: ReadonlySet<string>): string {
  let best: { delimiter: string; score: number } | undefined
  for (const delimiter of DELIMITERS) {
    const [header, ...records] = recordsOf(lines, delimiter, RECORDS_TO_COMPARE).records.filter(
      ({ problem }) => problem === undefined,
    )
    if (!header) continue
    const splitter = new CsvSplitter(delimiter)
    const fields = splitter.split(header.text)
    const known = fields.filter(name => names.has(name?.trim() ?? '')).length
    const alike = records.filter(({ text }) => splitter.split(text).length === fields.length).length
    const share = (alike + 1) / (records.length + 1)
    const score = fields.length < 2 ? known : known + share * Math.log2(fields.length + 1)
    if (!best || score > best.score) best = { delimiter, score }
  }
  return best?.delimiter ?? ','
}

/** The first records of lines, and how many of them end for sure, whatever lines follow. */
function recordsOf(lines: readonly RowText[], delimiter: string, count: number): { records: RowText[]; whole: number } {
  const splitter = new CsvSplitter(delimiter)
  const records: RowText[] = []
  for (const line of lines) {
    splitter.push(line, records)
    if (records.length >= count) return { records, whole: records.length }
  }
  const whole = records.length
  splitter.end(records)
  return { records, whole }
}
