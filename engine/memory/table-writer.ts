import type { ColumnAttribute } from '../storage/snapshot.ts'
import { SEGMENT_ROWS } from '../storage/snapshot.ts'
import { readBoolean, readDate, readInteger, readNumber } from '../storage/read-value.ts'
import { FIXED_HEADER_BYTES, headerBytes, NO_ROW } from '../storage/row-layout.ts'
import { ROW_HEADER_BYTES, TABLE_CHANGES, TABLE_COLUMNS, TABLE_COUNT, TABLE_LIMIT, TABLE_LIVE, TABLE_LIVE_SINCE, TABLE_ROWS } from './directory.ts'
import type { TableShape } from './directory.ts'
import { BIGINTS, BITS, hasBit, NUMBERS, PAGE_KIND, PAGE_VALUES, Pages, POINTERS, setBit, type Workspace } from './pages.ts'
import { PostingIndex } from './posting-index.ts'
import { hashNumber, TextKey } from './text-key.ts'
import type { TextTable } from './text-pool.ts'

/** A value of a column: a number, or the address of a text; undefined for null. */
type ColumnValue = number | bigint | undefined

/** One dataclass in shared memory, for the writer. A call that throws leaves it unusable: {@link clear} it then. */
export class TableWriter {
  private rowCount = 0
  private rowIdLimit = 0
  private liveSince: number
  private readonly live: Pages
  private readonly rows: Pages | undefined
  private readonly columns: readonly Pages[]
  private readonly indexes: readonly PostingIndex[]
  private readonly hasObjects: boolean
  private readonly readers: readonly ((row: number) => ColumnValue)[]
  /** By segment the version in which its rows last changed: for objects, which readers parse from the rows themselves. */
  private readonly changes: number[] = []
  private directory = 0
  private directoryBorn = 0
  private changesList = 0
  private changesCapacity = 0
  private isChanged = true
  private scratch = 0
  private scratchBytes = 0
  /** Bytes of rows, as asked for. */
  rowBytes = 0

  /**
   * @param keepsRows whether the bytes of rows are kept, and not only what is derived from them
   * @throws {MemoryFull}
   */
  constructor(
    private readonly space: Workspace,
    private readonly shape: TableShape,
    private readonly texts: TextTable,
    keepsRows: boolean,
  ) {
    this.liveSince = space.sequence
    this.live = new Pages(space, BITS)
    this.rows = keepsRows ? new Pages(space, POINTERS) : undefined
    this.columns = shape.kinds.map(kind => new Pages(space, kind))
    this.indexes = shape.indexed.map(() => new PostingIndex(space))
    this.hasObjects = shape.layout.slots.some(slot => slot.kind === 'storage' && slot.type === 'object')
    this.readers = shape.columns.map(attribute => this.reader(attribute))
  }

  get keepsRows(): boolean {
    return this.rows !== undefined
  }

  /** No row id below it will be inserted any more. */
  setRowIdLimit(limit: number): void {
    this.rowIdLimit = Math.max(this.rowIdLimit, limit)
    this.isChanged = true
  }

  /** Inserts a row or replaces it. @throws {MemoryFull} */
  put(rowId: number, bytes: Uint8Array): void {
    const segment = Math.floor(rowId / SEGMENT_ROWS)
    const entry = rowId % SEGMENT_ROWS
    const isNew = !this.has(segment, entry)
    const row = this.storeRow(segment, entry, bytes, isNew)
    for (let column = 0; column < this.columns.length; column++) this.putValue(column, segment, entry, row, isNew)
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
    for (let column = 0; column < this.columns.length; column++) {
      const value = this.value(column, segment, entry)
      if (value !== undefined) this.forget(column, value, rowId)
    }
    if (this.rows) this.retireRow(this.rowAddress(segment, entry))
    this.rowCount--
    this.liveSince = this.space.sequence
    this.changes[segment] = this.space.sequence
    this.isChanged = true
  }

  /** @returns the address of the table's directory in the version that is being made */
  publish(): number {
    if (!this.isChanged) return this.directory
    const { heap, allocator, sequence } = this.space
    this.freeDirectory()
    this.freeChanges()
    this.directory = allocator.allocate(this.directoryBytes, true)
    this.directoryBorn = sequence
    const { words } = heap
    const at = this.directory >>> 2
    words[at + TABLE_LIMIT] = this.rowIdLimit
    words[at + TABLE_COUNT] = this.rowCount
    words[at + TABLE_LIVE_SINCE] = this.liveSince
    words[at + TABLE_LIVE] = this.live.publish()
    words[at + TABLE_ROWS] = this.rows?.publish() ?? 0
    words[at + TABLE_CHANGES] = this.publishChanges()
    this.columns.forEach((pages, i) => {
      words[at + TABLE_COLUMNS + i] = pages.publish()
    })
    this.indexes.forEach((index, i) => {
      words[at + TABLE_COLUMNS + this.columns.length + i] = index.table
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
          if (this.shape.kinds[column] !== POINTERS || segment >= this.columns[column]!.count) continue
          const value = this.value(column, segment, entry)
          if (value !== undefined) this.texts.release(value as number, this.space.sequence)
        }
        if (this.rows) this.retireRow(this.rowAddress(segment, entry))
      }
    }
    for (const pages of [this.live, ...this.columns, ...(this.rows ? [this.rows] : [])]) pages.clear()
    for (const index of this.indexes) index.clear()
    this.freeDirectory()
    this.freeChanges()
    if (this.scratch !== 0) this.space.allocator.free(this.scratch, this.scratchBytes)
  }

  // --- rows

  private has(segment: number, entry: number): boolean {
    return segment < this.live.count && hasBit(this.space.heap, this.live.page(segment), entry)
  }

  private rowAddress(segment: number, entry: number): number {
    return this.space.heap.words[((this.rows!.page(segment) + PAGE_VALUES) >>> 2) + entry]!
  }

  /** Copies the bytes of a row to where they are kept, or only decoded. @returns the address of the bytes */
  private storeRow(segment: number, entry: number, bytes: Uint8Array, isNew: boolean): number {
    const { heap, allocator, sequence } = this.space
    if (!this.rows) return this.copyToScratch(bytes)
    const address = allocator.allocate(ROW_HEADER_BYTES + bytes.length)
    heap.words[address >>> 2] = bytes.length
    heap.words[(address >>> 2) + 1] = sequence
    heap.bytes.set(bytes, address + ROW_HEADER_BYTES)
    const page = isNew ? this.rows.appendable(segment) : this.rows.writable(segment)
    if (!isNew) this.retireRow(this.rowAddress(segment, entry))
    heap.words[((page + PAGE_VALUES) >>> 2) + entry] = address
    this.rowBytes += bytes.length
    return address + ROW_HEADER_BYTES
  }

  private copyToScratch(bytes: Uint8Array): number {
    const { heap, allocator } = this.space
    if (bytes.length > this.scratchBytes) {
      if (this.scratch !== 0) allocator.free(this.scratch, this.scratchBytes)
      this.scratch = 0
      this.scratch = allocator.allocate(2 * bytes.length)
      this.scratchBytes = 2 * bytes.length
    }
    heap.bytes.set(bytes, this.scratch)
    return this.scratch
  }

  private retireRow(address: number): void {
    const { heap, allocator, reclaimer, sequence } = this.space
    const length = heap.words[address >>> 2]!
    this.rowBytes -= length
    reclaimer.retire(heap.words[(address >>> 2) + 1]!, sequence, () =>
      allocator.free(address, ROW_HEADER_BYTES + length),
    )
  }

  // --- values

  private putValue(column: number, segment: number, entry: number, row: number, isNew: boolean): void {
    const pages = this.columns[column]!
    const value = this.readers[column]!(row)
    const before = isNew ? undefined : this.value(column, segment, entry)
    const isText = this.shape.kinds[column] === POINTERS
    if (!isNew && value === before) {
      // It was counted once more when it was read, and is the row's already.
      if (isText && value !== undefined) this.texts.release(value as number, this.space.sequence)
      return
    }
    let page = isNew ? pages.appendable(segment) : pages.writable(segment)
    const { heap } = this.space
    if (typeof value === 'bigint' && heap.words[(page >>> 2) + PAGE_KIND] === NUMBERS) page = pages.widen(segment)
    setBit(heap, page, entry, value !== undefined)
    if (value !== undefined) this.writeValue(page, entry, value)
    const rowId = segment * SEGMENT_ROWS + entry
    if (before !== undefined) this.forget(column, before, rowId)
    const index = this.shape.indexOf.get(this.shape.columns[column]!)
    if (index !== undefined && value !== undefined) this.indexes[index]!.add(this.hash(column, value), rowId)
  }

  /** A row has a value no more. */
  private forget(column: number, value: number | bigint, rowId: number): void {
    const index = this.shape.indexOf.get(this.shape.columns[column]!)
    if (index !== undefined) this.indexes[index]!.remove(this.hash(column, value), rowId)
    if (this.shape.kinds[column] === POINTERS) this.texts.release(value as number, this.space.sequence)
  }

  private hash(column: number, value: number | bigint): number {
    return this.shape.kinds[column] === POINTERS ? this.texts.hash(value as number) : hashNumber(value)
  }

  private value(column: number, segment: number, entry: number): ColumnValue {
    const { heap } = this.space
    const page = this.columns[column]!.page(segment)
    if (!hasBit(heap, page, entry)) return undefined
    switch (heap.words[(page >>> 2) + PAGE_KIND]) {
      case NUMBERS:
        return heap.floats[(page + PAGE_VALUES) / 8 + entry]
      case BIGINTS:
        return heap.integers[(page + PAGE_VALUES) / 8 + entry]
      case POINTERS:
        return heap.words[((page + PAGE_VALUES) >>> 2) + entry]
      default:
        return 1
    }
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
        heap.words[((page + PAGE_VALUES) >>> 2) + entry] = value as number
    }
  }

  /** Reads a column's value from the bytes of a row at an address. */
  private reader(attribute: ColumnAttribute): (row: number) => ColumnValue {
    const { layout } = this.shape
    const { heap } = this.space
    const { bytes, words } = heap
    if (attribute.kind === 'relatedEntity') {
      const offset = FIXED_HEADER_BYTES + 4 * layout.referenceOf.get(attribute)!
      return row => {
        const rowId = words[(row + offset) >>> 2]!
        return rowId === NO_ROW ? undefined : rowId
      }
    }
    const slot = layout.slotOf.get(attribute)!
    const text = headerBytes(layout)
    const offset = FIXED_HEADER_BYTES + 4 * layout.references.length + 4 * slot
    const prefix = text + layout.prefixes[slot]!.length
    const start = (row: number): number => row + prefix + words[(row + offset) >>> 2]!
    const end = (row: number): number => row + text + words[((row + offset) >>> 2) + 1]!
    switch (attribute.type) {
      case 'string':
      case 'uuid': {
        const key = new TextKey()
        return row => {
          const at = start(row)
          return bytes[at] === QUOTE ? this.texts.intern(key.setJson(heap, at + 1, end(row) - 1), this.space.sequence) : undefined
        }
      }
      case 'image':
      case 'blob':
        return row => (bytes[start(row)] === LETTER_N ? undefined : 1)
      case 'bool':
        return row => readBoolean(bytes, start(row))
      case 'date':
        return row => readDate(bytes, start(row), end(row), attribute.simpleDate, layout.wire)
      case 'long64':
        return row => readInteger(bytes, start(row), end(row))
      default:
        return row => readNumber(bytes, start(row), end(row))
    }
  }

  // --- the directory

  private get directoryBytes(): number {
    return (TABLE_COLUMNS + this.columns.length + this.indexes.length) * 4
  }

  private freeDirectory(): void {
    const { reclaimer, allocator, sequence } = this.space
    const { directory, directoryBytes } = this
    if (directory !== 0) reclaimer.retire(this.directoryBorn, sequence, () => allocator.free(directory, directoryBytes))
    this.directory = 0
  }

  private publishChanges(): number {
    if (!this.hasObjects) return 0
    this.changesCapacity = Math.max(16, 2 ** Math.ceil(Math.log2(this.changes.length)))
    this.changesList = this.space.allocator.allocate(this.changesCapacity * 4, true)
    this.space.heap.words.set(this.changes, this.changesList >>> 2)
    return this.changesList
  }

  private freeChanges(): void {
    const { reclaimer, allocator, sequence } = this.space
    const { changesList, changesCapacity } = this
    if (changesList !== 0) reclaimer.retire(this.directoryBorn, sequence, () => allocator.free(changesList, changesCapacity * 4))
    this.changesList = 0
  }
}

const QUOTE = 0x22
const LETTER_N = 0x6e
