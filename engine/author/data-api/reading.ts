import type { StorageAttribute } from '../../catalog/attribute.ts'
import { type Cell, cellOfSegment, readsSegments } from '../../query/scan/cell-reader.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { type Column, SEGMENT_ROWS, type Segment } from '../../data/snapshot.ts'
import type { Binding } from './binding.ts'

/** How an attribute whose column tells all of its value is read. */
export interface NumberReader {
  readonly attribute: StorageAttribute
  readonly slot: number
  readonly ofRow: (row: RowView) => unknown
  readonly ofCell: (cell: Cell) => unknown
}

/** Entities of which an attribute is read from their rows before it is read from its column for those that follow. */
const ROWS_BEFORE_COLUMN = 16

/**
 * Entities that come from one selection. When a number or a bool is read from many of them, it is read from its column and
 * not from their rows, which are then not loaded at all.
 */
export class Reading {
  readonly version: number
  readonly globalStamp: number
  private readonly counts: number[] = []
  private readonly cursors: (ColumnCursor | undefined)[] = []

  /** @param size of the selection */
  constructor(
    private readonly binding: Binding,
    private readonly size: number,
  ) {
    const { language } = binding
    this.version = language.version
    this.globalStamp = language.snapshot.globalStamp
  }

  /** Undefined: read the row. */
  cursor({ attribute, slot }: NumberReader): ColumnCursor | undefined {
    const { language, dataClass } = this.binding
    // Columns are of one snapshot.
    if (this.version !== language.version) return undefined
    const known = this.cursors[slot]
    if (known !== undefined) return known
    const count = (this.counts[slot] ?? 0) + 1
    this.counts[slot] = count
    if (count !== ROWS_BEFORE_COLUMN) return undefined
    const table = language.snapshot.table(dataClass)
    if (!readsSegments(table, this.size)) return undefined
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
