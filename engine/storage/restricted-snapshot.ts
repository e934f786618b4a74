import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'
import { CodeNeeded } from './code-needed.ts'
import type { RowView } from './row-view.ts'
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
 * A snapshot in which some entities may not be seen: they are to whoever reads it as if they did not exist. Everything
 * that reads snapshots reads it, so no way to data is forgotten.
 * Source: protocol notes, 8.9.
 */
export class RestrictedSnapshot implements Snapshot {
  private readonly tables = new Map<DataClass, TableSnapshot>()

  /** @param visible rows of a dataclass that may be seen; undefined: all of them, now */
  constructor(
    readonly whole: Snapshot,
    private readonly visible: (dataClass: DataClass) => RowSet | undefined,
  ) {}

  get globalStamp(): number {
    return this.whole.globalStamp
  }

  get vectorIndexes(): Snapshot['vectorIndexes'] {
    return this.whole.vectorIndexes
  }

  table(dataClass: DataClass): TableSnapshot {
    const known = this.tables.get(dataClass)
    if (known) return known
    const visible = this.visible(dataClass)
    const table = this.whole.table(dataClass)
    if (!visible) return table
    const restricted = new RestrictedTable(table, visible)
    this.tables.set(dataClass, restricted)
    return restricted
  }

  release(): void {
    this.whole.release()
  }
}

/** The same in a thread that does not know what may be seen. @throws {CodeNeeded} where it would have to */
export const guarded = (snapshot: Snapshot, restricted: ReadonlySet<string> = NONE): Snapshot =>
  restricted.size === 0
    ? snapshot
    : new RestrictedSnapshot(snapshot, ({ name }) => {
        if (restricted.has(name)) throw new CodeNeeded()
        return undefined
      })

const NONE: ReadonlySet<string> = new Set()

/** Of rows that were found from elsewhere, those that may be seen. */
export const visibleOf = (rows: RowSet, { hidden }: TableSnapshot): RowSet => (hidden ? rows.minus(hidden) : rows)

class RestrictedTable implements TableSnapshot {
  readonly live: RowSet
  readonly hidden: RowSet
  private readonly columns = new Map<ColumnAttribute, Column>()

  constructor(
    private readonly whole: TableSnapshot,
    visible: RowSet,
  ) {
    this.live = whole.live.and(visible)
    this.hidden = whole.live.minus(visible)
  }

  get dataClass(): DataClass {
    return this.whole.dataClass
  }

  get rowIdLimit(): number {
    return this.whole.rowIdLimit
  }

  row(rowId: number): RowView | undefined {
    return this.live.has(rowId) ? this.whole.row(rowId) : undefined
  }

  column(attribute: ColumnAttribute): Column {
    let column = this.columns.get(attribute)
    if (!column) {
      column = new RestrictedColumn(this.whole.column(attribute), this.live.toWords())
      this.columns.set(attribute, column)
    }
    return column
  }

  rowsToDecode(attribute: ColumnAttribute, limit: number): number {
    return this.whole.rowsToDecode(attribute, limit)
  }

  index(attribute: StorageAttribute): SecondaryIndex | undefined {
    const index = this.whole.index(attribute)
    return index && new RestrictedIndex(index, this.live)
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    return this.whole.referencing(relation, targetRowId).filter(rowId => this.live.has(rowId))
  }

  findKey(key: Value): number | undefined {
    const rowId = this.whole.findKey(key)
    return rowId !== undefined && this.live.has(rowId) ? rowId : undefined
  }

  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined {
    return this.live.has(rowId) ? this.whole.binary(rowId, attribute) : undefined
  }
}

/** Without kernels, which look at whole segments. */
class RestrictedColumn implements Column {
  private readonly segments = new Map<number, Segment>()

  constructor(
    private readonly whole: Column,
    /** Bitmap of the rows that may be seen. */
    private readonly visible: Uint32Array,
  ) {}

  get attribute(): ColumnAttribute {
    return this.whole.attribute
  }

  segment(index: number): Segment {
    let segment = this.segments.get(index)
    if (!segment) {
      const whole = this.whole.segment(index)
      const first = index * SEGMENT_WORDS
      const present = whole.present.map((word, i) => word & (this.visible[first + i] ?? 0))
      segment = { ...whole, present, ...('page' in whole && { page: undefined }) }
      this.segments.set(index, segment)
    }
    return segment
  }
}

/** Without its order, which is that of all rows. */
class RestrictedIndex implements SecondaryIndex {
  constructor(
    private readonly whole: SecondaryIndex,
    private readonly visible: RowSet,
  ) {}

  equal(value: Value): RowSet {
    return this.whole.equal(value).and(this.visible)
  }

  range(bounds: Bounds): RowSet {
    return this.whole.range(bounds).and(this.visible)
  }

  prefix(prefix: string): RowSet {
    return this.whole.prefix(prefix).and(this.visible)
  }

  estimate(what: IndexRange, limit: number): number {
    return this.whole.estimate(what, limit)
  }
}
