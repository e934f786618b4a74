import { SEGMENT_ROWS } from '../storage/snapshot.ts'
import { type ColumnReader, type ColumnValue, columnReader, compareValues } from './column-reader.ts'
import {
  TABLE_CHANGES,
  TABLE_COLUMNS,
  TABLE_COUNT,
  TABLE_LIMIT,
  TABLE_LIVE,
  TABLE_LIVE_SINCE,
  TABLE_ROWS,
  type TableShape,
} from './directory.ts'
import type { RowTest } from './order-tree.ts'
import { OrderWriter } from './order-writer.ts'
import {
  BIGINTS,
  BITS,
  hasBit,
  NUMBERS,
  PAGE_KIND,
  PAGE_VALUES,
  Pages,
  type PagesState,
  POINTERS,
  setBit,
  VECTORS,
  valueAt,
  type Workspace,
} from './pages.ts'
import { PostingIndex, type PostingState } from './posting-index.ts'
import { RowHeap, type RowHeapState } from './row-heap.ts'
import { sortRows } from './sort-rows.ts'
import { hashNumber, type TextKey } from './text-key.ts'
import type { TextTable } from './text-pool.ts'
import { VectorHeap, type VectorHeapState } from './vector-heap.ts'

/** What an image keeps of {@link TableWriter}. */
export interface TableState {
  keepsRows: boolean
  rowCount: number
  rowIdLimit: number
  liveSince: number
  live: PagesState
  rows: RowHeapState
  columns: PagesState[]
  indexes: PostingState[]
  /** Their roots. */
  orders: number[]
  /** By column. */
  vectors: (VectorHeapState | null)[]
  changes: number[]
  directory: number
  directoryBorn: number
  changesList: number
  changesCapacity: number
}

/** One dataclass in shared memory, for the writer. A call that throws leaves it unusable: {@link clear} it then. */
export class TableWriter {
  private rowCount: number
  private rowIdLimit: number
  private liveSince: number
  private readonly live: Pages
  private readonly rows: RowHeap
  private readonly columns: readonly Pages[]
  private readonly indexes: readonly PostingIndex[]
  private readonly orders: readonly OrderWriter[]
  private readonly hasObjects: boolean
  /** Of the columns that have vectors. */
  private readonly vectors: readonly (VectorHeap | undefined)[]
  private readonly readers: readonly ColumnReader[]
  /** By segment the version in which its rows last changed: for objects, which readers parse from the rows themselves. */
  private readonly changes: number[]
  private directory: number
  private directoryBorn: number
  private changesList: number
  private changesCapacity: number
  private isChanged: boolean

  /**
   * @param keepsRows whether the bytes of rows are kept, and not only what is derived from them
   * @throws {MemoryFull}
   */
  constructor(
    private readonly space: Workspace,
    private readonly shape: TableShape,
    private readonly texts: TextTable,
    keepsRows: boolean,
    state?: TableState,
  ) {
    this.rowCount = state?.rowCount ?? 0
    this.rowIdLimit = state?.rowIdLimit ?? 0
    this.liveSince = state?.liveSince ?? space.sequence
    this.live = new Pages(space, BITS, state?.live)
    this.rows = new RowHeap(space, keepsRows, state?.rows)
    this.columns = shape.kinds.map((kind, i) => new Pages(space, kind, state?.columns[i]))
    this.indexes = shape.indexed.map((_, i) => new PostingIndex(space, state?.indexes[i]))
    this.orders = shape.ordered.map((_, i) => new OrderWriter(space, state?.orders[i]))
    this.changes = state?.changes ?? []
    this.directory = state?.directory ?? 0
    this.directoryBorn = state?.directoryBorn ?? 0
    this.changesList = state?.changesList ?? 0
    this.changesCapacity = state?.changesCapacity ?? 0
    this.isChanged = state === undefined
    this.hasObjects = shape.layout.slots.some(slot => slot.kind === 'storage' && slot.type === 'object')
    this.vectors = shape.columns.map((each, i) =>
      each.kind === 'storage' && each.vector
        ? new VectorHeap(space, each.vector.dimension, state?.vectors[i] ?? undefined)
        : undefined,
    )
    const putText = (key: TextKey) => texts.intern(key)
    this.readers = shape.columns.map((attribute, i) => {
      const putVector = (start: number, end: number) => this.vectors[i]!.put(start, end)
      return columnReader(attribute, shape.layout, space.heap, { putText, putVector })
    })
  }

  /** After a version was published, and before anything has changed. */
  get state(): TableState {
    const { keepsRows, rowCount, rowIdLimit, liveSince, changes } = this
    const { directory, directoryBorn, changesList, changesCapacity } = this
    return {
      ...{ keepsRows, rowCount, rowIdLimit, liveSince, changes },
      ...{ directory, directoryBorn, changesList, changesCapacity },
      live: this.live.state,
      rows: this.rows.state,
      columns: this.columns.map(({ state }) => state),
      indexes: this.indexes.map(({ state }) => state),
      orders: this.orders.map(({ root }) => root),
      vectors: this.vectors.map(heap => heap?.state ?? null),
    }
  }

  get keepsRows(): boolean {
    return this.rows.keeps
  }

  /** Bytes of the rows that are kept. */
  get rowBytes(): number {
    return this.rows.usedBytes
  }

  /** No row id below it will be inserted any more. */
  setRowIdLimit(limit: number): void {
    this.rowIdLimit = Math.max(this.rowIdLimit, limit)
    this.isChanged = true
  }

  /**
   * Makes one of the indexes that are still missing, and its order: sorting all rows at once costs a tenth of inserting
   * each, and brings those of one value together.
   * @returns whether there was one
   * @throws {MemoryFull}
   */
  buildIndex(): boolean {
    const number = this.indexes.findIndex(index => !index.isBuilt)
    if (number < 0) return false
    const attribute = this.shape.indexed[number]!
    const column = this.shape.columnOf.get(attribute)!
    const rowIds = this.sorted(this.liveRows(), column)
    this.orders[this.shape.orderOf.get(attribute) ?? -1]?.build(rowIds)
    this.indexes[number]!.build(
      rowIds,
      rowIds.map(rowId => {
        const value = this.valueOf(column, rowId)
        return value === undefined ? 0 : this.hash(column, value)
      }),
    )
    this.isChanged = true
    return true
  }

  /** Inserts a row or replaces it. @throws {MemoryFull} */
  put(rowId: number, bytes: Uint8Array): void {
    const segment = Math.floor(rowId / SEGMENT_ROWS)
    const entry = rowId % SEGMENT_ROWS
    const isNew = !this.has(segment, entry)
    const before = isNew || !this.keepsRows ? 0 : this.rows.find(rowId)
    const row = this.rows.put(rowId, bytes, isNew)
    for (let column = 0; column < this.columns.length; column++) {
      if (before !== 0 && this.readers[column]!.isSame(before, row)) continue
      this.putValue(column, segment, entry, row, isNew)
    }
    if (isNew) {
      setBit(this.space.heap, this.live.appendable(segment), entry, true)
      this.rowCount++
      this.rowIdLimit = Math.max(this.rowIdLimit, rowId + 1)
      this.liveSince = this.space.sequence
    }
    this.changes[segment] = this.space.sequence
    this.isChanged = true
  }

  /** @throws {MemoryFull} */
  remove(rowId: number): void {
    const segment = Math.floor(rowId / SEGMENT_ROWS)
    const entry = rowId % SEGMENT_ROWS
    if (!this.has(segment, entry)) return
    // Values stay where they are: nobody looks at those of rows that do not exist.
    setBit(this.space.heap, this.live.writable(segment), entry, false)
    this.shape.ordered.forEach((attribute, i) => {
      const column = this.shape.columnOf.get(attribute)!
      const order = this.orders[i]!
      if (order.isBuilt && !order.pending.delete(rowId)) order.remove(this.upTo(column, rowId))
    })
    for (let column = 0; column < this.columns.length; column++) {
      const value = this.value(column, segment, entry)
      if (value !== undefined) this.forget(column, value, rowId)
    }
    this.rows.retire(rowId)
    this.rowCount--
    this.liveSince = this.space.sequence
    this.changes[segment] = this.space.sequence
    this.isChanged = true
  }

  /**
   * Puts rows that have come to their places in the orders, neighbours behind each other: of 10,000 among a million they
   * take a fifth of the time then, for the values that they are compared with are in the processor's cache.
   * @throws {MemoryFull}
   */
  putOrders(): void {
    for (const [i, attribute] of this.shape.ordered.entries()) {
      const order = this.orders[i]!
      if (order.pending.size === 0) continue
      const column = this.shape.columnOf.get(attribute)!
      const rowIds = Uint32Array.from(order.pending).sort()
      for (const rowId of this.sorted(rowIds, column)) order.insert(rowId, this.upTo(column, rowId))
      order.pending.clear()
    }
  }

  /** After {@link putOrders}. @returns the address of the table's directory in the version that is being made */
  publish(): number {
    if (!this.isChanged) return this.directory
    const { heap, allocator, sequence } = this.space
    this.freeDirectory()
    this.freeChanges()
    this.directory = allocator.allocate(this.directoryBytes, 'directories')
    this.directoryBorn = sequence
    const { words } = heap
    const at = this.directory >>> 2
    words[at + TABLE_LIMIT] = this.rowIdLimit
    words[at + TABLE_COUNT] = this.rowCount
    words[at + TABLE_LIVE_SINCE] = this.liveSince
    words[at + TABLE_LIVE] = this.live.publish()
    words[at + TABLE_ROWS] = this.rows.publish()
    words[at + TABLE_CHANGES] = this.publishChanges()
    this.columns.forEach((pages, i) => {
      words[at + TABLE_COLUMNS + i] = pages.publish()
    })
    this.indexes.forEach((index, i) => {
      words[at + TABLE_COLUMNS + this.columns.length + i] = index.table
    })
    this.orders.forEach((order, i) => {
      words[at + TABLE_COLUMNS + this.columns.length + this.indexes.length + i] = order.root
    })
    this.isChanged = false
    return this.directory
  }

  /** Gives everything back, as of the version that is being made. */
  clear(): void {
    const { heap } = this.space
    for (let segment = 0; segment < this.live.count; segment++) {
      for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
        if (!hasBit(heap, this.live.page(segment), entry)) continue
        for (let column = 0; column < this.columns.length; column++) {
          const kind = this.shape.kinds[column]
          if ((kind !== POINTERS && kind !== VECTORS) || segment >= this.columns[column]!.count) continue
          const value = this.value(column, segment, entry)
          if (value !== undefined) this.release(column, value as number)
        }
        this.rows.retire(segment * SEGMENT_ROWS + entry)
      }
    }
    for (const pages of [this.live, ...this.columns, this.rows]) pages.clear()
    for (const vectors of this.vectors) vectors?.clear()
    for (const index of this.indexes) index.clear()
    for (const order of this.orders) order.clear()
    this.freeDirectory()
    this.freeChanges()
  }

  private has(segment: number, entry: number): boolean {
    return segment < this.live.count && hasBit(this.space.heap, this.live.page(segment), entry)
  }

  // --- values

  private putValue(column: number, segment: number, entry: number, row: number, isNew: boolean): void {
    const pages = this.columns[column]!
    const value = this.readers[column]!.read(row)
    const before = isNew ? undefined : this.value(column, segment, entry)
    const isText = this.shape.kinds[column] === POINTERS
    if (!isNew && value === before) {
      // It was counted once more when it was read, and is the row's already.
      if (isText && value !== undefined) this.texts.release(value as number)
      return
    }
    const rowId = segment * SEGMENT_ROWS + entry
    const order = this.orderOf(column)
    if (!isNew && order && !order.pending.delete(rowId)) order.remove(this.upTo(column, rowId))
    let page = isNew ? pages.appendable(segment) : pages.writable(segment)
    const { heap } = this.space
    if (typeof value === 'bigint' && heap.words[(page >>> 2) + PAGE_KIND] === NUMBERS) page = pages.widen(segment)
    setBit(heap, page, entry, value !== undefined)
    if (value !== undefined) this.writeValue(page, entry, value)
    order?.pending.add(rowId)
    if (before !== undefined) this.forget(column, before, rowId)
    if (value !== undefined) this.indexOf(column)?.add(this.hash(column, value), rowId)
  }

  /** A row has a value no more. */
  private forget(column: number, value: number | bigint, rowId: number): void {
    this.indexOf(column)?.remove(this.hash(column, value), rowId)
    this.release(column, value)
  }

  /** Gives back what a value stands for. */
  private release(column: number, value: number | bigint): void {
    if (this.shape.kinds[column] === POINTERS) this.texts.release(value as number)
    else this.vectors[column]?.retire(value as number)
  }

  private hash(column: number, value: number | bigint): number {
    return this.shape.kinds[column] === POINTERS ? this.texts.hash(value as number) : hashNumber(value)
  }

  private value(column: number, segment: number, entry: number): ColumnValue {
    return valueAt(this.space.heap, this.columns[column]!.page(segment), entry)
  }

  private valueOf(column: number, rowId: number): ColumnValue {
    return this.value(column, Math.floor(rowId / SEGMENT_ROWS), rowId % SEGMENT_ROWS)
  }

  /** The index of a column, when it has one that is kept already. */
  private indexOf(column: number): PostingIndex | undefined {
    const index = this.indexes[this.shape.indexOf.get(this.shape.columns[column]!) ?? -1]
    return index?.isBuilt ? index : undefined
  }

  /** The order of a column, when it has one that is kept already. */
  private orderOf(column: number): OrderWriter | undefined {
    const order = this.orders[this.shape.orderOf.get(this.shape.columns[column]!) ?? -1]
    return order?.isBuilt ? order : undefined
  }

  private sorted(rowIds: Uint32Array, column: number): Uint32Array {
    const texts = this.shape.kinds[column] === POINTERS ? this.texts : undefined
    return sortRows(rowIds, rowId => this.valueOf(column, rowId), texts)
  }

  /** Rows up to this one in the order of a column, by the values as they are now. */
  private upTo(column: number, rowId: number): RowTest {
    const value = this.valueOf(column, rowId)
    const texts = this.shape.kinds[column] === POINTERS ? this.texts : undefined
    return other => (compareValues(this.valueOf(column, other), value, texts) || other - rowId) <= 0
  }

  private liveRows(): Uint32Array {
    const rowIds = new Uint32Array(this.rowCount)
    let count = 0
    for (let segment = 0; segment < this.live.count; segment++) {
      const page = this.live.page(segment)
      for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
        if (hasBit(this.space.heap, page, entry)) rowIds[count++] = segment * SEGMENT_ROWS + entry
      }
    }
    return rowIds
  }

  private writeValue(page: number, entry: number, value: number | bigint): void {
    const { heap } = this.space
    switch (heap.words[(page >>> 2) + PAGE_KIND]) {
      case NUMBERS:
        heap.floats[(page + PAGE_VALUES) / 8 + entry] = value as number
        break
      case BIGINTS:
        heap.integers[(page + PAGE_VALUES) / 8 + entry] = BigInt(value)
        break
      case POINTERS:
      case VECTORS:
        heap.words[((page + PAGE_VALUES) >>> 2) + entry] = value as number
    }
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
    this.directory = 0
  }

  private publishChanges(): number {
    if (!this.hasObjects) return 0
    this.changesCapacity = Math.max(16, 2 ** Math.ceil(Math.log2(this.changes.length)))
    this.changesList = this.space.allocator.allocate(this.changesCapacity * 4, 'directories')
    this.space.heap.words.set(this.changes, this.changesList >>> 2)
    return this.changesList
  }

  private freeChanges(): void {
    const { reclaimer, allocator, sequence } = this.space
    const { changesList, changesCapacity } = this
    if (changesList !== 0)
      reclaimer.retire(this.directoryBorn, sequence, () =>
        allocator.free(changesList, changesCapacity * 4, 'directories'),
      )
    this.changesList = 0
  }
}
