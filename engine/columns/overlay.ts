import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import { RowSet } from '../row-set/row-set.ts'
import { type Change, DELETED } from '../data/change.ts'
import { RowView } from '../row-format/row-view.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import { SegmentBuilder } from './segment-builder.ts'
import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
  type TableSnapshot,
} from '../data/snapshot.ts'
import { fold } from '../base/text/fold.ts'

/** Bytes by row id; null for a deleted row. */
type ChangedRows = ReadonlyMap<number, Uint8Array | null>

interface ChangedBinary {
  readonly attribute: StorageAttribute
  readonly rowId: number
  readonly value: BinaryValue | null
  /** {@link Overlay.mark} when the value was put. */
  readonly mark: number
}

/**
 * A snapshot with the changes of an open transaction on top, which are invisible to all others. Queries, orders and aggregates
 * read it like any snapshot, so they see the writes of the transaction.
 */
export class Overlay implements Snapshot {
  private readonly tables = new Map<DataClass, TableSnapshot>()
  private readonly changes: Change[] = []
  private binaries: ChangedBinary[] = []

  constructor(
    private readonly base: Snapshot,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
  ) {}

  get globalStamp(): number {
    return this.base.globalStamp
  }

  /** Current position, for {@link rollback}. */
  get mark(): number {
    return this.changes.length
  }

  add(changes: readonly Change[]): void {
    for (const change of changes) this.changes.push(change)
    this.tables.clear()
  }

  /** Adds the bytes of a value, since {@link Change} contains only rows. */
  addBinary(attribute: StorageAttribute, rowId: number, value: BinaryValue | null): void {
    this.binaries.push({ attribute, rowId, value, mark: this.mark })
  }

  rollback(mark: number): void {
    this.changes.length = mark
    this.binaries = this.binaries.filter(binary => binary.mark <= mark)
    this.tables.clear()
  }

  table(dataClass: DataClass): TableSnapshot {
    let table = this.tables.get(dataClass)
    if (!table) {
      const base = this.base.table(dataClass)
      const rows = new Map<number, Uint8Array | null>()
      for (const { tableNumber, rowId, operation, row } of this.changes) {
        if (tableNumber === dataClass.tableNumber) rows.set(rowId, operation === DELETED ? null : row!)
      }
      table = rows.size > 0 ? new OverlayTable(base, this.layouts.get(dataClass)!, rows, this.binaries) : base
      this.tables.set(dataClass, table)
    }
    return table
  }

  release(): void {
    this.base.release()
  }
}

class OverlayTable implements TableSnapshot {
  readonly dataClass: DataClass
  readonly rowIdLimit: number
  readonly live: RowSet
  private readonly columns = new Map<ColumnAttribute, Column>()

  constructor(
    private readonly base: TableSnapshot,
    private readonly layout: RowLayout,
    private readonly changedRows: ChangedRows,
    private readonly binaries: readonly ChangedBinary[],
  ) {
    this.dataClass = base.dataClass
    const existingRows = RowSet.fromIds([...changedRows].filter(([, row]) => row).map(([rowId]) => rowId))
    this.rowIdLimit = [...changedRows.keys()].reduce((limit, rowId) => Math.max(limit, rowId + 1), base.rowIdLimit)
    this.live = base.live.minus(RowSet.fromIds(changedRows.keys())).or(existingRows)
  }

  row(rowId: number): RowView | undefined {
    const row = this.changedRows.get(rowId)
    return row === undefined ? this.base.row(rowId) : row ? new RowView(this.layout, row) : undefined
  }

  column(attribute: ColumnAttribute): Column {
    let column = this.columns.get(attribute)
    if (!column) {
      column = { attribute, segment: memoize(index => this.segment(attribute, index)) }
      this.columns.set(attribute, column)
    }
    return column
  }

  /** At least 1, because not all texts are in shared memory. */
  rowsToDecode(attribute: ColumnAttribute, limit: number): number {
    return Math.max(1, this.base.rowsToDecode(attribute, limit))
  }

  /** Always undefined: columns give the same results. */
  index(): SecondaryIndex | undefined {
    return undefined
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    const reference = this.layout.referenceOf.get(relation)!
    const rowIds = this.base.referencing(relation, targetRowId).filter(rowId => !this.changedRows.has(rowId))
    const addedIds = [...this.changedRows.keys()].filter(rowId => this.row(rowId)?.reference(reference) === targetRowId)
    return Uint32Array.from([...rowIds, ...addedIds]).sort()
  }

  findKey(key: Value): number | undefined {
    const { key: attribute } = this.dataClass
    const same = (value: Value | true): boolean =>
      typeof value === 'string' && typeof key === 'string' ? fold(value) === fold(key) : value === key
    for (const rowId of this.changedRows.keys()) {
      const row = this.row(rowId)
      if (row && same(row.value(attribute))) return rowId
    }
    const match = this.base.findKey(key)
    return match !== undefined && this.changedRows.get(match) === null ? undefined : match
  }

  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined {
    const change = this.binaries.findLast(binary => binary.attribute === attribute && binary.rowId === rowId)
    return change ? (change.value ?? undefined) : this.base.binary(rowId, attribute)
  }

  private segment(attribute: ColumnAttribute, index: number): Segment {
    const start = index * SEGMENT_ROWS
    const isChanged = [...this.changedRows.keys()].some(rowId => rowId >= start && rowId < start + SEGMENT_ROWS)
    if (!isChanged) return this.base.column(attribute).segment(index)
    const builder = new SegmentBuilder(this.layout, attribute)
    for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
      if (this.live.has(start + entry)) builder.put(entry, this.row(start + entry))
    }
    return builder.finish().segment
  }
}

function memoize<T>(make: (index: number) => T): (index: number) => T {
  const cache = new Map<number, T>()
  return index => {
    let value = cache.get(index)
    if (value === undefined) {
      value = make(index)
      cache.set(index, value)
    }
    return value
  }
}
