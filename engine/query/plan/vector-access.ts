import type { DataClass } from '../../catalog/dataclass.ts'
import {
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Snapshot,
  type TableSnapshot,
  type VectorSegment,
} from '../../storage/snapshot.ts'
import { isHigherNearer, lengthOf, passes, type ScoreTest } from '../../vector/similarity.ts'
import { isComparable } from '../../vector/vector-index.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { expect } from '../cost/operator-cost.ts'
import { MICROSECONDS } from '../cost/work.ts'
import { limitScorer } from '../execute/score-segment.ts'
import type { Operator, VectorFilter } from './physical-plan.ts'

/**
 * Rows whose scores tell how many pass, of so many segments at most: few hits mean a narrow test, many a wide one, and
 * what is between is for the next sample. Of the first 512 rows one passes at most in 91 % of the cases where 0.1 % of all
 * do, and in 4 % of those where 1 % do; a scan in vain costs five searches.
 */
const SAMPLES = [
  { rows: 512, narrow: 1, wide: 3 },
  { rows: 2048, narrow: 5, wide: 5 },
]
const SAMPLED_SEGMENTS = 32
/** With a smaller share of the rows as candidates a scan of these costs less than finding enough of them in an index. */
export const MIN_CANDIDATES_SHARE = 0.25
/** So many of all rows are looked for in an index at most: beyond it a scan costs less and misses none. */
export const maxFound = (rows: number): number => Math.max(256, 0.0025 * rows)

/** The order that the rows are wanted in, as far as it matters here. */
export interface WantedOrder {
  readonly keys: readonly SortKey[]
  /** Rows up to the end of the page. */
  readonly count: number
}

/**
 * Lets conditions on vectors ask an index, where one can be used, finds what is asked for and costs less than a scan: for
 * the few nearest that a threshold lets pass, and for the first page in the order of similarity. What an index misses
 * must only ever be missing: under what takes rows away vectors are scanned.
 */
export function chooseVectorAccess(
  operator: Operator,
  dataClass: DataClass,
  snapshot: Snapshot,
  order: WantedOrder | undefined,
): Operator {
  if (!snapshot.vectorIndexes) return operator
  const choose = (input: Operator, of = dataClass) =>
    chooseVectorAccess(input, of, snapshot, of === dataClass ? order : undefined)
  switch (operator.kind) {
    case 'VectorFilter':
      return withAccess(operator, snapshot.table(dataClass).live.size, snapshot, order)
    case 'Intersect': {
      let rows = snapshot.table(dataClass).live.size
      const inputs = operator.inputs.map(input => {
        const chosen = input.kind === 'VectorFilter' ? withAccess(input, rows, snapshot, order) : choose(input)
        rows = expect(input, dataClass, rows, snapshot).rows
        return chosen
      })
      return { kind: 'Intersect', inputs }
    }
    case 'Union':
      return { kind: 'Union', inputs: operator.inputs.map(input => choose(input)) }
    case 'Difference':
      return { ...operator, left: choose(operator.left) }
    case 'SemiJoin':
    case 'ReverseSemiJoin':
      return { ...operator, input: choose(operator.input, operator.relation.target) }
    default:
      return operator
  }
}

export function usesVectorIndex(operator: Operator): boolean {
  switch (operator.kind) {
    case 'VectorFilter':
      return operator.access === 'index'
    case 'Intersect':
    case 'Union':
      return operator.inputs.some(usesVectorIndex)
    case 'Difference':
      return usesVectorIndex(operator.left)
    case 'SemiJoin':
    case 'ReverseSemiJoin':
      return usesVectorIndex(operator.input)
    default:
      return false
  }
}

/** @param candidates expected */
function withAccess(
  filter: VectorFilter,
  candidates: number,
  snapshot: Snapshot,
  order: WantedOrder | undefined,
): VectorFilter {
  const { attribute, similarity, test } = filter
  const index = snapshot.vectorIndexes?.find(attribute)
  const table = snapshot.table(attribute.dataClass)
  const { size } = table.live
  if (index?.metric !== similarity.metric || candidates < MIN_CANDIDATES_SHARE * size) return filter
  if (!isComparable(lengthOf(similarity.vector))) return filter
  const share = candidates / size
  const count = test ? 100 : order && isNearestFirst(order, filter) ? order.count / share : Number.POSITIVE_INFINITY
  const scan = candidates * attribute.vector!.dimension * MICROSECONDS.dimension
  if (count > maxFound(size) || index.cost(count) > scan) return filter
  if (test && wantsHigh(test) !== isHigherNearer(similarity.metric)) return filter
  // The thread that has the index is only asked by one that has seen that already.
  return !test || index.nearest || isNarrow(filter, table) ? { ...filter, access: 'index' } : filter
}

const isNearestFirst = ({ keys: [key] }: WantedOrder, { similarity }: VectorFilter): boolean =>
  key?.similarity === similarity && key.relations.length === 0 && key.descending === isHigherNearer(similarity.metric)

const wantsHigh = ({ comparator }: ScoreTest): boolean => comparator === 'greater' || comparator === 'greaterOrEqual'

/** Whether a test for near ones passes so few rows that hardly any of some is among them. */
function isNarrow({ attribute, similarity, test }: VectorFilter, table: TableSnapshot): boolean {
  if (table.rowsToDecode(attribute, 0) > 0) return false
  const column = table.column(attribute)
  const score = limitScorer(similarity, wantsHigh(test!))
  const segments = Math.ceil(table.rowIdLimit / SEGMENT_ROWS)
  const looked = Math.min(segments, SAMPLED_SEGMENTS)
  const share = table.live.size / (segments * SEGMENT_ROWS)
  for (const { rows: count, narrow, wide } of SAMPLES) {
    const rows = everyNth(Math.max(1, Math.floor((looked * SEGMENT_ROWS) / count)))
    let hits = 0
    for (let i = 0; i < looked && hits <= Math.ceil(share * wide); i++) {
      const segment = column.segment(Math.floor(((i + 0.5) * segments) / looked)) as VectorSegment
      const { bounds } = score(segment, rows, test!.threshold)
      for (let j = 0; j < bounds.length; j += 2) if (passes(test, (bounds[j]! + bounds[j + 1]!) / 2)) hits++
    }
    if (hits <= Math.ceil(share * narrow)) return true
    if (hits > Math.ceil(share * wide)) return false
  }
  return false
}

/** Of the rows of a segment. */
function everyNth(n: number): Uint32Array {
  const rows = new Uint32Array(SEGMENT_WORDS)
  for (let entry = n >>> 1; entry < SEGMENT_ROWS; entry += n) rows[entry >>> 5]! |= 1 << (entry & 31)
  return rows
}
