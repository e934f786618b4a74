import { ROW_HEADER_BYTES } from './directory.ts'
import { PAGE_VALUES, Pages, type PagesState, ROW_PAGE_ROWS, ROWS, type Workspace } from './pages.ts'

/** What an image keeps of it. */
export interface RowHeapState {
  pages: PagesState
  scratch: number
  scratchBytes: number
  usedBytes: number
}

/** The bytes of a table's rows, for the writer: a block for each row, found by pages of addresses. */
export class RowHeap {
  private readonly pages: Pages
  private scratch: number
  private scratchBytes: number
  /** Bytes of the rows that are kept. */
  usedBytes: number

  /** @param keeps false: a row is only there until the next one comes */
  constructor(
    private readonly space: Workspace,
    readonly keeps: boolean,
    state?: RowHeapState,
  ) {
    this.pages = new Pages(space, ROWS, state?.pages)
    this.scratch = state?.scratch ?? 0
    this.scratchBytes = state?.scratchBytes ?? 0
    this.usedBytes = state?.usedBytes ?? 0
  }

  get state(): RowHeapState {
    const { pages, scratch, scratchBytes, usedBytes } = this
    return { pages: pages.state, scratch, scratchBytes, usedBytes }
  }

  /** Address of the bytes of a row that is kept. */
  find(rowId: number): number {
    return this.block(rowId) + ROW_HEADER_BYTES
  }

  /** Copies the bytes of a row. What was there before stays for those who read it. @returns their address @throws {MemoryFull} */
  put(rowId: number, bytes: Uint8Array, isNew: boolean): number {
    const { heap, allocator, sequence } = this.space
    if (!this.keeps) return this.putScratch(bytes)
    const block = allocator.allocate(ROW_HEADER_BYTES + bytes.length, 'rows')
    heap.words[block >>> 2] = bytes.length
    heap.words[(block >>> 2) + 1] = sequence
    heap.bytes.set(bytes, block + ROW_HEADER_BYTES)
    this.usedBytes += bytes.length
    const index = Math.floor(rowId / ROW_PAGE_ROWS)
    const page = isNew ? this.pages.appendable(index) : this.pages.writable(index)
    if (!isNew) this.retire(rowId)
    heap.words[((page + PAGE_VALUES) >>> 2) + (rowId % ROW_PAGE_ROWS)] = block
    return block + ROW_HEADER_BYTES
  }

  /** As of the version that is being made, the row is not there any more. */
  retire(rowId: number): void {
    if (!this.keeps) return
    const { heap, allocator, reclaimer, sequence } = this.space
    const block = this.block(rowId)
    const length = heap.words[block >>> 2]!
    this.usedBytes -= length
    const born = heap.words[(block >>> 2) + 1]!
    reclaimer.retire(born, sequence, () => allocator.free(block, ROW_HEADER_BYTES + length, 'rows'))
  }

  /** @returns the list of pages for the version that is being made, 0 when rows are not kept */
  publish(): number {
    return this.keeps ? this.pages.publish() : 0
  }

  /** To be called after all rows have been retired. */
  clear(): void {
    this.pages.clear()
    if (this.scratch !== 0) this.space.allocator.free(this.scratch, this.scratchBytes, 'rows')
  }

  private block(rowId: number): number {
    const page = this.pages.page(Math.floor(rowId / ROW_PAGE_ROWS))
    return this.space.heap.words[((page + PAGE_VALUES) >>> 2) + (rowId % ROW_PAGE_ROWS)]!
  }

  private putScratch(bytes: Uint8Array): number {
    const { heap, allocator } = this.space
    if (bytes.length > this.scratchBytes) {
      if (this.scratch !== 0) allocator.free(this.scratch, this.scratchBytes, 'rows')
      this.scratch = 0
      this.scratch = allocator.allocate(2 * bytes.length, 'rows')
      this.scratchBytes = 2 * bytes.length
    }
    heap.bytes.set(bytes, this.scratch)
    return this.scratch
  }
}
