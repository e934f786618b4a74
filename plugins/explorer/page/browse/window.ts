/** The part of a wide table that is in view, and the rows that one answer may carry. */
import { type Attribute, isRelation, shapeOf } from '../base/model.ts'
import { type Column, LISTED } from './columns.ts'

/** Number of columns that are all rendered. */
const ALL = 24
/** Columns rendered on both sides of the visible ones. */
const MARGIN = 2
/** No answer is larger. */
const MAX_BYTES = 200_000
/** Rows of one page at most. */
const MAX_ROWS = 200
/** Key, stamp and time of an entity. */
const HEAD_BYTES = 140
/** JSON of a value that is sent whole; longer ones are links with their beginning. */
export const BRIEF_BYTES = 200
/** The link, and the beginning with every quote in it escaped once more. */
const LONG_BYTES = 2 * BRIEF_BYTES + 160

export interface VisibleColumns {
  readonly columns: readonly Column[]
  /** Position of the first of them. */
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

/** At most: also where every value is long. */
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
