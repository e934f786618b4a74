/** Changes of the columns, in the address. */
import { change, place } from '../base/place.ts'
import { clampWidth, type Column, formatColumns, orderPath } from './columns.ts'
import { formatOrder, orderBy, parseOrder } from './order.ts'

/** Orders by a column. @param isAdded adds it to the columns of the order */
export function chooseColumn(column: Column, isAdded: boolean): void {
  const path = orderPath(column)
  if (path === undefined) return
  change({ order: formatOrder(orderBy(parseOrder(place.value.query.order ?? ''), path, isAdded)) })
}

/** Moves a column. A position out of range means the nearest one. */
export function moveColumn(columns: readonly Column[], from: number, to: number): void {
  const column = columns[from]
  if (!column) return
  const at = Math.min(Math.max(0, to), columns.length - 1)
  setColumns(columns.toSpliced(from, 1).toSpliced(at, 0, column))
}

export const resizeColumn = (columns: readonly Column[], at: number, width: number): void =>
  setColumns(columns.with(at, { ...columns[at]!, width: clampWidth(width), isFixed: true }))

export const setColumns = (columns: readonly Column[]): void =>
  change({ columns: formatColumns(columns) }, { replace: true })
