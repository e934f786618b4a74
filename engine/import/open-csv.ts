import { InputError } from '../base/input-error.ts'
import { type FoundHeader, findHeader } from './find-header.ts'
import { hasUndecodable, NOT_UTF8 } from './read-text.ts'
import { CsvSplitter, MAX_FIELDS, TOO_MANY_FIELDS } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** Number of lines in which a header is looked for, and whose numbers of fields are compared. */
const LINES_TO_COMPARE = 1_000
/** Maximum number of characters that are read for it. */
const CHARACTERS_TO_COMPARE = 4 * 2 ** 20
/** Maximum length of a header, in characters. */
const MAX_HEADER = 2 ** 20
const TOO_LONG = `more than ${MAX_HEADER} characters; is this the right format?`

/** A file of CSV, read up to its header. */
interface CsvFile extends FoundHeader {
  /** Names of the columns, without blanks around them; none for an empty file. */
  readonly header: readonly string[]
  readonly records: AsyncIterable<RowText[]>
}

/**
 * Reads CSV up to its header.
 * @param chosen options that need no guess
 * @param names names of attributes, by which the header is recognized
 * @throws {InputError} the header cannot be read
 */
export async function openCsv(
  lines: AsyncGenerator<RowText[]>,
  chosen: Partial<FoundHeader>,
  names: ReadonlySet<string>,
): Promise<CsvFile> {
  const skipped = chosen.skipLines ?? 0
  const first = await firstLines(lines, skipped)
  const rest = chosen.skipLines === undefined ? chosen : { ...chosen, skipLines: 0 }
  const { delimiter, skipLines } = findHeader(first.slice(0, LINES_TO_COMPARE).map(bounded), rest, names)
  const splitter = new CsvSplitter(delimiter)
  const records = splitCsv(after(first.slice(skipLines), lines), splitter)
  const [head, ...others] = await firstOf(records)
  if (head?.problem !== undefined) throw new InputError(`line ${head.line}, the header: ${head.problem}`)
  if (head && head.text.length > MAX_HEADER) throw new InputError(`line ${head.line}, the header, has ${TOO_LONG}`)
  if (head && hasUndecodable(head.text)) throw new InputError(`line ${head.line}, the header: ${NOT_UTF8}`)
  const header = head ? splitter.split(head.text).map(name => name?.trim() ?? '') : []
  if (header.length > MAX_FIELDS) throw new InputError(`line ${head!.line}, the header, has ${TOO_MANY_FIELDS}`)
  return { delimiter, skipLines: skipped + skipLines, header, records: after(others, records) }
}

/** Enough lines to recognize the header, however the bytes of the file arrive. @param skipped number of lines before these */
async function firstLines(lines: AsyncGenerator<RowText[]>, skipped: number): Promise<RowText[]> {
  const first: RowText[] = []
  let above = skipped
  let characters = 0
  while (first.length < LINES_TO_COMPARE && characters < CHARACTERS_TO_COMPARE) {
    const { done, value } = await lines.next()
    if (done) break
    for (const line of value.slice(above)) {
      first.push(line)
      characters += line.text.length
    }
    above = Math.max(0, above - value.length)
  }
  return first
}

/** A line that may be the header; a longer one is not split into fields. */
const bounded = (line: RowText): RowText =>
  line.text.length > MAX_HEADER ? { ...line, text: line.text.slice(0, MAX_HEADER), problem: TOO_LONG } : line

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
