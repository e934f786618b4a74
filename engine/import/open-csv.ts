import { InputError } from '../base/input-error.ts'
import { type FoundHeader, findHeader } from './find-header.ts'
import { hasUndecodable, NOT_UTF8 } from './read-text.ts'
import { CsvSplitter } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** Number of lines in which a header is looked for, and whose numbers of fields are compared. */
const LINES_TO_COMPARE = 1_000

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
  const count = (chosen.skipLines ?? 0) + LINES_TO_COMPARE
  const first = await firstLines(lines, count)
  const { delimiter, skipLines } = findHeader(first.slice(0, count), chosen, names)
  const splitter = new CsvSplitter(delimiter)
  const records = splitCsv(after(first.slice(skipLines), lines), splitter)
  const [head, ...others] = await firstOf(records)
  if (head?.problem !== undefined) throw new InputError(`line ${head.line}, the header: ${head.problem}`)
  if (head && hasUndecodable(head.text)) throw new InputError(`line ${head.line}, the header: ${NOT_UTF8}`)
  const header = head ? splitter.split(head.text).map(name => name?.trim() ?? '') : []
  return { delimiter, skipLines, header, records: after(others, records) }
}

/** Enough lines to recognize the header, however the bytes of the file arrive. */
async function firstLines(lines: AsyncGenerator<RowText[]>, count: number): Promise<RowText[]> {
  let first: RowText[] = []
  while (first.length < count) {
    const next = await lines.next()
    if (next.done) break
    first = first.concat(next.value)
  }
  return first
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
