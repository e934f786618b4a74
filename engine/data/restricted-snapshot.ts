import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'
import { Suspended } from './suspended.ts'
import type { RowView } from '../row-format/row-view.ts'
import {
  type Bounds,
  type Column,
  type ColumnAttribute,
  type IndexRange,
  SEGMENT_WORDS,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
  type TableSnapshot,
} from './snapshot.ts'

/**
 * A snapshot without the entities that a caller may not see: for its readers they do not exist. All reads go through
 * snapshots, so no path to the data can be forgotten.
 * Source: protocol notes, 8.9.
 */
export class RestrictedSnapshot implements Snapshot {
  private readonly tables = new Map<DataClass, TableSnapshot>()

  /** @param findVisible called once for each dataclass: returns the rows that may be seen, or undefined for all of them */
  constructor(
    readonly fullSnapshot: Snapshot,
    private readonly findVisible: (dataClass: DataClass) => RowSet | undefined,
  ) {}

  get globalStamp(): number {
    return this.fullSnapshot.globalStamp
  }

  get vectorIndexes(): Snapshot['vectorIndexes'] {
    return this.fullSnapshot.vectorIndexes
  }

  table(dataClass: DataClass): TableSnapshot {
    const knownTable = this.tables.get(dataClass)
    if (knownTable) return knownTable
    const visibleRows = this.findVisible(dataClass)
    const fullTable = this.fullSnapshot.table(dataClass)
    const table = visibleRows ? new RestrictedTable(fullTable, visibleRows) : fullTable
    this.tables.set(dataClass, table)
    return table
  }

  release(): void {
    this.fullSnapshot.release()
  }
}

/**
 * A snapshot for a thread without plugin code.
 * @throws {Suspended} from `table`, for a dataclass that is in `restrictedNames`
 */
export const guardSnapshot = (snapshot: Snapshot, restrictedNames: ReadonlySet<string> = NONE): Snapshot =>
  restrictedNames.size === 0
    ? snapshot
    : new RestrictedSnapshot(snapshot, ({ name }) => {
        if (restrictedNames.has(name)) throw new Suspended({ kind: 'code' })
        return undefined
      })

const NONE: ReadonlySet<string> = new Set()

/**
 * Visible rows among `rows`, which were not found through this table. Rows that do not exist are kept, unless the table is
 * restricted: then they cannot be distinguished from hidden rows.
 */
export const visibleOf = (rows: RowSet, table: TableSnapshot): RowSet =>
  table.isRestricted ? rows.and(table.live) : rows

class RestrictedTable implements TableSnapshot {
  readonly live: RowSet
  readonly isRestricted = true
  private readonly columns = new Map<ColumnAttribute, Column>()

  constructor(
    private readonly fullTable: TableSnapshot,
    visibleRows: RowSet,
  ) {
    this.live = fullTable.live.and(visibleRows)
  }

  get dataClass(): DataClass {
    return this.fullTable.dataClass
  }

  get rowIdLimit(): number {
    return this.fullTable.rowIdLimit
  }

  row(rowId: number): RowView | undefined {
    return this.live.has(rowId) ? this.fullTable.row(rowId) : undefined
  }

  column(attribute: ColumnAttribute): Column {
    let column = this.columns.get(attribute)
    if (!column) {
      column = new RestrictedColumn(this.fullTable.column(attribute), this.live.toWords())
      this.columns.set(attribute, column)
    }
    return column
  }

  rowsToDecode(attribute: ColumnAttribute, limit: number): number {
    return this.fullTable.rowsToDecode(attribute, limit)
  }

  index(attribute: StorageAttribute): SecondaryIndex | undefined {
    const index = this.fullTable.index(attribute)
    return index && new RestrictedIndex(index, this.live)
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    return this.fullTable.referencing(relation, targetRowId).filter(rowId => this.live.has(rowId))
  }

  findKey(key: Value): number | undefined {
    const rowId = this.fullTable.findKey(key)
    return rowId !== undefined && this.live.has(rowId) ? rowId : undefined
  }

  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined {
    return this.live.has(rowId) ? this.fullTable.binary(rowId, attribute) : undefined
  }
}

/** A column without kernels, because they would read unrestricted segments. */
class RestrictedColumn implements Column {
  private readonly segments = new Map<number, Segment>()

  constructor(
    private readonly fullColumn: Column,
    /** Bitmap of the rows that may be seen. */
    private readonly visibleWords: Uint32Array,
  ) {}

  get attribute(): ColumnAttribute {
    return this.fullColumn.attribute
  }

  segment(index: number): Segment {
    let segment = this.segments.get(index)
    if (!segment) {
      const fullSegment = this.fullColumn.segment(index)
      const first = index * SEGMENT_WORDS
      const presence = fullSegment.presence.map((word, i) => word & (this.visibleWords[first + i] ?? 0))
      segment = { ...fullSegment, presence, ...('page' in fullSegment && { page: undefined }) }
      this.segments.set(index, segment)
    }
    return segment
  }
}

/** An index without its order, which includes all rows. */
class RestrictedIndex implements SecondaryIndex {
  constructor(
    private readonly fullIndex: SecondaryIndex,
    private readonly visibleRows: RowSet,
  ) {}

  equal(value: Value): RowSet {
    return this.fullIndex.equal(value).and(this.visibleRows)
  }

  range(bounds: Bounds): RowSet {
    return this.fullIndex.range(bounds).and(this.visibleRows)
  }

  prefix(prefix: string): RowSet {
    return this.fullIndex.prefix(prefix).and(this.visibleRows)
  }

  estimate(what: IndexRange, limit: number): number {
    return this.fullIndex.estimate(what, limit)
  }
}
