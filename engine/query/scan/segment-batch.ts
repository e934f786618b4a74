import { countBits, type RowSet } from '../../row-set/row-set.ts'
import { MAX_PAGES } from '../../data/kernels.ts'
import { type Column, SEGMENT_BITS, SEGMENT_ROWS, SEGMENT_WORDS, type VectorSegment } from '../../data/snapshot.ts'

/** Segments that are looked at together: all in shared memory, or one that is not. Valid until the next one. */
export interface SegmentBatch {
  readonly indexes: readonly number[]
  readonly segments: readonly VectorSegment[]
  /** Their addresses in shared memory; none: it is not there. */
  readonly pages: readonly number[]
  /** Which rows of them: {@link SEGMENT_WORDS} words of each. */
  readonly wanted: Uint32Array
}

interface BatchSize {
  /** {@link MAX_PAGES} at most. */
  readonly segments: number
  /** Rows of more than one segment. */
  readonly rows: number
}

/**
 * One for all queries of the thread. New ones for the three passes of a search by sketches take 6 µs of CPU with their
 * garbage collection, of the 400 to 900 that it takes among 100,000 rows.
 */
const masks = new Uint32Array(MAX_PAGES * SEGMENT_WORDS)

/** Some segments with their rows, then the next. `visit` must not look at other batches. */
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
      visit({ indexes, segments, pages, wanted: masks.subarray(0, segments.length * SEGMENT_WORDS) })
    indexes = []
    segments = []
    pages = []
    count = 0
  }
  rows.forEachBlock(SEGMENT_WORDS, (index, wanted) => {
    const segment = column.segment(index) as VectorSegment
    const added = size.rows === Number.POSITIVE_INFINITY ? 0 : countBits(wanted)
    const isFull = segments.length === size.segments || count + added > size.rows
    if (isFull || pages.length < segments.length || !segment.page) flush()
    masks.set(wanted, segments.length * SEGMENT_WORDS)
    indexes.push(index)
    segments.push(segment)
    if (segment.page) pages.push(segment.page.address)
    count += added
  })
  flush()
}

/** Id of a row as kernels count them over some segments. */
export const rowIdOf = (entry: number, { indexes }: Pick<SegmentBatch, 'indexes'>): number =>
  indexes[entry >>> SEGMENT_BITS]! * SEGMENT_ROWS + (entry & (SEGMENT_ROWS - 1))
