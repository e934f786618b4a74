import { parseDay } from '../../../engine/base/time/read-date.ts'
import { CsvSplitter, rawLines, readText, type RowText } from '../../../engine/command-line.ts'
import type { ExportColumn } from './export-column.ts'

/** Cells of a row as strings; null for null. */
type Cells = readonly (string | null)[]

/** The entities of an export, which can be read once. */
export interface TableRows {
  readonly dataClass: string
  readonly columns: readonly ExportColumn[]
  /** Rows in chunks, as they arrive. */
  readonly parts: AsyncIterable<readonly Cells[]>
}

/**
 * Reads the CSV that a server writes: its header has the path of each column, its fields all digits of numbers.
 * @throws {Error} it is not CSV
 */
export async function readTable(
  bytes: AsyncIterable<Buffer>,
): Promise<{ header: readonly string[]; parts: AsyncIterable<readonly Cells[]> }> {
  const records = cellsOf(rawLines(readText(bytes)))
  const first = await records.next()
  if (first.done) throw new Error('the server sent an export without a header')
  const [header, ...rows] = first.value
  return { header: header!.map(String), parts: after(rows, records) }
}

async function* after(first: readonly Cells[], furtherRows: AsyncIterable<Cells[]>): AsyncGenerator<readonly Cells[]> {
  yield first
  yield* furtherRows
}

async function* cellsOf(lines: AsyncIterable<RowText[]>): AsyncGenerator<Cells[]> {
  const splitter = new CsvSplitter(',')
  let width = 0
  const read = ({ line, text, problem }: RowText): Cells => {
    const cells = problem === undefined ? splitter.split(text) : []
    width ||= cells.length
    if (cells.length === width && width > 0) return cells
    throw new Error(`line ${line} of the export cannot be read: ${problem ?? 'it has a different number of fields'}`)
  }
  for await (const some of lines) {
    const rows: Cells[] = []
    for (const line of some) {
      const records: RowText[] = []
      // The null of a single column is an empty line.
      if (width === 1 && !splitter.isOpen && line.text === '\r') records.push(line)
      else splitter.push(line, records)
      for (const record of records) rows.push(read(record))
    }
    if (rows.length > 0) yield rows
  }
  const open: RowText[] = []
  splitter.end(open)
  open.forEach(read)
}

/** Milliseconds since 1970 of a date without time, as ISO text or as `31!1!2026`. */
export const dayMs = (text: string): number => parseDay(text)!

/** ISO text of a date without time. */
export const isoDay = (text: string): string => new Date(dayMs(text)).toISOString().split('T')[0]!
