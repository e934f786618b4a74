import { countBits, type RowSet } from '../../row-set/row-set.ts'
import { MAX_PAGES } from '../../data/kernels.ts'
import { type Column, SEGMENT_BITS, SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment } from '../../data/snapshot.ts'

/** Segments that are processed together: several in shared memory, or one that is not. Valid until the next batch. */
export interface SegmentBatch {
  readonly indexes: readonly number[]
  readonly segments: readonly VectorSegment[]
  /** Addresses of the segments in shared memory; empty if the segment is not in shared memory. */
  readonly pages: readonly number[]
  /** Bitmap of the wanted rows: {@link SEGMENT_WORDS} words for each segment. */
  readonly wantedRows: Uint32Array
}

interface BatchSize {
  /** At most {@link MAX_PAGES}. */
  readonly segments: number
  /** Maximum number of rows in a batch of several segments. */
  readonly rows: number
}

/**
 * One buffer for all queries of the thread. New ones for the three passes of a search by sketches take 6 µs of CPU with their
 * garbage collection, of the 400 to 900 µs that the search takes among 100,000 rows.
 */
const masks = new Uint32Array(MAX_PAGES * SEGMENT_WORDS)

/** Calls `visit` for each batch of segments with their rows. `visit` must not iterate over other batches. */
export function forEachBatch(
  rows: RowSet,
  column: Column,
  size: BatchSize,
  visit: (batch: SegmentBatch) => void,
): void {
  let indexes: number[] = []
  let segments: VectorSegment[] = []
  let pages: number[] = []
  let count = 0
  const flush = (): void => {
    if (segments.length > 0)
      visit({ indexes, segments, pages, wantedRows: masks.subarray(0, segments.length * SEGMENT_WORDS) })
    indexes = []
    segments = []
    pages = []
    count = 0
  }
  rows.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    const segment = column.segment(index) as VectorSegment
    const addedCount = size.rows === Number.POSITIVE_INFINITY ? 0 : countBits(bits)
    const isFull = segments.length === size.segments || count + addedCount > size.rows
    if (isFull || pages.length < segments.length || !segment.page) flush()
    masks.set(bits, segments.length * SEGMENT_WORDS)
    indexes.push(index)
    segments.push(segment)
    if (segment.page) pages.push(segment.page.address)
    count += addedCount
  })
  flush()
}

/** Row id of an entry, in the numbering of kernels over the segments of a batch. */
export const rowIdOf = (entry: number, { indexes }: Pick<SegmentBatch, 'indexes'>): number =>
  indexes[entry >>> SEGMENT_BITS]! * SEGMENT_ROWS + (entry & (SEGMENT_ROWS - 1))
