import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { ColumnCache } from '../../columns/column-cache.ts'
import { FIXED_HEADER_BYTES, NO_ROW, type RowLayout, rowBytes } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import type { ByteSink, RowInserts, RowSlices } from '../../data/kernels.ts'
import type { SimdSegmentKernels } from '../../simd/segment-kernels.ts'
import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type SecondaryIndex,
  type Segment,
  type TableSnapshot,
} from '../../data/snapshot.ts'
import type { ColumnValue } from '../index/column-reader.ts'
import { type Address, addressAt, NO_ADDRESS, wordAt } from '../heap/address.ts'
import {
  indexAt,
  orderAt,
  TABLE_CHANGES,
  TABLE_COLUMNS,
  TABLE_COUNT,
  TABLE_LIMIT,
  TABLE_LIVE,
  TABLE_LIVE_SINCE,
  TABLE_ROWS,
  type TableShape,
} from '../heap/directory.ts'
import { bitsStart, hasBit, POINTERS, ROW_PAGE_ROWS, rowBlock, valueAt, valuesStart } from '../heap/pages.ts'
import { ROW_HEADER_BYTES, rowLengthOf } from '../heap/row-heap.ts'
import { SegmentViews, SharedColumn, type TablePages } from './shared-column.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'
import { type CandidateRows, SharedHash, SharedIndex } from './shared-index.ts'
import { SharedOrder } from './shared-order.ts'
import type { SharedTexts } from '../text/text-pool.ts'

/** Per-thread cache of a dataclass that outlives versions. */
export class TableCache {
  readonly views: readonly SegmentViews[]
  /** By segment, the version in which its rows had last changed when its objects and heads were read from them. */
  readonly parsedVersions: number[] = []
  private liveCache: { since: number; rows: RowSet } | undefined

  constructor(
    readonly heap: SharedHeap,
    readonly texts: SharedTexts,
    readonly shape: TableShape,
    /** Parsed objects, and members of the heads of rows. */
    readonly objects: ColumnCache,
    readonly kernels: SimdSegmentKernels | undefined,
  ) {
    this.views = shape.kinds.map((kind, column) => new SegmentViews(heap, texts, column, kind, kernels))
  }

  liveRows(since: number, derive: () => RowSet): RowSet {
    if (this.liveCache?.since !== since) this.liveCache = { since, rows: derive() }
    return this.liveCache.rows
  }
}

/** One dataclass in a version of the shared memory. */
export class SharedTable implements TableSnapshot, TablePages {
  readonly dataClass: DataClass
  readonly layout: RowLayout
  readonly rowIdLimit: number
  private readonly words: Uint32Array
  private readonly segmentCount: number
  /** Receives the results of prefetching reads, because V8 removes reads whose results are not used. */
  protected prefetchSink = 0
  private columns: Map<ColumnAttribute, Column> | undefined

  constructor(
    private readonly cache: TableCache,
    private readonly directory: Address,
    /** This dataclass in LMDB. @throws {Error} when LMDB has advanced to another commit */
    private readonly below: () => TableSnapshot,
  ) {
    this.layout = cache.shape.layout
    this.dataClass = this.layout.dataClass
    this.words = cache.heap.words
    this.rowIdLimit = wordAt(this.words, directory, TABLE_LIMIT)
    this.segmentCount = Math.ceil(this.rowIdLimit / SEGMENT_ROWS)
  }

  private get openColumns(): Map<ColumnAttribute, Column> {
    this.columns ??= new Map()
    return this.columns
  }

  get live(): RowSet {
    return this.cache.liveRows(wordAt(this.words, this.directory, TABLE_LIVE_SINCE), () => {
      const words = new Uint32Array((this.rowIdLimit + 31) >>> 5)
      for (let segment = 0; segment < this.segmentCount; segment++) {
        const page = this.livePage(segment)
        if (page === 0) continue
        const start = segment * SEGMENT_WORDS
        const bits = bitsStart(page)
        words.set(this.words.subarray(bits, bits + Math.min(SEGMENT_WORDS, words.length - start)), start)
      }
      // Rows of later versions are added in place.
      if (this.rowIdLimit & 31) words[words.length - 1]! &= 2 ** (this.rowIdLimit & 31) - 1
      return RowSet.fromWords(words, wordAt(this.words, this.directory, TABLE_COUNT))
    })
  }

  /** Valid until the snapshot is released. */
  row(rowId: number): RowView | undefined {
    const list = this.rowPages
    if (list === 0) return this.below().row(rowId)
    if (!this.isLive(rowId)) return undefined
    const block = this.block(list, rowId)
    const start = block + ROW_HEADER_BYTES
    return new RowView(this.layout, this.cache.heap.bytes, start, start + rowLengthOf(this.words, block), true)
  }

  copyEntities(rowIds: Uint32Array, slices: RowSlices, inserts: RowInserts, sink: ByteSink): number {
    const list = this.rowPages
    const { kernels } = this.cache
    if (list === 0 || !kernels) return 0
    return kernels.copyRows(this.liveAddresses(list, rowIds), rowBytes(this.layout), slices, inserts, sink)
  }

  references(rowIds: Uint32Array, reference: number): Uint32Array | undefined {
    const list = this.rowPages
    if (list === 0) return undefined
    const word = (ROW_HEADER_BYTES + FIXED_HEADER_BYTES) / 4 + reference
    const results = new Uint32Array(rowIds.length)
    // Two loops: the processor waits for many addresses at a time, and then for many rows.
    for (let i = 0; i < results.length; i++) {
      const rowId = rowIds[i]!
      if (this.isLive(rowId)) results[i] = this.block(list, rowId)
    }
    for (let i = 0; i < results.length; i++) {
      results[i] = results[i] === 0 ? NO_ROW : wordAt(this.words, results[i]! as Address, word)
    }
    return results
  }

  prefetch(rowIds: Uint32Array): void {
    const list = this.rowPages
    const { kernels } = this.cache
    if (list === 0 || !kernels) return
    kernels.touchRows(this.liveAddresses(list, rowIds), rowBytes(this.layout))
  }

  /**
   * Addresses of the rows before the first deleted one. A tight loop, so that the processor waits for many of them at a time;
   * methods of typed arrays call a function for each, which takes longer than all of this.
   */
  private liveAddresses(list: Address, rowIds: Uint32Array): Uint32Array {
    const addresses = new Uint32Array(rowIds.length)
    for (let i = 0; i < rowIds.length; i++) {
      const rowId = rowIds[i]!
      if (!this.isLive(rowId)) return addresses.subarray(0, i)
      addresses[i] = this.block(list, rowId) + ROW_HEADER_BYTES
    }
    return addresses
  }

  /** The list of pages with the blocks of rows, {@link NO_ADDRESS} when rows are not kept. */
  private get rowPages(): Address {
    return addressAt(this.words, this.directory, TABLE_ROWS)
  }

  private block(list: Address, rowId: number): Address {
    const page = addressAt(this.words, list, (rowId / ROW_PAGE_ROWS) >>> 0)
    return rowBlock(this.words, page, rowId)
  }

  column(attribute: ColumnAttribute): Column {
    let column = this.openColumns.get(attribute)
    if (!column) {
      const number = this.cache.shape.columnOf.get(attribute)
      column =
        number === undefined
          ? { attribute, segment: index => this.objects(attribute, index) }
          : new SharedColumn(attribute, this.cache.views[number]!, this)
      this.openColumns.set(attribute, column)
    }
    return column
  }

  rowsToDecode(attribute: ColumnAttribute, limit: number): number {
    if (this.cache.shape.columnOf.has(attribute)) return 0
    return Math.min(this.cache.objects.rowsToDecode(attribute, this.segmentCount, limit), this.live.size)
  }

  index(attribute: StorageAttribute): SecondaryIndex | undefined {
    return this.sharedIndex(attribute)
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    const column = this.cache.shape.columnOf.get(relation)!
    const hash = this.hash(relation, cell => this.live.toIds().filter(rowId => this.has(column, rowId, cell)))
    return RowSet.fromIds(hash.rows(targetRowId)).toIds()
  }

  findKey(key: Value): number | undefined {
    if (key === null) return undefined
    const { key: attribute } = this.dataClass
    return this.hash(attribute, cell => this.order(attribute)!.rowIds(this.order(attribute)!.ofValue(cell))).first(key)
  }

  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined {
    return this.below().binary(rowId, attribute)
  }

  livePage(segment: number): Address {
    return this.page(addressAt(this.words, this.directory, TABLE_LIVE), segment)
  }

  columnPage(column: number, segment: number): Address {
    return this.page(addressAt(this.words, this.directory, TABLE_COLUMNS + column), segment)
  }

  /** Finds a page in a list, which has an entry for each segment in which rows have ever existed. */
  private page(list: Address, segment: number): Address {
    return list === 0 || segment >= this.segmentCount ? NO_ADDRESS : addressAt(this.words, list, segment)
  }

  private isLive(rowId: number): boolean {
    if (rowId >= this.rowIdLimit) return false
    const page = this.livePage(Math.floor(rowId / SEGMENT_ROWS))
    return page !== 0 && hasBit(this.cache.heap, page, rowId % SEGMENT_ROWS)
  }

  private objects(attribute: ColumnAttribute, index: number): Segment {
    const { objects, parsedVersions } = this.cache
    const list = addressAt(this.words, this.directory, TABLE_CHANGES)
    const changeVersion = list === 0 ? 0 : wordAt(this.words, list, index)
    if (parsedVersions[index] !== changeVersion) {
      objects.forget(this.dataClass.tableNumber, index)
      parsedVersions[index] = changeVersion
    }
    const together = [...this.openColumns.keys()].filter(other => !this.cache.shape.columnOf.has(other))
    return objects.segment(this, attribute, index, together)
  }

  private sharedIndex(attribute: StorageAttribute): SharedIndex | undefined {
    const order = this.order(attribute)
    return (
      order &&
      new SharedIndex(
        this.hash(attribute, cell => order.rowIds(order.ofValue(cell))),
        order,
      )
    )
  }

  private hash(
    attribute: StorageAttribute | RelatedEntityAttribute,
    rowsOfMany: (cell: number | bigint) => Uint32Array,
  ): SharedHash {
    const { heap, shape } = this.cache
    const column = shape.columnOf.get(attribute)!
    const table = indexAt(this.words, this.directory, shape, shape.indexOf.get(attribute)!)
    const rows: CandidateRows = {
      touch: rowIds => this.touch(column, rowIds),
      have: (rowId, cell) => this.isLive(rowId) && this.has(column, rowId, cell),
      ofMany: rowsOfMany,
    }
    return new SharedHash(heap, this.textsOf(column), table, rows)
  }

  private order(attribute: StorageAttribute): SharedOrder | undefined {
    const { heap, shape } = this.cache
    const number = shape.orderOf.get(attribute)
    if (number === undefined) return undefined
    const column = shape.columnOf.get(attribute)!
    const root = orderAt(this.words, this.directory, shape, number)
    return new SharedOrder(heap, this.textsOf(column), root, rowId => this.value(column, rowId))
  }

  private textsOf(column: number): SharedTexts | undefined {
    return this.cache.shape.kinds[column] === POINTERS ? this.cache.texts : undefined
  }

  private value(column: number, rowId: number): ColumnValue {
    const page = this.columnPage(column, Math.floor(rowId / SEGMENT_ROWS))
    return valueAt(this.cache.heap, page, rowId % SEGMENT_ROWS)
  }

  private touch(column: number, rowIds: Uint32Array): void {
    const { words } = this
    const list = addressAt(words, this.directory, TABLE_COLUMNS + column)
    const width = this.cache.shape.kinds[column] === POINTERS ? 1 : 2
    let read = 0
    for (let i = 0; i < rowIds.length; i++) {
      const page = addressAt(words, list, (rowIds[i]! / SEGMENT_ROWS) >>> 0)
      read ^= words[valuesStart(page) + (rowIds[i]! % SEGMENT_ROWS) * width]!
    }
    this.prefetchSink = read
  }

  private has(column: number, rowId: number, cell: number | bigint): boolean {
    const value = this.value(column, rowId)
    return value !== undefined && isEqual(value, cell)
  }
}

/** Exact equality, also between a number and a bigint. */
const isEqual = (a: number | bigint, b: number | bigint): boolean => !(a < b) && !(a > b)
