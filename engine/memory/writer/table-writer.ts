import assert from 'node:assert/strict'
import { SEGMENT_ROWS } from '../../data/snapshot.ts'
import { type ColumnState, ColumnWriter } from './column-writer.ts'
import { type Address, NO_ADDRESS, wordIndex } from '../heap/address.ts'
import {
  TABLE_CHANGES,
  TABLE_COLUMNS,
  TABLE_COUNT,
  TABLE_LIMIT,
  TABLE_LIVE,
  TABLE_LIVE_SINCE,
  TABLE_ROWS,
  type TableShape,
} from '../heap/directory.ts'
import { BITS, hasBit, Pages, type PagesState, setBit, type Workspace } from '../heap/pages.ts'
import { RowHeap, type RowHeapState } from '../heap/row-heap.ts'
import type { TextTable } from '../text/text-table.ts'

/** State of a {@link TableWriter} saved in an image. */
export interface TableState {
  keepsRows: boolean
  rowCount: number
  rowIdLimit: number
  liveSince: number
  live: PagesState
  rows: RowHeapState
  columns: ColumnState[]
  changes: number[]
  directory: Address
  directoryBorn: number
  changesList: Address
  changesCapacity: number
}

/** One dataclass in shared memory, for the writer. A call that throws leaves it unusable: {@link clear} it then. */
export class TableWriter {
  private rowCount: number
  private rowIdLimit: number
  private liveSince: number
  private readonly livePages: Pages
  private readonly rows: RowHeap
  private readonly columns: readonly ColumnWriter[]
  private readonly indexes: readonly ColumnWriter[]
  private readonly orders: readonly ColumnWriter[]
  /** By segment, the version in which its rows last changed, for data that readers take from the rows themselves. */
  private readonly changes: number[]
  private directory: Address
  private directoryBorn: number
  private changesList: Address
  private changesCapacity: number
  private isChanged: boolean
  /** Added rows, ascending, whose values are still to be written: a column is filled for many rows at once. */
  private readonly addedRows: { rowIds: number[]; rows: Address[] } = { rowIds: [], rows: [] }

  /**
   * @param keepsRows whether the bytes of rows are kept, besides what is derived from them
   * @throws {MemoryFull}
   */
  constructor(
    private readonly space: Workspace,
    shape: TableShape,
    texts: TextTable,
    keepsRows: boolean,
    state?: TableState,
  ) {
    this.rowCount = state?.rowCount ?? 0
    this.rowIdLimit = state?.rowIdLimit ?? 0
    this.liveSince = state?.liveSince ?? space.sequence
    this.livePages = new Pages(space, BITS, state?.live)
    this.rows = new RowHeap(space, keepsRows, state?.rows)
    this.columns = shape.columns.map((_, i) => new ColumnWriter(space, shape, i, texts, state?.columns[i]))
    this.indexes = shape.indexed.map(attribute => this.columns[shape.columnOf.get(attribute)!]!)
    this.orders = shape.ordered.map(attribute => this.columns[shape.columnOf.get(attribute)!]!)
    this.changes = state?.changes ?? []
    this.directory = state?.directory ?? NO_ADDRESS
    this.directoryBorn = state?.directoryBorn ?? 0
    this.changesList = state?.changesList ?? NO_ADDRESS
    this.changesCapacity = state?.changesCapacity ?? 0
    this.isChanged = state === undefined
  }

  /** State after a version was published, and before anything has changed. */
  get state(): TableState {
    const { keepsRows, rowCount, rowIdLimit, liveSince, changes } = this
    const { directory, directoryBorn, changesList, changesCapacity } = this
    return {
      ...{ keepsRows, rowCount, rowIdLimit, liveSince, changes },
      ...{ directory, directoryBorn, changesList, changesCapacity },
      live: this.livePages.state,
      rows: this.rows.state,
      columns: this.columns.map(({ state }) => state),
    }
  }

  get keepsRows(): boolean {
    return this.rows.keeps
  }

  /** Bytes of the rows that are kept. */
  get rowBytes(): number {
    return this.rows.usedBytes
  }

  /** Raises the limit below which no row id will be inserted from now on. */
  setRowIdLimit(limit: number): void {
    this.rowIdLimit = Math.max(this.rowIdLimit, limit)
    this.isChanged = true
  }

  /**
   * Builds one of the indexes that are still missing, and its order.
   * @returns false if none was missing
   * @throws {MemoryFull}
   */
  buildIndex(): boolean {
    this.putValues()
    const column = this.indexes.find(({ index }) => !index!.isBuilt)
    if (!column) return false
    column.buildIndex(this.liveRows())
    this.isChanged = true
    return true
  }

  /** Inserts or replaces a row, which may be incomplete until {@link complete}. @throws {MemoryFull} */
  put(rowId: number, bytes: Uint8Array): void {
    const segment = Math.floor(rowId / SEGMENT_ROWS)
    const entry = rowId % SEGMENT_ROWS
    const { rowIds, rows } = this.addedRows
    if (this.has(segment, entry)) this.replace(rowId, bytes)
    else {
      // Ids are never used again, so those of a version ascend: orders rely on it.
      assert(rowId >= this.rowIdLimit, `row ${rowId} comes after row ${this.rowIdLimit - 1}`)
      rows.push(this.rows.put(rowId, bytes, true))
      rowIds.push(rowId)
      setBit(this.space.heap, this.livePages.appendable(segment), entry, true)
      this.rowCount++
      this.rowIdLimit = Math.max(this.rowIdLimit, rowId + 1)
      this.liveSince = this.space.sequence
      // The next row overwrites its bytes.
      if (!this.keepsRows) this.putValues()
    }
    this.changes[segment] = this.space.sequence
    this.isChanged = true
  }

  /** @throws {MemoryFull} */
  remove(rowId: number): void {
    const segment = Math.floor(rowId / SEGMENT_ROWS)
    const entry = rowId % SEGMENT_ROWS
    if (!this.has(segment, entry)) return
    this.putValues()
    setBit(this.space.heap, this.livePages.writable(segment), entry, false)
    for (const column of this.columns) column.remove(rowId)
    this.rows.retire(rowId)
    this.rowCount--
    this.liveSince = this.space.sequence
    this.changes[segment] = this.space.sequence
    this.isChanged = true
  }

  /** Writes the values of added rows into the columns. @throws {MemoryFull} */
  putValues(): void {
    const { rowIds, rows } = this.addedRows
    if (rowIds.length === 0) return
    for (const column of this.columns) column.append(rowIds, rows)
    rowIds.length = 0
    rows.length = 0
  }

  /** Completes columns and orders for a version. @throws {MemoryFull} */
  complete(): void {
    this.putValues()
    for (const column of this.orders) column.putOrder()
  }

  /** To be called after {@link complete}. @returns the address of the table's directory in the version that is being created */
  publish(): Address {
    if (!this.isChanged) return this.directory
    const { heap, allocator, sequence } = this.space
    this.freeDirectory()
    this.freeChanges()
    this.directory = allocator.allocate(this.directoryBytes, 'directories')
    this.directoryBorn = sequence
    const { words } = heap
    const at = wordIndex(this.directory, 0)
    words[at + TABLE_LIMIT] = this.rowIdLimit
    words[at + TABLE_COUNT] = this.rowCount
    words[at + TABLE_LIVE_SINCE] = this.liveSince
    words[at + TABLE_LIVE] = this.livePages.publish()
    words[at + TABLE_ROWS] = this.rows.publish()
    words[at + TABLE_CHANGES] = this.publishChanges()
    let entry = at + TABLE_COLUMNS
    for (const { pages } of this.columns) words[entry++] = pages.publish()
    for (const { index } of this.indexes) words[entry++] = index!.table
    for (const { order } of this.orders) words[entry++] = order!.root
    this.isChanged = false
    return this.directory
  }

  /** Frees everything as of the version that is being created. */
  clear(): void {
    for (const rowId of this.liveRows()) {
      for (const column of this.columns) column.releaseValue(rowId)
      this.rows.retire(rowId)
    }
    this.livePages.clear()
    this.rows.clear()
    for (const column of this.columns) column.clear()
    this.freeDirectory()
    this.freeChanges()
  }

  private replace(rowId: number, bytes: Uint8Array): void {
    this.putValues()
    const before = this.keepsRows ? this.rows.find(rowId) : NO_ADDRESS
    const row = this.rows.put(rowId, bytes, false)
    for (const column of this.columns) column.replace(rowId, row, before)
  }

  private has(segment: number, entry: number): boolean {
    return segment < this.livePages.count && hasBit(this.space.heap, this.livePages.page(segment), entry)
  }

  private liveRows(): Uint32Array {
    const rowIds = new Uint32Array(this.rowCount)
    let count = 0
    for (let segment = 0; segment < this.livePages.count; segment++) {
      const page = this.livePages.page(segment)
      for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
        if (hasBit(this.space.heap, page, entry)) rowIds[count++] = segment * SEGMENT_ROWS + entry
      }
    }
    return rowIds.subarray(0, count)
  }

  // --- the directory

  private get directoryBytes(): number {
    return (TABLE_COLUMNS + this.columns.length + this.indexes.length + this.orders.length) * 4
  }

  private freeDirectory(): void {
    const { reclaimer, allocator, sequence } = this.space
    const { directory, directoryBytes } = this
    if (directory !== 0)
      reclaimer.retire(this.directoryBorn, sequence, () => allocator.free(directory, directoryBytes, 'directories'))
    this.directory = NO_ADDRESS
  }

  private publishChanges(): Address {
    this.changesCapacity = Math.max(16, 2 ** Math.ceil(Math.log2(this.changes.length)))
    this.changesList = this.space.allocator.allocate(this.changesCapacity * 4, 'directories')
    this.space.heap.words.set(this.changes, wordIndex(this.changesList, 0))
    return this.changesList
  }

  private freeChanges(): void {
    const { reclaimer, allocator, sequence } = this.space
    const { changesList, changesCapacity } = this
    if (changesList !== 0)
      reclaimer.retire(this.directoryBorn, sequence, () =>
        allocator.free(changesList, changesCapacity * 4, 'directories'),
      )
    this.changesList = NO_ADDRESS
  }
}
