import type { StorageAttribute, VectorMetric } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import {
  type Column,
  type Segment,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type TableSnapshot,
  type VectorSegment,
  vectorStart,
} from '../../data/snapshot.ts'
import { passes, type ScoreTest, scoreOf, type Similarity, wantsAbove } from '../../vector/math/similarity.ts'
import { isPresent, readsSegments } from './cell-reader.ts'
import { nearFilter } from './sketches.ts'
import type { QueryBudget } from './query-budget.ts'
import { limitScorer, segmentScorer } from './score-segment.ts'

/** Minimum number of candidates per segment: for fewer, scoring each costs less than calling a kernel. */
const MIN_ROWS_OF_SEGMENT = 4

/** Condition on the score of a vector; without a test, any vector with a score passes. */
interface VectorTest {
  readonly attribute: StorageAttribute
  readonly similarity: Similarity
  readonly test: ScoreTest | undefined
  /** True if sketches may exclude vectors that are probably not near. */
  readonly isSketched?: boolean
}

/**
 * Returns the candidates whose vectors have a score that passes. Without sketches every candidate is scored: by its codes if they
 * decide, else in single precision, else exactly.
 * Cost: O(candidates × dimension).
 */
export function filterVectors(
  { attribute, similarity, test, isSketched = false }: VectorTest,
  table: TableSnapshot,
  candidates: RowSet,
  budget: QueryBudget,
): RowSet {
  if (!scansSegments(table, attribute, candidates.size)) {
    return filterRows(attribute, similarity, test, table, candidates, budget)
  }
  const column = table.column(attribute)
  if (test) return filterSegments(column, thresholdFilter(similarity, test, isSketched), table, candidates, budget)
  if (similarity.metric === 'cosine' && similarity.vector.every(number => number === 0)) return RowSet.empty
  return candidates === table.live
    ? allScored(column, similarity.metric, table, budget)
    : filterSegments(column, scoreFilter(similarity.metric), table, candidates, budget)
}

/** True if this many rows are scored segment by segment. */
export const scansSegments = (table: TableSnapshot, attribute: StorageAttribute, rows: number): boolean =>
  table.rowsToDecode(attribute, 0) === 0
    ? rows >= (MIN_ROWS_OF_SEGMENT * table.rowIdLimit) / SEGMENT_ROWS
    : readsSegments(table, rows)

function filterRows(
  attribute: StorageAttribute,
  similarity: Similarity,
  test: ScoreTest | undefined,
  table: TableSnapshot,
  candidates: RowSet,
  budget: QueryBudget,
): RowSet {
  const read = scoreReader(table, attribute, similarity, candidates.size)
  const ids = candidates.toIds()
  const passingIds = new Uint32Array(ids.length)
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, ids.length - i))
    const score = read(ids[i]!)
    if (score !== undefined && passes(test, score)) passingIds[count++] = ids[i]!
  }
  return RowSet.fromSorted(passingIds.slice(0, count))
}

function filterSegments(
  column: Column,
  filter: Filter,
  table: TableSnapshot,
  candidates: RowSet,
  budget: QueryBudget,
): RowSet {
  const words = new Uint32Array(Math.ceil(table.rowIdLimit / SEGMENT_ROWS) * SEGMENT_WORDS)
  candidates.forEachBlock(SEGMENT_WORDS, (index, rows) => {
    budget.examine(SEGMENT_ROWS)
    filter(column.segment(index) as VectorSegment, rows, words.subarray(index * SEGMENT_WORDS))
  })
  return RowSet.fromWords(words.subarray(0, (table.rowIdLimit + 31) >>> 5))
}

/** Sets the bits of the rows that pass. @param passed initially zero */
type Filter = (segment: VectorSegment, rows: Uint32Array, out: Uint32Array) => void

function thresholdFilter(similarity: Similarity, test: ScoreTest, isSketched: boolean): Filter {
  const { threshold } = test
  const isAboveWanted = wantsAbove(test)
  const scoreWithin = limitScorer(similarity, isAboveWanted)
  const score = segmentScorer(similarity)
  const undecidedRows = new Uint32Array(SEGMENT_WORDS)
  const near = isSketched ? nearFilter(similarity) : undefined
  return (segment, rows, out) => {
    const { entries, bounds } = scoreWithin(segment, near?.(segment, rows, threshold) ?? rows, threshold)
    undecidedRows.fill(0)
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i]!
      const isDecided = isAboveWanted ? bounds[2 * i]! > threshold : bounds[2 * i + 1]! < threshold
      const bits = isDecided ? out : undecidedRows
      bits[entry >>> 5]! |= 1 << (entry & 31)
    }
    if (undecidedRows.every(bits => bits === 0)) return
    const scores = score(segment, undecidedRows)
    let i = 0
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      for (let bits = undecidedRows[word]!; bits !== 0; bits &= bits - 1, i += 2) {
        const isAbove = scores[i]! > threshold
        if (isAbove || scores[i + 1]! < threshold) {
          if (isAbove === isAboveWanted) out[word]! |= bits & -bits
          continue
        }
        const start = segment.starts[word * 32 + (31 - Math.clz32(bits & -bits))]!
        const score = scoreOf(similarity, segment.floats, vectorStart(start))
        if (score !== undefined && passes(test, score)) out[word]! |= bits & -bits
      }
    }
  }
}

/** Filter for rows that have a score. */
function scoreFilter(metric: VectorMetric): Filter {
  return (segment, rows, out) => {
    const scoredRows = metric === 'cosine' ? withDirection(segment) : segment.presence
    for (let word = 0; word < SEGMENT_WORDS; word++) out[word] = rows[word]! & scoredRows[word]!
  }
}

/** Cache by the set of all rows, which changes when rows are inserted or deleted; the segments change when vectors do. */
const scoredRowsCache = new WeakMap<RowSet, { segments: readonly Segment[]; metric: VectorMetric; scored: RowSet }>()

/** All rows of a dataclass that have a score. Cached for segments in shared memory only, which take no memory of this thread. */
function allScored(column: Column, metric: VectorMetric, table: TableSnapshot, budget: QueryBudget): RowSet {
  const segments = Array.from({ length: Math.ceil(table.rowIdLimit / SEGMENT_ROWS) }, (_, i) => column.segment(i))
  const before = scoredRowsCache.get(table.live)
  if (before?.metric === metric && segments.every((segment, i) => segment === before.segments[i])) return before.scored
  const scoredRows = filterSegments(column, scoreFilter(metric), table, table.live, budget)
  const isShared = segments.every(segment => segment.kind === 'vector' && segment.page)
  if (isShared) scoredRowsCache.set(table.live, { segments, metric, scored: scoredRows })
  return scoredRows
}

/** Cache by segment; a segment never changes. */
const directionCache = new WeakMap<VectorSegment, Uint32Array>()

/** Rows with a vector that is not zero. Cost: O(rows) the first time. */
function withDirection(segment: VectorSegment): Uint32Array {
  let words = directionCache.get(segment)
  if (!words) {
    words = segment.presence.slice()
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      for (let bits = words[word]!; bits !== 0; bits &= bits - 1) {
        const start = segment.starts[word * 32 + (31 - Math.clz32(bits & -bits))]!
        // The length of a vector is stored before it.
        if (segment.floats[vectorStart(start) - 1] === 0) words[word]! &= ~(bits & -bits)
      }
    }
    directionCache.set(segment, words)
  }
  return words
}

/**
 * Returns a function that computes the exact score of single rows; undefined for null and for vectors without a score.
 * @param expectedRows expected number of rows to read, which decides between the column and the rows themselves
 */
export function scoreReader(
  table: TableSnapshot,
  attribute: StorageAttribute,
  similarity: Similarity,
  expectedRows: number,
): (rowId: number) => number | undefined {
  if (!readsSegments(table, expectedRows) && table.rowsToDecode(attribute, 0) > 0) {
    return rowId => {
      const vector = table.row(rowId)?.value(attribute)
      return Array.isArray(vector) ? scoreOf(similarity, Float32Array.from(vector)) : undefined
    }
  }
  const column = table.column(attribute)
  const segments: VectorSegment[] = []
  return rowId => {
    if (rowId >= table.rowIdLimit) return undefined
    const index = Math.floor(rowId / SEGMENT_ROWS)
    segments[index] ??= column.segment(index) as VectorSegment
    const segment = segments[index]!
    const entry = rowId % SEGMENT_ROWS
    return isPresent(segment, entry)
      ? scoreOf(similarity, segment.floats, vectorStart(segment.starts[entry]!))
      : undefined
  }
}
