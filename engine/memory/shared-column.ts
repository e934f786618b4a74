import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Segment,
  type TextPool,
} from '../storage/snapshot.ts'
import type { SegmentKernels } from '../simd/segment-kernels.ts'
import {
  BIGINTS,
  BITS,
  PAGE_BITS,
  PAGE_BORN,
  PAGE_KIND,
  PAGE_VALUES,
  type PageKind,
  POINTERS,
  VECTORS,
} from './pages.ts'
import type { SharedHeap } from './shared-heap.ts'

/** Where the pages of a table are in one version. */
export interface TablePages {
  readonly rowIdLimit: number
  /** Address of the page of live rows, 0 when there is none. */
  livePage(segment: number): number
  /** The same of a column. */
  columnPage(column: number, segment: number): number
}

interface Known {
  readonly page: number
  readonly born: number
  readonly live: number
  readonly liveBorn: number
  /** Of the version, when rows can be added to the segment; otherwise it does not matter. */
  readonly limit: number
  readonly segment: Segment
}

/** The segments of one column, made once for each state of their pages: views of the shared memory. */
export class SegmentViews {
  private readonly known: (Known | undefined)[] = []

  constructor(
    private readonly heap: SharedHeap,
    private readonly texts: TextPool,
    private readonly column: number,
    private readonly kind: PageKind,
    private readonly kernels: SegmentKernels | undefined,
  ) {}

  segment(index: number, table: TablePages): Segment {
    const { words } = this.heap
    const page = table.columnPage(this.column, index)
    const live = table.livePage(index)
    if (page === 0) return this.view(0, new Uint32Array(SEGMENT_WORDS))
    const born = words[(page >>> 2) + PAGE_BORN]!
    const liveBorn = words[(live >>> 2) + PAGE_BORN]!
    const end = (index + 1) * SEGMENT_ROWS
    const limit = Math.min(end, table.rowIdLimit)
    const known = this.known[index]
    if (
      known?.page === page &&
      known.born === born &&
      known.live === live &&
      known.liveBorn === liveBorn &&
      known.limit === limit
    ) {
      return known.segment
    }
    const segment = this.view(page, this.present(page, live, limit - (end - SEGMENT_ROWS)))
    this.known[index] = { page, born, live, liveBorn, limit, segment }
    return segment
  }

  /** Values stay where a row was deleted, and rows of later versions are added: both are left out. */
  private present(page: number, live: number, rows: number): Uint32Array {
    const { words } = this.heap
    const values = (page + PAGE_BITS) >>> 2
    const exist = (live + PAGE_BITS) >>> 2
    const present = new Uint32Array(SEGMENT_WORDS)
    for (let word = 0; word * 32 < rows; word++) present[word] = words[values + word]! & words[exist + word]!
    if (rows & 31) present[rows >>> 5]! &= 2 ** (rows & 31) - 1
    return present
  }

  private view(address: number, present: Uint32Array): Segment {
    const { buffer } = this.heap.words
    const at = address + PAGE_VALUES
    const page = this.kernels && address !== 0 ? { address, kernels: this.kernels } : undefined
    const kind = address === 0 ? this.kind : this.heap.words[(address >>> 2) + PAGE_KIND]
    switch (kind) {
      case BITS:
        return { kind: 'presence', present }
      case BIGINTS:
        return { kind: 'bigint', present, values: new BigInt64Array(buffer, at, SEGMENT_ROWS) }
      case POINTERS:
        return { kind: 'pointers', present, values: new Uint32Array(buffer, at, SEGMENT_ROWS), texts: this.texts, page }
      case VECTORS: {
        const starts = new Uint32Array(buffer, at, SEGMENT_ROWS)
        return { kind: 'vector', present, floats: this.heap.singles, starts, page }
      }
      default:
        return { kind: 'number', present, values: new Float64Array(buffer, at, SEGMENT_ROWS), page }
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
