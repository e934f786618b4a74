import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Segment,
  type TextPool,
} from '../../data/snapshot.ts'
import type { SegmentKernels } from '../../data/kernels.ts'
import { type Address, NO_ADDRESS } from '../heap/address.ts'
import {
  BIGINTS,
  BITS,
  bitsStart,
  bornOf,
  type ColumnKind,
  columnKindOf,
  NUMBERS,
  PAGE_VALUES,
  POINTERS,
  VECTORS,
} from '../heap/pages.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'

/** Addresses of the pages of a table in one version. */
export interface TablePages {
  readonly rowIdLimit: number
  /** Address of the page of live rows, {@link NO_ADDRESS} when there is none. */
  livePage(segment: number): Address
  /** Address of a page of a column, {@link NO_ADDRESS} when there is none. */
  columnPage(column: number, segment: number): Address
}

interface Known {
  readonly page: Address
  readonly born: number
  readonly livePage: Address
  readonly liveBorn: number
  /** Row id limit of the version, at most the end of the segment. */
  readonly limit: number
  readonly segment: Segment
}

/** Segments of one column, views of the shared memory, created once for each state of their pages. */
export class SegmentViews {
  private readonly cache: (Known | undefined)[] = []

  constructor(
    private readonly heap: SharedHeap,
    private readonly texts: TextPool,
    private readonly column: number,
    private readonly kind: ColumnKind,
    private readonly kernels: SegmentKernels | undefined,
  ) {}

  segment(index: number, table: TablePages): Segment {
    const { words } = this.heap
    const page = table.columnPage(this.column, index)
    const livePage = table.livePage(index)
    if (page === 0) return this.view(NO_ADDRESS, new Uint32Array(SEGMENT_WORDS))
    const born = bornOf(words, page)
    const liveBorn = bornOf(words, livePage)
    const end = (index + 1) * SEGMENT_ROWS
    const limit = Math.min(end, table.rowIdLimit)
    const entry = this.cache[index]
    if (
      entry?.page === page &&
      entry.born === born &&
      entry.livePage === livePage &&
      entry.liveBorn === liveBorn &&
      entry.limit === limit
    ) {
      return entry.segment
    }
    const segment = this.view(page, this.presentRows(page, livePage, limit - (end - SEGMENT_ROWS)))
    this.cache[index] = { page, born, livePage, liveBorn, limit, segment }
    return segment
  }

  /** Rows with a value. Leaves out deleted rows, whose values stay in place, and rows of later versions. */
  private presentRows(page: Address, livePage: Address, rows: number): Uint32Array {
    const { words } = this.heap
    const values = bitsStart(page)
    const exist = bitsStart(livePage)
    const bitmap = new Uint32Array(SEGMENT_WORDS)
    for (let word = 0; word * 32 < rows; word++) bitmap[word] = words[values + word]! & words[exist + word]!
    if (rows & 31) bitmap[rows >>> 5]! &= 2 ** (rows & 31) - 1
    return bitmap
  }

  private view(address: Address, present: Uint32Array): Segment {
    const { buffer } = this.heap.words
    const at = address + PAGE_VALUES
    const page = this.kernels && address !== 0 ? { address, kernels: this.kernels } : undefined
    const kind = address === 0 ? this.kind : columnKindOf(this.heap.words, address)
    switch (kind) {
      case BITS:
        return { kind: 'presence', presence: present }
      case BIGINTS:
        return { kind: 'bigint', presence: present, values: new BigInt64Array(buffer, at, SEGMENT_ROWS) }
      case POINTERS:
        return {
          kind: 'pointers',
          presence: present,
          values: new Uint32Array(buffer, at, SEGMENT_ROWS),
          texts: this.texts,
          page,
        }
      case VECTORS: {
        const starts = new Uint32Array(buffer, at, SEGMENT_ROWS)
        return { kind: 'vector', presence: present, floats: this.heap.singles, starts, page }
      }
      case NUMBERS:
        return { kind: 'number', presence: present, values: new Float64Array(buffer, at, SEGMENT_ROWS), page }
    }
  }
}

/** A column in one version. */
export class SharedColumn implements Column {
  constructor(
    readonly attribute: ColumnAttribute,
    private readonly views: SegmentViews,
    private readonly table: TablePages,
  ) {}

  segment(index: number): Segment {
    return this.views.segment(index, this.table)
  }
}
