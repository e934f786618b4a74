import { type Address, NO_ADDRESS, offsetBy, wordAt, wordIndex } from './address.ts'
import { Pages, type PagesState, ROW_PAGE_ROWS, ROWS, rowBlock, valuesStart, type Workspace } from './pages.ts'

// Words before the bytes of a row: their length, and the sequence of the version that the row was created for.
const ROW_LENGTH = 0
const ROW_BORN = 1
export const ROW_HEADER_BYTES = 8

export const rowLengthOf = (words: Uint32Array, block: Address): number => wordAt(words, block, ROW_LENGTH)

/** State saved in an image. */
export interface RowHeapState {
  pages: PagesState
  scratch: Address
  scratchBytes: number
  usedBytes: number
}

/** The bytes of a table's rows, for the writer: a block for each row, found by pages of addresses. */
export class RowHeap {
  private readonly pages: Pages
  private scratch: Address
  private scratchBytes: number
  /** Bytes of the rows that are kept. */
  usedBytes: number

  /** @param keeps false if a row is kept only until the next one */
  constructor(
    private readonly space: Workspace,
    readonly keeps: boolean,
    state?: RowHeapState,
  ) {
    this.pages = new Pages(space, ROWS, state?.pages)
    this.scratch = state?.scratch ?? NO_ADDRESS
    this.scratchBytes = state?.scratchBytes ?? 0
    this.usedBytes = state?.usedBytes ?? 0
  }

  get state(): RowHeapState {
    const { pages, scratch, scratchBytes, usedBytes } = this
    return { pages: pages.state, scratch, scratchBytes, usedBytes }
  }

  /** Address of the bytes of a row that is kept. */
  find(rowId: number): Address {
    return offsetBy(this.block(rowId), ROW_HEADER_BYTES)
  }

  /** Copies the bytes of a row. Earlier bytes stay for their readers. @returns the address of the copy @throws {MemoryFull} */
  put(rowId: number, bytes: Uint8Array, isNew: boolean): Address {
    const { heap, allocator, sequence } = this.space
    if (!this.keeps) return this.putScratch(bytes)
    const block = allocator.allocate(ROW_HEADER_BYTES + bytes.length, 'rows')
    const start = offsetBy(block, ROW_HEADER_BYTES)
    heap.words[wordIndex(block, ROW_LENGTH)] = bytes.length
    heap.words[wordIndex(block, ROW_BORN)] = sequence
    heap.bytes.set(bytes, start)
    this.usedBytes += bytes.length
    const index = Math.floor(rowId / ROW_PAGE_ROWS)
    const page = isNew ? this.pages.appendable(index) : this.pages.writable(index)
    if (!isNew) this.retire(rowId)
    heap.words[valuesStart(page) + (rowId % ROW_PAGE_ROWS)] = block
    return start
  }

  /** Removes a row as of the version that is being created. */
  retire(rowId: number): void {
    if (!this.keeps) return
    const { heap, allocator, reclaimer, sequence } = this.space
    const block = this.block(rowId)
    const length = rowLengthOf(heap.words, block)
    this.usedBytes -= length
    const born = wordAt(heap.words, block, ROW_BORN)
    reclaimer.retire(born, sequence, () => allocator.free(block, ROW_HEADER_BYTES + length, 'rows'))
  }

  /** @returns the list of pages for the version that is being created, {@link NO_ADDRESS} when rows are not kept */
  publish(): Address {
    return this.keeps ? this.pages.publish() : NO_ADDRESS
  }

  /** To be called after all rows have been retired. */
  clear(): void {
    this.pages.clear()
    if (this.scratch !== 0) this.space.allocator.free(this.scratch, this.scratchBytes, 'rows')
  }

  private block(rowId: number): Address {
    const page = this.pages.page(Math.floor(rowId / ROW_PAGE_ROWS))
    return rowBlock(this.space.heap.words, page, rowId)
  }

  private putScratch(bytes: Uint8Array): Address {
    const { heap, allocator } = this.space
    if (bytes.length > this.scratchBytes) {
      if (this.scratch !== 0) allocator.free(this.scratch, this.scratchBytes, 'rows')
      this.scratch = NO_ADDRESS
      this.scratch = allocator.allocate(2 * bytes.length, 'rows')
      this.scratchBytes = 2 * bytes.length
    }
    heap.bytes.set(bytes, this.scratch)
    return this.scratch
  }
}
