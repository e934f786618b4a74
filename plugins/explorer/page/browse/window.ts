/** The visible part of a wide table, and the number of rows in one answer. */
import { type Attribute, isRelation, shapeOf } from '../base/model.ts'
import { type Column, LISTED } from './columns.ts'

/** Maximum number of columns for which all are rendered. */
const ALL = 24
/** Columns rendered on both sides of the visible ones. */
const MARGIN = 2
/** Maximum size of an answer. */
const MAX_BYTES = 200_000
/** Maximum number of rows of one page. */
const MAX_ROWS = 200
/** Size of key, stamp and time of an entity. */
const HEAD_BYTES = 140
/** Maximum JSON size of a value that is sent whole; longer ones are links with an excerpt. */
export const BRIEF_BYTES = 200
/** Size of the link with its excerpt, in which every quote is escaped once more. */
const LONG_BYTES = 2 * BRIEF_BYTES + 160

export interface VisibleColumns {
  readonly columns: readonly Column[]
  /** Position of the first visible column. */
  readonly first: number
  /** Width of the columns before it. */
  readonly left: number
}

export function visibleColumns(columns: readonly Column[], left: number, width: number): VisibleColumns {
  if (columns.length <= ALL) return { columns, first: 0, left: 0 }
  const ends: number[] = []
  for (const column of columns) ends.push((ends.at(-1) ?? 0) + column.width)
  const firstVisible = ends.findIndex(end => end > left)
  const lastVisible = ends.findIndex(end => end >= left + width)
  const first = Math.max(0, (firstVisible < 0 ? columns.length - 1 : firstVisible) - MARGIN)
  const last = (lastVisible < 0 ? columns.length - 1 : lastVisible) + MARGIN
  return { columns: columns.slice(first, last + 1), first, left: ends[first - 1] ?? 0 }
}

/** Rows of a page with these columns. */
export function pageRowsOf(columns: readonly Column[]): number {
  const bytes = columns.reduce((sum, column) => sum + bytesOf(column), HEAD_BYTES)
  return Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_BYTES / bytes)))
}

/** Upper bound, for the case that every value is long. */
function bytesOf({ path, attribute, relations }: Column): number {
  const members = relations.some(({ kind }) => kind === 'relatedEntities') ? LISTED : 1
  const ofRelations = relations.length * HEAD_BYTES
  return members * (path.length + 4 + ofRelations + valueBytes(attribute))
}

function valueBytes(attribute: Attribute): number {
  if (isRelation(attribute)) return HEAD_BYTES + LONG_BYTES
  switch (shapeOf(attribute)) {
    case 'bool':
      return 5
    case 'string':
    case 'object':
    case 'vector':
      return LONG_BYTES
    case 'image':
    case 'blob':
      return LONG_BYTES / 2
    default:
      return 40
  }
}
