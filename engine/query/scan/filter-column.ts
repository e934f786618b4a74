import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { SegmentFilter, SegmentKernels } from '../../data/kernels.ts'
import {
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Segment,
  type TableSnapshot,
  type TextPool,
  UNPARSED,
} from '../../data/snapshot.ts'
import type { ValueTest } from '../bind/predicate.ts'
import { type Cell, cellOfSegment, cellReader, rowReader } from './cell-reader.ts'
import type { PointerTest } from './filter-text.ts'
import { summaryOf } from './segment-summary.ts'
import type { QueryBudget } from './query-budget.ts'

/** Condition on one column of a row. */
interface CellTest {
  /** True if rows without a value pass. */
  readonly whenNull: boolean
  /** Returns true if a value passes. */
  readonly matches: (cell: Exclude<Cell, undefined>) => boolean
  /** Result of {@link matches}, if it is the same for all values. */
  readonly any?: boolean | undefined
  /** Range equivalent to {@link matches}, for numbers. */
  readonly numbers?: NumberRange | undefined
  /** Row ids that pass, for related entities. */
  readonly rows?: RowSet | undefined
  /** Test by pointers, for texts. */
  readonly pointers?: (texts: TextPool) => PointerTest
}

/** Both bounds are inclusive. */
interface NumberRange {
  readonly lower: number
  readonly upper: number
  /** True if values inside pass; false if values outside pass. */
  readonly inside: boolean
}

/**
 * Returns the candidates that pass. Sparse candidates are tested one by one, dense ones segment by segment: by a kernel if the
 * segment is in shared memory and there is a kernel for the test, else 32 rows at a time. Segments without candidates are not
 * touched.
 * Cost: O(candidates), plus building segments that are not in memory.
 */
export function filterColumn(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
  candidates: RowSet,
  test: CellTest,
  budget: QueryBudget,
): RowSet {
  return candidates.isSparse || attribute.kind === 'calculated'
    ? filterSparse(table, attribute, candidates, test, budget)
    : filterDense(table, attribute, candidates, test, budget)
}

function filterSparse(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
  candidates: RowSet,
  test: CellTest,
  budget: QueryBudget,
): RowSet {
  const read = cellReader(table, attribute, candidates.size, budget)
  const ids = candidates.toIds()
  const passingIds = new Uint32Array(ids.length)
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, ids.length - i))
    const cell = read(ids[i]!)
    if (cell === undefined ? test.whenNull : test.matches(cell)) passingIds[count++] = ids[i]!
  }
  return RowSet.fromSorted(passingIds.slice(0, count))
}

function filterDense(
  table: TableSnapshot,
  attribute: ColumnAttribute,
  candidates: RowSet,
  test: CellTest,
  budget: QueryBudget,
): RowSet {
  const column = table.column(attribute)
  const words = new Uint32Array(Math.ceil(table.rowIdLimit / SEGMENT_ROWS) * SEGMENT_WORDS)
  const readRow = rowReader(table, attribute, budget)
  let first = 0
  const filter = segmentFilter(test, entry => readRow(first + entry))
  candidates.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    budget.examine(SEGMENT_ROWS)
    first = index * SEGMENT_ROWS
    words.set(filter(column.segment(index), bits), index * SEGMENT_WORDS)
  })
  return RowSet.fromWords(words.subarray(0, (table.rowIdLimit + 31) >>> 5))
}

/**
 * Returns a function that selects the candidates of a segment that pass. Candidates and result are words of bitmaps; the result
 * is valid until the next call. All candidates have to exist in the snapshot.
 * @param readEntry reads the value of an entry from its row, for an object that the segment has not parsed
 */
export function segmentFilter(
  test: CellTest,
  readEntry?: (entry: number) => Cell,
): (segment: Segment, candidates: Uint32Array) => Uint32Array {
  const result = new Uint32Array(SEGMENT_WORDS)
  let pointerTest: PointerTest | undefined
  // Created for the first segment in shared memory; null if there is no kernel for this test.
  let kernel: SegmentFilter | null | undefined
  return (segment, candidates) => {
    const all = test.any ?? uniformOutcome(segment, test)
    if (all !== undefined) return filterByPresence(segment, candidates, all, test.whenNull, result)
    if (segment.kind === 'pointers') pointerTest ??= test.pointers?.(segment.texts)
    if ((segment.kind === 'number' || segment.kind === 'pointers') && segment.page && !test.whenNull) {
      const { address, kernels } = segment.page
      if (kernel === undefined) kernel = kernelOf(test, pointerTest, kernels) ?? null
      if (kernel) return kernel(address, candidates)
    }
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      const bits = candidates[word]!
      result[word] = bits === 0 ? 0 : filterWord(segment, word, bits, test, pointerTest, readEntry)
    }
    return result
  }
}

function kernelOf(
  { numbers, rows }: CellTest,
  pointerTest: PointerTest | undefined,
  kernels: SegmentKernels,
): SegmentFilter | undefined {
  if (numbers) return kernels.inRange(numbers.lower, numbers.upper, numbers.inside)
  if (rows) return kernels.isIn(rows.toWords())
  if (!pointerTest) return undefined
  const { oneOf, pattern, negated, budget } = pointerTest
  if (oneOf) return kernels.isOneOf(oneOf, !negated)
  if (!pattern?.every(part => part.length <= MAX_KERNEL_PART)) return undefined
  const filter = kernels.hasPattern(pattern, !negated)
  return filter && inPieces(filter, budget)
}

/** Maximum length of a part for the pattern kernel, which may visit each byte of a text once per byte of a part. */
const MAX_KERNEL_PART = 64
/** Time between two calls of the budget, in milliseconds. */
const PIECE_MS = 0.5

/** Applies a filter piece by piece, since texts may have any length: starts with a few rows, and takes more while these are fast. */
function inPieces(filter: SegmentFilter, budget: QueryBudget): SegmentFilter {
  const piece = new Uint32Array(SEGMENT_WORDS)
  const result = new Uint32Array(SEGMENT_WORDS)
  let count = 1
  return (page, candidates) => {
    for (let word = 0; word < SEGMENT_WORDS; ) {
      const end = Math.min(word + count, SEGMENT_WORDS)
      const isWhole = end - word === SEGMENT_WORDS
      if (!isWhole) {
        piece.fill(0)
        piece.set(candidates.subarray(word, end), word)
      }
      const startedAt = performance.now()
      const hits = filter(page, isWhole ? candidates : piece)
      const elapsedMs = performance.now() - startedAt
      if (elapsedMs < PIECE_MS) count = Math.min(SEGMENT_WORDS, count * 2)
      else if (elapsedMs > 2 * PIECE_MS) count = Math.max(1, count >>> 1)
      if (isWhole) return hits
      result.set(hits.subarray(word, end), word)
      budget.examine(0)
      word = end
    }
    return result
  }
}

/** True if all values of a segment pass, false if none does; undefined if only some pass. */
function uniformOutcome(segment: Segment, { numbers }: CellTest): boolean | undefined {
  if (segment.kind !== 'number' || !numbers) return undefined
  const { lower, upper, inside } = numbers
  const { min, max } = summaryOf(segment)
  if (max < lower || min > upper) return !inside
  return min >= lower && max <= upper ? inside : undefined
}

/** Filters a segment by a test that depends only on the presence of a value. */
function filterByPresence(
  { presence: present }: Segment,
  candidates: Uint32Array,
  all: boolean,
  whenNull: boolean,
  out: Uint32Array,
): Uint32Array {
  const ofPresent = all ? -1 : 0
  const ofNull = whenNull ? -1 : 0
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    const bits = present[word]!
    out[word] = candidates[word]! & ((bits & ofPresent) | (~bits & ofNull))
  }
  return out
}

/** Bits of the rows of a word that are in `bits` and pass. */
function filterWord(
  segment: Segment,
  word: number,
  bits: number,
  test: CellTest,
  pointerTest: PointerTest | undefined,
  readEntry: ((entry: number) => Cell) | undefined,
): number {
  const presentBits = bits & segment.presence[word]!
  let hits = test.whenNull ? bits & ~presentBits : 0
  if (segment.kind === 'number' && test.numbers)
    return hits | (presentBits & wordInRange(segment.values, word, test.numbers))
  for (let rest = presentBits; rest !== 0; rest &= rest - 1) {
    const bit = rest & -rest
    const entry = word * 32 + (31 - Math.clz32(bit))
    let passes: boolean
    if (segment.kind === 'pointers' && pointerTest) passes = pointerTest.passes(segment.values[entry]!)
    else {
      const cell = cellOfSegment(segment, entry)!
      passes = test.matches(cell === UNPARSED ? readEntry!(entry)! : cell)
    }
    if (passes) hits |= bit
  }
  return hits
}

/** Tests all 32 values, even of rows that are not candidates: without branches that is faster than selecting some. */
function wordInRange(values: Float64Array, word: number, { lower, upper, inside }: NumberRange): number {
  let bits = 0
  for (let i = 0, entry = word * 32; i < 32; i++, entry++) {
    const value = values[entry]!
    bits |= (+(value >= lower) & +(value <= upper)) << i
  }
  return inside ? bits : ~bits
}

/** Range of a test of numbers, for {@link CellTest.numbers}. */
export function numberRangeOf(test: ValueTest, negated: boolean): NumberRange | undefined {
  if (test.kind === 'equal') {
    return typeof test.value === 'number' ? { lower: test.value, upper: test.value, inside: !negated } : undefined
  }
  if (test.kind !== 'range') return undefined
  const lower = test.lower?.value ?? Number.NEGATIVE_INFINITY
  const upper = test.upper?.value ?? Number.POSITIVE_INFINITY
  if (typeof lower !== 'number' || typeof upper !== 'number') return undefined
  return {
    lower: test.lower?.inclusive === false ? nextUp(lower) : lower,
    upper: test.upper?.inclusive === false ? -nextUp(-upper) : upper,
    inside: !negated,
  }
}

const float = new Float64Array(1)
const integer = new BigInt64Array(float.buffer)

/** Smallest double above a finite one. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  float[0] = value
  integer[0] = integer[0]! + (value > 0 ? 1n : -1n)
  return float[0]
}
