import { quantity } from '../../base/counted.ts'
import { type FilledCell, type FilledRow, nameOf } from './filled-rows.ts'

/** The row with the names of the columns. */
export interface Header {
  /** Number of the row, from 0. */
  readonly index: number
  /** Names by column, empty for a column without one. */
  readonly names: readonly string[]
  /** True if rows above it have values, such as a title. */
  readonly isBelowOthers: boolean
  /** Sentence for the user if rows have values in columns without a name. */
  readonly question?: string | undefined
}

/** Number of rows with values by which a header is found. */
export const ROWS_FOR_HEADER = 50
/** Maximum number of rows with values above a header. */
const MAX_ABOVE = 10
/** Number of columns of a header that may be directly below a title; with fewer, it could be a row below names of fewer columns. */
const MIN_COLUMNS = 3

/**
 * Finds the header among the first rows with values. It is the first row, unless most rows below have values outside its columns, and a row
 * further below is a header without doubt: different texts for all columns, below rows with at most half as many values.
 */
export function findHeader(rows: readonly FilledRow[]): Header {
  if (rows.length === 0) return { index: 0, names: [], isBelowOthers: false }
  if (fits(rows, 0)) return headerAt(rows, 0)
  const below = rows.slice(0, MAX_ABOVE + 1).findIndex((_, at) => at > 0 && isHeader(rows, at))
  if (below > 0) return headerAt(rows, below)
  const width = Math.max(...rows.map(({ cells }) => cells.length))
  const question = `row ${rows[0]!.index + 1} names ${quantity(rows[0]!.cells.length, 'column')}, but rows below have values in ${width}: --header-row says which row has the names`
  return { ...headerAt(rows, 0), question }
}

/** The header in a row of the user's choice. */
export function headerAt(rows: readonly FilledRow[], at: number): Header {
  const { index, cells } = rows[at]!
  const names: string[] = []
  for (const cell of cells) names[cell.column] = nameOf(cell)
  return { index, names: Array.from(names, name => name ?? ''), isBelowOthers: at > 0 }
}

/** True if most rows below a row have values only in its columns, or if there are none. */
function fits(rows: readonly FilledRow[], at: number): boolean {
  const columns = new Set(rows[at]!.cells.map(({ column }) => column))
  const below = rows.slice(at + 1)
  const count = below.filter(({ cells }) => cells.every(({ column }) => columns.has(column))).length
  return count * 2 > below.length || below.length === 0
}

function isHeader(rows: readonly FilledRow[], at: number): boolean {
  const { cells, index } = rows[at]!
  const above = rows.slice(0, at)
  const hasGap = index > above.at(-1)!.index + 1
  const names = new Set(cells.map(cell => nameOf(cell).toLowerCase()))
  return (
    at + 1 < rows.length &&
    cells.length >= (hasGap ? 2 : MIN_COLUMNS) &&
    cells.every(isText) &&
    names.size === cells.length &&
    above.every(row => row.cells.length * 2 <= cells.length && row.cells[0]!.column <= cells[0]!.column) &&
    fits(rows, at)
  )
}

const TEXT_TYPES = ['s', 'str', 'inlineStr']

const isText = ({ cell, value }: FilledCell): boolean => TEXT_TYPES.includes(cell.type) && typeof value === 'string'
