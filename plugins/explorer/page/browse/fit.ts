/** Widths of columns fitted to their values, unless they were resized. */
import type { DataClass } from '../base/catalog.ts'
import { cellText } from './cell.tsx'
import { clampWidth, type Column, fittedLength, fixedWidth, headerWidth } from './columns.ts'
import type { Rows } from './rows.ts'

/** Widths by dataclass and path: the first rows decide for the lifetime of the page, so that columns do not jump. */
const widths = new Map<string, number>()
const CHARACTER = 7.4
const PADDING = 28
const MAX_FITTED = 340

/** Fits the columns; a column whose width does not change is returned as it is. */
export function fitColumns(columns: readonly Column[], rows: Rows, { name }: DataClass): readonly Column[] {
  const isReady = rows.set.value !== undefined && (rows.count.value ?? 0) > 0
  return columns.map(column => {
    if (column.isFixed || fixedWidth(column.attribute) !== undefined) return column
    const key = `${name}.${column.path}`
    const width = widths.get(key) ?? (isReady ? widthOf(column, rows) : undefined)
    if (width === undefined) return column
    widths.set(key, width)
    return { ...column, width }
  })
}

/** @returns undefined if there are no values yet */
function widthOf(column: Column, { sample }: Rows): number | undefined {
  const lengths = sample.map(entity => cellText(column, entity).length)
  const most = fittedLength(lengths, column.attribute)
  if (most === 0) return undefined
  const chip = column.attribute.kind === 'relatedEntity' ? PADDING / 2 : 0
  return clampWidth(Math.max(headerWidth(column.path), Math.min(MAX_FITTED, most * CHARACTER + PADDING + chip)))
}
