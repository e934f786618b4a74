import { SEGMENT_BITS, SEGMENT_ROWS } from '../../data/snapshot.ts'
import { type ColumnReader, type ColumnValue, columnReader, compareValues } from '../index/column-reader.ts'
import type { TableShape } from '../heap/directory.ts'
import { type Address, NO_ADDRESS } from '../heap/address.ts'
import type { RowTest } from '../index/order-tree.ts'
import { OrderWriter } from '../index/order-writer.ts'
import {
  BIGINTS,
  BITS,
  codesStart,
  columnKindOf,
  NUMBERS,
  numbersStart,
  Pages,
  type PagesState,
  POINTERS,
  setBit,
  VECTORS,
  valueAt,
  valuesStart,
  type Workspace,
} from '../heap/pages.ts'
import { PostingIndex, type PostingState } from '../index/posting-index.ts'
import { sortRows } from '../index/sort-rows.ts'
import { hashNumber } from '../text/text-key.ts'
import type { TextTable } from '../text/text-table.ts'
import { codesOf, VectorHeap, type VectorHeapState } from '../heap/vector-heap.ts'

/** State of a {@link ColumnWriter} saved in an image. */
export interface ColumnState {
  pages: PagesState
  index: PostingState | undefined
  /** Root of the order. */
  order: Address | undefined
  vectors: VectorHeapState | undefined
}

/** One column of a dataclass in shared memory, with the index and the order that it may have, for the writer. */
export class ColumnWriter {
  readonly pages: Pages
  readonly index: PostingIndex | undefined
  readonly order: OrderWriter | undefined
  private readonly vectors: VectorHeap | undefined
  private readonly reader: ColumnReader
  /** Set for a column of texts. */
  private readonly texts: TextTable | undefined
  /** Rows still to be inserted: new rows into the index and the order, ascending; rows whose value has changed, into the order. */
  private addedRows: number[] = []
  private readonly movedRows = new Set<number>()

  constructor(
    private readonly space: Workspace,
    shape: TableShape,
    number: number,
    texts: TextTable,
    state?: ColumnState,
  ) {
    const attribute = shape.columns[number]!
    const kind = shape.kinds[number]!
    this.pages = new Pages(space, kind, state?.pages)
    this.texts = kind === POINTERS ? texts : undefined
    if (shape.indexOf.has(attribute)) this.index = new PostingIndex(space, state?.index)
    if (shape.orderOf.has(attribute)) this.order = new OrderWriter(space, state?.order)
    if (attribute.kind === 'storage' && attribute.vector)
      this.vectors = new VectorHeap(space, attribute.vector, state?.vectors)
    this.reader = columnReader(attribute, shape.layout, space.heap, {
      putText: key => texts.intern(key),
      putVector: (start, end) => this.vectors!.put(start, end),
    })
  }

  get state(): ColumnState {
    const { pages, index, order, vectors } = this
    return { pages: pages.state, index: index?.state, order: order?.root, vectors: vectors?.state }
  }

  /** Value of a row in the version that is being created. */
  value(rowId: number): ColumnValue {
    return valueAt(this.space.heap, this.pages.page(rowId >>> SEGMENT_BITS), rowId % SEGMENT_ROWS)
  }

  /**
   * Adds new rows.
   * @param rowIds ascending
   * @param rows addresses of their bytes
   * @throws {MemoryFull}
   */
  append(rowIds: readonly number[], rows: readonly Address[]): void {
    const { pages, reader } = this
    const { heap } = this.space
    const order = this.builtOrder
    // With an order, rows are added when they have been sorted: see `putOrder`.
    const index = order ? undefined : this.builtIndex
    let segment = -1
    let page = NO_ADDRESS
    for (let i = 0; i < rowIds.length; i++) {
      const rowId = rowIds[i]!
      if (rowId >>> SEGMENT_BITS !== segment) {
        segment = rowId >>> SEGMENT_BITS
        page = pages.appendable(segment)
      }
      if (order) this.addedRows.push(rowId)
      const value = reader.read(rows[i]!)
      if (value === undefined) continue
      if (typeof value === 'bigint' && columnKindOf(heap.words, page) === NUMBERS) page = pages.widen(segment)
      setBit(heap, page, rowId % SEGMENT_ROWS, true)
      this.write(page, rowId % SEGMENT_ROWS, value)
      index?.add(this.hash(value), rowId)
    }
  }

  /**
   * Updates an existing row from its new bytes.
   * @param before address of its old bytes; {@link NO_ADDRESS} if unknown
   * @throws {MemoryFull}
   */
  replace(rowId: number, row: Address, before: Address): void {
    if (before !== 0 && this.reader.isSame(before, row)) return
    const { heap } = this.space
    const { pages } = this
    const old = this.value(rowId)
    const value = this.reader.read(row)
    if (value === old) {
      // Reading the text counted the row once more, but it had the text already.
      if (value !== undefined) this.texts?.release(value as Address)
      return
    }
    this.leaveOrder(rowId)
    const segment = rowId >>> SEGMENT_BITS
    let page = pages.writable(segment)
    if (typeof value === 'bigint' && columnKindOf(heap.words, page) === NUMBERS) page = pages.widen(segment)
    setBit(heap, page, rowId % SEGMENT_ROWS, value !== undefined)
    if (value !== undefined) this.write(page, rowId % SEGMENT_ROWS, value)
    if (this.builtOrder) this.movedRows.add(rowId)
    if (old !== undefined) this.forget(old, rowId)
    if (value !== undefined) this.builtIndex?.add(this.hash(value), rowId)
  }

  /** Removes a row. Its value stays in place: values of rows that do not exist are never read. @throws {MemoryFull} */
  remove(rowId: number): void {
    this.leaveOrder(rowId)
    const value = this.value(rowId)
    if (value !== undefined) this.forget(value, rowId)
  }

  /**
   * Builds the index and the order, if the column has them: sorting all rows at the same time costs a tenth of inserting each, and places
   * rows with the same value next to each other.
   * @param rowIds all rows, ascending @throws {MemoryFull}
   */
  buildIndex(rowIds: Uint32Array): void {
    const sortedIds = this.sortByValue(rowIds)
    this.order?.build(sortedIds)
    const hashes = sortedIds.map(rowId => {
      const value = this.value(rowId)
      return value === undefined ? 0 : this.hash(value)
    })
    this.index?.build(sortedIds, hashes)
  }

  /**
   * Inserts new and changed rows into the order, sorted: the values that they are compared with are then in the processor's
   * cache, rows of one leaf find it once, and rows of one value their place. New rows with one value are added to the index together.
   * @throws {MemoryFull}
   */
  putOrder(): void {
    const { addedRows, movedRows } = this
    if (addedRows.length + movedRows.size === 0) return
    const rowIds = Uint32Array.from(movedRows.size === 0 ? addedRows : [...addedRows, ...movedRows].sort(ascending))
    const sortedIds = this.sortByValue(rowIds)
    const firstAdded = addedRows[0] ?? Number.POSITIVE_INFINITY
    this.order!.insert(
      sortedIds,
      rowId => this.upTo(rowId),
      // No other row is between them, because new rows have the highest ids.
      (previous, rowId) => previous >= firstAdded && this.value(previous) === this.value(rowId),
    )
    this.addToIndex(sortedIds, firstAdded)
    this.addedRows = []
    this.movedRows.clear()
  }

  /** Adds the new rows of a sorted list to the index. */
  private addToIndex(sortedIds: Uint32Array, firstAdded: number): void {
    const index = this.builtIndex
    if (!index) return
    for (let start = 0, end = 0; start < sortedIds.length; start = end) {
      const value = this.value(sortedIds[start]!)
      end = start + 1
      while (end < sortedIds.length && this.value(sortedIds[end]!) === value) end++
      if (value === undefined) continue
      const rowIds = sortedIds.subarray(start, end)
      // The rows of one value ascend.
      const added = rowIds[0]! >= firstAdded ? rowIds : rowIds.filter(rowId => rowId >= firstAdded)
      if (added.length > 0) index.addAll(this.hash(value), added)
    }
  }

  /** Releases the text or vector of a row. */
  releaseValue(rowId: number): void {
    if (!this.texts && !this.vectors) return
    if (rowId >>> SEGMENT_BITS >= this.pages.count) return
    const value = this.value(rowId)
    if (value !== undefined) this.release(value)
  }

  /** Frees everything else as of the version that is being created. */
  clear(): void {
    this.pages.clear()
    this.vectors?.clear()
    this.index?.clear()
    this.order?.clear()
  }

  /** The index as soon as it is built; until then changes need not be recorded in it. */
  private get builtIndex(): PostingIndex | undefined {
    return this.index?.isBuilt ? this.index : undefined
  }

  private get builtOrder(): OrderWriter | undefined {
    return this.order?.isBuilt ? this.order : undefined
  }

  /** Removes a row from the order, by the value that it still has. */
  private leaveOrder(rowId: number): void {
    const order = this.builtOrder
    if (!order || this.movedRows.delete(rowId)) return
    if (this.addedRows.length > 0 && rowId >= this.addedRows[0]!) this.putOrder()
    order.remove(this.upTo(rowId))
  }

  /** Drops a value that a row no longer has. */
  private forget(value: number | bigint, rowId: number): void {
    this.builtIndex?.remove(this.hash(value), rowId)
    this.release(value)
  }

  private release(value: number | bigint): void {
    this.texts?.release(value as Address)
    this.vectors?.retire(value as Address)
  }

  private hash(value: number | bigint): number {
    return this.texts ? this.texts.pool.hash(value as Address) : hashNumber(value)
  }

  private sortByValue(rowIds: Uint32Array): Uint32Array {
    return sortRows(rowIds, rowId => this.value(rowId), this.texts?.pool)
  }

  /** Test for the rows up to this one in the order, by their current values. */
  private upTo(rowId: number): RowTest {
    const value = this.value(rowId)
    const texts = this.texts?.pool
    return other => (compareValues(this.value(other), value, texts) || other - rowId) <= 0
  }

  private write(page: Address, entry: number, value: number | bigint): void {
    const { heap } = this.space
    const kind = columnKindOf(heap.words, page)
    switch (kind) {
      case NUMBERS:
        heap.floats[numbersStart(page) + entry] = value as number
        return
      case BIGINTS:
        heap.integers[numbersStart(page) + entry] = BigInt(value)
        return
      case VECTORS:
        heap.words[valuesStart(page) + entry] = value as Address
        heap.words[codesStart(page) + entry] = codesOf(heap.words, value as Address)
        this.vectors!.sketch(page, entry, value as Address)
        return
      case POINTERS:
        heap.words[valuesStart(page) + entry] = value as Address
        return
      // The bit is the value.
      case BITS:
        return
      default:
        kind satisfies never
    }
  }
}

const ascending = (a: number, b: number): number => a - b
