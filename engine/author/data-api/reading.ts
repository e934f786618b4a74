import type { StorageAttribute } from '../../catalog/attribute.ts'
import { type Cell, cellOfSegment, readsSegments } from '../../query/scan/cell-reader.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { type Column, SEGMENT_ROWS, type Segment } from '../../data/snapshot.ts'
import type { Binding } from './binding.ts'

/** Readers of an attribute whose column has its complete values. */
export interface NumberReader {
  readonly attribute: StorageAttribute
  readonly slot: number
  readonly ofRow: (row: RowView) => unknown
  readonly ofCell: (cell: Cell) => unknown
}

/** Number of entities whose rows are read for an attribute before its column is used. */
const ROWS_BEFORE_COLUMN = 16

/**
 * An iteration over one selection. A number or a bool that is read from many of its entities comes from the column; the rows are
 * then not loaded at all.
 */
export class Reading {
  readonly version: number
  readonly globalStamp: number
  private readonly counts: number[] = []
  private readonly cursors: (ColumnCursor | undefined)[] = []

  /** @param size number of entities in the selection */
  constructor(
    private readonly binding: Binding,
    private readonly size: number,
  ) {
    const { codeSession } = binding
    this.version = codeSession.snapshots.version
    this.globalStamp = codeSession.snapshots.current.globalStamp
  }

  /** @returns undefined if the row should be read instead */
  cursor({ attribute, slot }: NumberReader): ColumnCursor | undefined {
    const { codeSession, dataClass } = this.binding
    // A column belongs to one snapshot.
    if (this.version !== codeSession.snapshots.version) return undefined
    const cursor = this.cursors[slot]
    if (cursor !== undefined) return cursor
    const count = (this.counts[slot] ?? 0) + 1
    this.counts[slot] = count
    if (count !== ROWS_BEFORE_COLUMN) return undefined
    const table = codeSession.snapshots.current.table(dataClass)
    if (table.rowsOnly || !readsSegments(table, this.size)) return undefined
    this.cursors[slot] = new ColumnCursor(table.column(attribute))
    return this.cursors[slot]
  }
}

/** Reads rows of a column, fastest in ascending order. */
class ColumnCursor {
  private index = -1
  private segment: Segment | undefined

  constructor(private readonly column: Column) {}

  read(rowId: number): Cell {
    const index = Math.floor(rowId / SEGMENT_ROWS)
    if (index !== this.index) {
      this.index = index
      this.segment = this.column.segment(index)
    }
    return cellOfSegment(this.segment!, rowId % SEGMENT_ROWS)
  }
}
