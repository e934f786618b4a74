import { attributeName } from './attribute-name.ts'
import { CsvSplitter } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** Position of a header, and the character between its fields. */
export interface FoundHeader {
  readonly delimiter: string
  /** Number of lines above the header. */
  readonly skipLines: number
}

const DELIMITERS: readonly string[] = [',', ';', '\t', '|']
/** Number of records that are compared to find the header. */
const RECORDS_TO_COMPARE = 200
/** Maximum number of titles, such as the name of a report, above a header. */
const MAX_TITLES = 20
/** Maximum share of records below a title that have another number of fields than the header. */
const MAX_UNLIKE = 0.1
/** Number of records below a title from which one may have another number of fields, whatever its share. */
const MIN_RECORDS = 4

/**
 * Finds the header of CSV, which may be below blank lines, comments, titles and a line `sep=;`.
 * @param lines the first lines of the file
 * @param chosen options that need no guess; with `skipLines`, the header is the first line after these that is not blank
 * @param names names of attributes: a line that has some of them is the header
 */
export function findHeader(
  lines: readonly RowText[],
  chosen: Partial<FoundHeader>,
  names: ReadonlySet<string>,
): FoundHeader {
  const first = lines[0]?.line ?? 1
  const isGiven = chosen.skipLines !== undefined
  const body = lines.slice(chosen.skipLines ?? 0).filter(({ text }) => text.trim() !== '')
  const hint = delimiterIn(body[0]?.text ?? '')
  const records = hint === undefined ? body : body.slice(1)
  const delimiter = chosen.delimiter ?? hint
  const tables = (delimiter === undefined ? DELIMITERS : [delimiter]).map(each =>
    readTable(records, each, names, isGiven),
  )
  const best = tables.reduce((one, other) => (other.score > one.score ? other : one))
  return { delimiter: best.delimiter, skipLines: best.line === undefined ? lines.length : best.line - first }
}

/** Delimiter in a first line as Excel writes it: `sep=;`. */
const delimiterIn = (text: string): string | undefined => /^sep=(.)\r?$/i.exec(text)?.[1]

interface Table {
  readonly delimiter: string
  /** Line of the header; undefined for an empty file. */
  readonly line: number | undefined
  readonly score: number
}

/**
 * Rates a delimiter by the number of attributes that the header names, then by the share of records that have as many fields as the header.
 */
function readTable(lines: readonly RowText[], delimiter: string, names: ReadonlySet<string>, isFirst: boolean): Table {
  const splitter = new CsvSplitter(delimiter)
  const records = firstRecords(lines, splitter).map(record => ({ ...record, fields: fieldsOf(record, splitter) }))
  const index = isFirst ? 0 : headerIndex(records, names)
  const header = records[index]
  if (!header) return { delimiter, line: undefined, score: 0 }
  const { length } = header.fields
  const rows = records.slice(index + 1)
  const alike = rows.filter(({ fields }) => fields.length === length).length
  const share = (alike + 1) / (rows.length + 1)
  const known = knownFields(header.fields, names)
  return { delimiter, line: header.line, score: length < 2 ? known : known + share * Math.log2(length + 1) }
}

function firstRecords(lines: readonly RowText[], splitter: CsvSplitter): RowText[] {
  const records: RowText[] = []
  for (const line of lines) {
    splitter.push(line, records)
    if (records.length >= RECORDS_TO_COMPARE) return records
  }
  splitter.end(records)
  return records
}

const fieldsOf = ({ text, problem }: RowText, splitter: CsvSplitter): string[] =>
  problem === undefined ? splitter.split(text).map(field => field?.trim() ?? '') : [text]

const knownFields = (fields: readonly string[], names: ReadonlySet<string>): number =>
  names.size === 0 ? 0 : fields.filter(name => names.has(name) || names.has(attributeName(name))).length

interface CsvRecord extends RowText {
  readonly fields: readonly string[]
}

function headerIndex(records: readonly CsvRecord[], names: ReadonlySet<string>): number {
  const known = records.slice(0, MAX_TITLES + 1).map(({ fields }) => knownFields(fields, names))
  const most = Math.max(0, ...known)
  if (most > 0) return known.indexOf(most)
  return belowTitles(records, belowComments(records))
}

/** Index of the first record that is not a comment. The last line that begins with `#` may be the header itself. */
function belowComments(records: readonly CsvRecord[]): number {
  const first = records.findIndex(({ text }) => !text.startsWith('#'))
  const end = first < 0 ? records.length : first
  return end > 0 && isHeaderComment(records[end - 1]!, records.slice(end)) ? end - 1 : end
}

/**
 * True for a line such as `#id,name` that names the columns of the rows below it: it has as many fields as the next line, and that line is
 * a row.
 */
function isHeaderComment({ text, fields }: CsvRecord, [next, ...rows]: readonly CsvRecord[]): boolean {
  if (!next) return fields.length > 1
  if (fields.length < 2 || fields.length !== next.fields.length) return false
  if (!isHeader(next.fields)) return true
  const isNumber = (at: number): boolean =>
    rows.length > 0 && rows.every(row => row.fields.length !== fields.length || NUMBER.test(row.fields[at]!))
  return /^#\S/.test(text) && !next.fields.some((_, at) => isNumber(at))
}

/**
 * Index of the header from `begin` on. A record that has another number of fields than nearly all others, or a single one with a text, is
 * a title if a record below it can be the header.
 */
function belowTitles(records: readonly CsvRecord[], begin: number): number {
  const count = usualCount(records.slice(begin + 1))
  if (count < 2) return begin
  for (let at = begin; at <= begin + MAX_TITLES && at < records.length; at++) {
    const { fields } = records[at]!
    if (fields.length === count && isHeader(fields)) return isUsual(records.slice(at + 1), count) ? at : begin
    const isTitle = fields.length !== count || (count > 2 && fields.filter(field => field !== '').length === 1)
    if (!isTitle) return begin
  }
  return begin
}

/** Number of fields that most records have; 0 if there are too few records to tell. */
function usualCount(records: readonly CsvRecord[]): number {
  if (records.length < 2) return 0
  const counts = new Map<number, number>()
  for (const { fields } of records) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1)
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

function isUsual(records: readonly CsvRecord[], count: number): boolean {
  const unlike = records.filter(({ fields }) => fields.length !== count).length
  return unlike <= records.length * MAX_UNLIKE || (unlike === 1 && records.length >= MIN_RECORDS)
}

const NUMBER = /^[+-]?[\d.,\s'’]*\d(?:[eE][+-]?\d+)?%?$/
const YEAR = /^(?:19|20)\d\d$/

/** True if all fields are different names; years may be names, other numbers are not. */
const isHeader = (fields: readonly string[]): boolean =>
  new Set(fields).size === fields.length &&
  fields.every(field => field !== '' && (!NUMBER.test(field) || YEAR.test(field))) &&
  !fields.every(field => YEAR.test(field))
