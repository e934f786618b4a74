import { Suspended } from '../data/suspended.ts'
import assert from 'node:assert/strict'
import type { ThreadCounts } from '../base/counts/thread-counts.ts'
import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { hasIndex } from '../catalog/property-columns.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'
import { fold } from '../base/text/fold.ts'
import { decodeBinary } from '../files/encode-binary.ts'
import { DELETED, INSERTED } from '../data/change.ts'
import { changesBetween } from './change-log.ts'
import { ColumnCache } from '../columns/column-cache.ts'
import { type Environment, getBytes } from './environment.ts'
import { binaryKey, rowKey } from './keys.ts'
import { LiveRows } from './live-rows.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import { RowView } from '../row-format/row-view.ts'
import { LmdbIndex } from './secondary-index.ts'
import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
  type TableSnapshot,
} from '../data/snapshot.ts'
import type { Store } from '../data/store.ts'
import { readGlobalStamp, readTableState } from './store-state.ts'

interface StoreOptions {
  environment: Environment
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
  /** Memory for column segments of this thread. */
  cacheBytes: number
  /** Counters of this thread. */
  counts?: ThreadCounts | undefined
}

/** Opens the read side of a store, in one thread: LMDB and data derived from it. */
export const openStore = (options: StoreOptions): Store => new LmdbStore(options)

class LmdbStore implements Store {
  private readonly environment: Environment
  private readonly layouts: ReadonlyMap<DataClass, RowLayout>
  private readonly columns: ColumnCache
  private readonly liveRows = new Map<number, LiveRows>()
  /** Global stamp of all derived data. */
  private stamp = 0
  private open: LmdbSnapshot | undefined
  private isClosed = false

  constructor({ environment, layouts, cacheBytes, counts }: StoreOptions) {
    this.environment = environment
    this.layouts = layouts
    this.columns = new ColumnCache(cacheBytes, counts)
  }

  snapshot(): Snapshot {
    assert(!this.isClosed, 'the store is closed')
    assert(!this.open, 'a snapshot is still open in this thread')
    // The next read sees the newest commit. lmdb-js advances only in a timer callback, which cannot run before the synchronous
    // work with this snapshot is done.
    this.environment.root.resetReadTxn()
    const globalStamp = readGlobalStamp(this.environment)
    if (globalStamp !== this.stamp) this.catchUp(globalStamp)
    this.open = new LmdbSnapshot(this.environment, globalStamp, this.layouts, this.columns, this.liveRows, () => {
      this.open = undefined
    })
    return this.open
  }

  read<T>(work: (snapshot: Snapshot) => T): T {
    const snapshot = this.snapshot()
    try {
      return work(snapshot)
    } finally {
      snapshot.release()
    }
  }

  close(): void {
    this.isClosed = true
    this.columns.clear()
    this.liveRows.clear()
  }

  private catchUp(globalStamp: number): void {
    if (this.liveRows.size > 0 || !this.columns.isEmpty) {
      const changes = changesBetween(this.environment, this.stamp, globalStamp)
      if (!changes) {
        this.columns.clear()
        this.liveRows.clear()
      }
      for (const { tableNumber, rowId, operation } of changes ?? []) {
        this.columns.rowChanged(tableNumber, rowId)
        if (operation === INSERTED) this.liveRows.get(tableNumber)?.insert(rowId)
        else if (operation === DELETED) this.liveRows.get(tableNumber)?.delete(rowId)
      }
    }
    this.stamp = globalStamp
  }
}

class LmdbSnapshot implements Snapshot {
  private readonly tables = new Map<DataClass, LmdbTable>()
  private isReleased = false

  constructor(
    private readonly environment: Environment,
    readonly globalStamp: number,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly columns: ColumnCache,
    private readonly liveRows: Map<number, LiveRows>,
    private readonly onRelease: () => void,
  ) {}

  table(dataClass: DataClass): TableSnapshot {
    assert(!this.isReleased, 'the snapshot has been released')
    let table = this.tables.get(dataClass)
    if (!table) {
      if (!dataClass.place.isStore) throw new Suspended({ kind: 'entities', dataClass: dataClass.name })
      const layout = this.layouts.get(dataClass)
      assert(layout, `no layout of ${dataClass.name}`)
      const rowOf = (other: DataClass, rowId: number) => this.table(other).row(rowId)
      table = new LmdbTable(this.environment, layout, this.columns, this.liveRows, rowOf)
      this.tables.set(dataClass, table)
    }
    return table
  }

  release(): void {
    if (this.isReleased) return
    this.isReleased = true
    this.onRelease()
  }
}

const NO_ROWS = new Uint32Array(0)

class LmdbTable implements TableSnapshot {
  readonly dataClass: DataClass
  private readonly tableNumber: number
  private readonly key: Buffer
  private readonly openColumns = new Map<ColumnAttribute, Column>()
  private limit: number | undefined

  constructor(
    private readonly environment: Environment,
    readonly layout: RowLayout,
    private readonly columns: ColumnCache,
    private readonly liveRows: Map<number, LiveRows>,
    private readonly rowOf: (dataClass: DataClass, rowId: number) => RowView | undefined,
  ) {
    this.dataClass = layout.dataClass
    this.tableNumber = layout.dataClass.tableNumber
    this.key = rowKey(this.tableNumber, 0)
  }

  get live(): RowSet {
    let tableRows = this.liveRows.get(this.tableNumber)
    if (!tableRows) {
      tableRows = new LiveRows(this.environment, this.tableNumber)
      this.liveRows.set(this.tableNumber, tableRows)
    }
    return tableRows.rows
  }

  get rowIdLimit(): number {
    this.limit ??= readTableState(this.environment, this.tableNumber).nextRowId
    return this.limit
  }

  row(rowId: number): RowView | undefined {
    this.key.writeUInt32BE(rowId, 2)
    const bytes = getBytes(this.environment.rows, this.key)
    if (!bytes) return undefined
    const row = new RowView(this.layout, bytes)
    if (row.layoutVersion !== this.layout.version) {
      throw new Error(
        `row ${rowId} of ${this.dataClass.name} has layout ${row.layoutVersion}, the store says ${this.layout.version}`,
      )
    }
    return row
  }

  column(attribute: ColumnAttribute): Column {
    let column = this.openColumns.get(attribute)
    if (!column) {
      column = new CachedColumn(attribute, index =>
        this.columns.segment(this, attribute, index, this.openColumns.keys()),
      )
      this.openColumns.set(attribute, column)
    }
    return column
  }

  rowsToDecode(attribute: ColumnAttribute, limit: number): number {
    const segments = Math.ceil(this.rowIdLimit / SEGMENT_ROWS)
    return Math.min(this.columns.rowsToDecode(attribute, segments, limit), this.live.size)
  }

  index(attribute: StorageAttribute): SecondaryIndex | undefined {
    return hasIndex(attribute) ? this.lmdbIndex(attribute) : undefined
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    const { target, foreignKey } = relation
    const key = this.rowOf(target, targetRowId)?.value(target.key) as Value | undefined
    return key === undefined ? NO_ROWS : this.lmdbIndex(foreignKey).equal(key).toIds()
  }

  findKey(key: Value): number | undefined {
    return key === null ? undefined : this.lmdbIndex(this.dataClass.key).first(key)
  }

  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined {
    const bytes = getBytes(this.environment.binaries, binaryKey(this.tableNumber, rowId, attribute.position))
    return bytes && decodeBinary(bytes, this.environment.files)
  }

  private lmdbIndex(attribute: StorageAttribute): LmdbIndex {
    return new LmdbIndex(this.environment, attribute, rowId => {
      const text = this.row(rowId)?.value(attribute)
      return typeof text === 'string' ? fold(text) : undefined
    })
  }
}

/** Keeps the last segment that it returned, which saves lookups even while the cache is full. */
class CachedColumn implements Column {
  private lastIndex = -1
  private last: Segment | undefined

  constructor(
    readonly attribute: ColumnAttribute,
    private readonly find: (index: number) => Segment,
  ) {}

  segment(index: number): Segment {
    if (index !== this.lastIndex || !this.last) {
      this.last = this.find(index)
      this.lastIndex = index
    }
    return this.last
  }
}
