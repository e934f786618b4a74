import type { Archive } from './archive.ts'
import { type CellContext, CellProblem, cellValue, type SheetCell } from './cell-value.ts'
import { type SheetRow, sheetRows } from './sheet-rows.ts'

/** A cell with its value: not null, and not a text of blanks only. */
export interface FilledCell {
  readonly column: number
  readonly cell: SheetCell
  readonly value: unknown
}

/** A row with at least one value. */
export interface FilledRow {
  /** Number of the row, from 0. */
  readonly index: number
  readonly cells: readonly FilledCell[]
}

/** True for null, and for a text of blanks only. */
export const isEmpty = (value: unknown): boolean => value === null || (typeof value === 'string' && value.trim() === '')

/** The cells of a row that have a value; {@link CellProblem} for a value that cannot be read. */
function filledCells({ cells }: SheetRow, context: CellContext): FilledCell[] {
  const filled: FilledCell[] = []
  for (const cell of cells) {
    const value = cellValue(cell, context)
    if (!isEmpty(value)) filled.push({ column: cell.column, cell, value })
  }
  return filled
}

/** Reads the first rows of a sheet that have values. @param isEnough true if no row after these is needed */
export async function firstRows(
  archive: Archive,
  part: string,
  context: CellContext,
  isEnough: (rows: readonly FilledRow[], index: number) => boolean,
): Promise<FilledRow[]> {
  const filled: FilledRow[] = []
  for await (const rows of sheetRows(archive.texts(part)))
    for (const row of rows) {
      const cells = filledCells(row, context)
      if (cells.length > 0) filled.push({ index: row.index, cells })
      if (isEnough(filled, row.index)) return filled
    }
  return filled
}

/** Text of a cell, as the name of a column. */
export const nameOf = ({ cell, value }: FilledCell): string =>
  String(value instanceof CellProblem ? cell.text : value).trim()
