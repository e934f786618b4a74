import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import { RowSet } from '../../row-set/row-set.ts'
import {
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Segment,
  type TableSnapshot,
  type TextPool,
} from '../../storage/snapshot.ts'
import type { ValueTest } from '../bind/predicate.ts'
import { type Cell, cellOfSegment, cellReader } from './cell-reader.ts'
import type { PointerTest } from './filter-text.ts'
import { summaryOf } from './segment-summary.ts'
import type { QueryBudget } from './query-budget.ts'

/** What a row has to have in one column. */
export interface CellTest {
  /** Whether rows without a value pass. */
  readonly whenNull: boolean
  /** Whether a value passes. */
  readonly matches: (cell: Exclude<Cell, undefined>) => boolean
  /** The same as bounds, both inclusive, when it is about a range of numbers. */
  readonly numbers?: NumberRange
  /** The same for texts by their pointers. */
  readonly pointers?: (texts: TextPool) => PointerTest
}

export interface NumberRange {
  readonly lower: number
  readonly upper: number
  /** True: the values inside pass; false: those outside. */
  readonly inside: boolean
}

/**
 * The candidates that pass. Sparse ones are looked at one by one, dense ones segment by segment, 32 rows at a time; a
 * segment without candidates is not touched.
 * Cost: O(candidates), and making the segments that are not in memory.
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
  const read = cellReader(table, attribute, candidates.size)
  const ids = candidates.toIds()
  const passed = new Uint32Array(ids.length)
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, ids.length - i))
    const cell = read(ids[i]!)
    if (cell === undefined ? test.whenNull : test.matches(cell)) passed[count++] = ids[i]!
  }
  return RowSet.fromSorted(passed.slice(0, count))
}

function filterDense(
  table: TableSnapshot,
  attribute: ColumnAttribute,
  candidates: RowSet,
  test: CellTest,
  budget: QueryBudget,
): RowSet {
  const column = table.column(attribute)
  const words = new Uint32Array((table.rowIdLimit + 31) >>> 5)
  let pointerTest: PointerTest | undefined
  for (let start = 0; start < words.length; start += SEGMENT_WORDS) {
    const end = Math.min(start + SEGMENT_WORDS, words.length)
    if (!hasCandidates(candidates, start, end)) continue
    budget.examine(SEGMENT_ROWS)
    const segment = column.segment(start / SEGMENT_WORDS)
    if (segment.kind === 'number' && test.numbers && !test.whenNull) {
      const all = whetherAll(segment, test.numbers)
      if (all === false) continue
      if (all === true) {
        for (let word = start; word < end; word++) {
          words[word] = candidates.word(word) & segment.present[word - start]!
        }
        continue
      }
    }
    if (segment.kind === 'pointers') pointerTest ??= test.pointers?.(segment.texts)
    for (let word = start; word < end; word++) {
      const bits = candidates.word(word)
      if (bits !== 0) words[word] = filterWord(segment, word - start, bits, test, pointerTest)
    }
  }
  return RowSet.fromWords(words)
}

/** Whether all values of a segment pass or none; undefined: some may. */
function whetherAll(segment: Segment & { kind: 'number' }, { lower, upper, inside }: NumberRange): boolean | undefined {
  const { min, max } = summaryOf(segment)
  if (max < lower || min > upper) return !inside
  return min >= lower && max <= upper ? inside : undefined
}

function hasCandidates(candidates: RowSet, start: number, end: number): boolean {
  for (let word = start; word < end; word++) if (candidates.word(word) !== 0) return true
  return false
}

/** Of the 32 rows of a word those in `bits` that pass. */
function filterWord(
  segment: Segment,
  word: number,
  bits: number,
  test: CellTest,
  pointerTest: PointerTest | undefined,
): number {
  const present = bits & segment.present[word]!
  const passed = test.whenNull ? bits & ~present : 0
  if (segment.kind === 'number' && test.numbers)
    return passed | (present & wordInRange(segment.values, word, test.numbers))
  let found = passed
  if (segment.kind === 'pointers' && pointerTest) {
    if (pointerTest.equal !== undefined) {
      const same = wordEqual(segment.values, word, pointerTest.equal)
      return passed | (present & (pointerTest.negated ? ~same : same))
    }
    for (let rest = present; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest
      if (pointerTest.passes(segment.values[word * 32 + (31 - Math.clz32(bit))]!)) found |= bit
    }
    return found
  }
  for (let rest = present; rest !== 0; rest &= rest - 1) {
    const bit = rest & -rest
    if (test.matches(cellOfSegment(segment, word * 32 + (31 - Math.clz32(bit)))!)) found |= bit
  }
  return found
}

/** All 32 values, also of rows nobody asked for: without a branch that is faster than picking some. */
function wordInRange(values: Float64Array, word: number, { lower, upper, inside }: NumberRange): number {
  let bits = 0
  for (let i = 0, entry = word * 32; i < 32; i++, entry++) {
    const value = values[entry]!
    bits |= (+(value >= lower) & +(value <= upper)) << i
  }
  return inside ? bits : ~bits
}

function wordEqual(values: Uint32Array, word: number, wanted: number): number {
  let bits = 0
  for (let i = 0, entry = word * 32; i < 32; i++, entry++) bits |= +(values[entry]! === wanted) << i
  return bits
}

/** The bounds of a test about numbers, for {@link CellTest.numbers}. */
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

/** The least double above a finite one. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  float[0] = value
  integer[0] = integer[0]! + (value > 0 ? 1n : -1n)
  return float[0]
}
