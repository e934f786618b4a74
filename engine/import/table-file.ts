import { isLongNumber, stringifyExact } from '../base/exact-json.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { MAX_ROW_LENGTH, type RowText, TOO_LONG } from './split-rows.ts'

/** A row of a table. */
export interface TableRow {
  /** Number of the row in its sheet, or in its file if the header were row 1. */
  readonly line: number
  /** A value for each column: text, number, bigint, boolean, bytes, array, object, null. Dates are ISO texts. */
  readonly cells: readonly unknown[]
  /** Reason why it cannot be saved. */
  readonly problem?: string
}

/** A spreadsheet or a Parquet file. */
export interface TableFile {
  readonly columns: readonly { readonly name: string; readonly type?: StorageModel | undefined }[]
  /** How the file is read, for the user: `Excel, sheet "Firms"`. */
  readonly description: string
  /** The rows, in groups as they become available; each call reads the file again. */
  rows(): AsyncIterable<readonly TableRow[]>
  /** Notes for the user about the rows read so far, in sentences. */
  notes?(): readonly string[]
}

/** The part of a table that is read. */
export interface TableOptions {
  /** Name or number of a sheet; by default the only one with rows. */
  readonly sheet?: string | undefined
  /** Number of the row with the names of the columns; found by default. */
  readonly headerRow?: number | undefined
  /** Reads the addresses of hyperlinks in place of the texts of their cells. */
  readonly links?: boolean | undefined
  /** Names of columns whose values are not read. */
  readonly leftOut?: ReadonlySet<string> | undefined
}

/** Number of characters after which rows are passed on: cells of a few bytes may refer to long texts. */
const CHARACTERS_TOGETHER = 4 * 2 ** 20

/** The rows as texts of comma-separated CSV, so that they are loaded like CSV. */
export async function* tableTexts(table: TableFile): AsyncGenerator<RowText[]> {
  for await (const rows of table.rows()) {
    let texts: RowText[] = []
    let characters = 0
    for (const row of rows) {
      const text = rowText(row)
      texts.push(text)
      characters += text.text.length
      if (characters < CHARACTERS_TOGETHER) continue
      yield texts
      texts = []
      characters = 0
    }
    yield texts
  }
}

function rowText({ line, cells, problem }: TableRow): RowText {
  if (charactersOf(cells) > MAX_ROW_LENGTH) return { line, text: '', problem: TOO_LONG }
  const text = csvText(cells)
  return problem === undefined ? { line, text } : { line, text, problem }
}

/** Number of characters of the texts in a row. */
export const charactersOf = (cells: readonly unknown[]): number =>
  cells.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? cell.length : 0), 0)

export const csvText = (cells: readonly unknown[]): string => cells.map(fieldOf).join(',')

function fieldOf(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  const text = cellText(cell)
  return typeof cell === 'string' || typeof cell === 'object' ? `"${text.replaceAll('"', '""')}"` : text
}

/** Text of a cell that is not null, as CSV has it; objects and numbers with all their digits. */
export function cellText(cell: unknown): string {
  if (cell instanceof Uint8Array) return `data:application/octet-stream;base64,${Buffer.from(cell).toString('base64')}`
  return typeof cell === 'object' && !isLongNumber(cell) ? stringifyExact(cell) : String(cell)
}
