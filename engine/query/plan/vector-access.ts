import type { DataClass } from '../../catalog/dataclass.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import {
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type Snapshot,
  type TableSnapshot,
  type VectorSegment,
} from '../../storage/snapshot.ts'
import { isHigherNearer, lengthOf, passes, type ScoreTest } from '../../vector/similarity.ts'
import { sketchBytes } from '../../vector/sketch.ts'
import type { VectorSearch } from '../../vector/searched-indexes.ts'
import { isComparable, MEASURED_COUNT, type VectorIndex } from '../../vector/vector-index.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { expect } from '../cost/operator-cost.ts'
import { MICROSECONDS } from '../cost/work.ts'
import { REMEMBERED } from '../execute/near-sketches.ts'
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
 * Lets conditions on vectors ask an index, or look at sketches first, where that finds what is asked for and costs less than
 * a scan: for the few nearest that a threshold lets pass, and for the first page in the order of similarity. What these miss
 * must only ever be missing: under what takes rows away vectors are scanned.
 */
export function chooseVectorAccess(
  operator: Operator,
  dataClass: DataClass,
  snapshot: Snapshot,
  order: WantedOrder | undefined,
): Operator {
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

/** What indexes are going to be asked for, at first. */
export function vectorSearches(operator: Operator): VectorSearch[] {
  switch (operator.kind) {
    case 'VectorFilter': {
      const { attribute, similarity, wanted } = operator
      if (wanted === undefined) return []
      return [
        { dataClass: attribute.dataClass.name, attribute: attribute.name, vector: similarity.vector, count: wanted },
      ]
    }
    case 'Intersect':
    case 'Union':
      return operator.inputs.flatMap(vectorSearches)
    case 'Difference':
      return vectorSearches(operator.left)
    case 'SemiJoin':
    case 'ReverseSemiJoin':
      return vectorSearches(operator.input)
    default:
      return []
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
  const { dimension, hnsw } = attribute.vector!
  // Without an index in the model nothing may be missed.
  if (!hnsw || !isComparable(lengthOf(similarity.vector))) return filter
  if (test ? wantsHigh(test) !== isHigherNearer(similarity.metric) : !order || !isNearestFirst(order, filter))
    return filter
  const table = snapshot.table(attribute.dataClass)
  const index = snapshot.vectorIndexes?.find(attribute)
  const { size } = table.live
  const isIndexed = index?.metric === similarity.metric && candidates >= MIN_CANDIDATES_SHARE * size
  const costs = {
    scan: candidates * dimension * MICROSECONDS.dimension,
    sketch: sketchCost(attribute, table, test ? 0 : order!.count),
    index: isIndexed ? indexCost(index, size, candidates, test ? undefined : order!.count) : Number.POSITIVE_INFINITY,
  }
  const access = costs.index <= costs.sketch ? 'index' : 'sketch'
  if (costs.scan < costs[access]) return filter
  if (test && !isNarrow(filter, table)) return filter
  if (access === 'sketch') return { ...filter, access }
  const wanted = test ? wantedAbove(attribute) : wantedNearest(order!.count, candidates, size)
  return { ...filter, access, wanted }
}

/** Nearest that the last search for what passes a test had to ask for: the next one is probably like it. */
const reached = new WeakMap<StorageAttribute, number>()
/** So many times what is needed on average is asked for where some of what is found will not be among the rows. */
const SPARE = 1.3

export const wantedAbove = (attribute: StorageAttribute): number => reached.get(attribute) ?? MEASURED_COUNT

export function rememberWanted(attribute: StorageAttribute, count: number): void {
  if (count > MEASURED_COUNT) reached.set(attribute, count)
  else reached.delete(attribute)
}

/** Of the nearest about the share of the candidates is among these. @param rows of which they are */
const wantedNearest = (count: number, candidates: number, rows: number): number =>
  candidates >= rows ? count : Math.ceil((SPARE * count * rows) / candidates)

/** @param nearest how many are wanted; 0: those above a threshold */
function sketchCost(attribute: StorageAttribute, table: TableSnapshot, nearest: number): number {
  const { dimension } = attribute.vector!
  const rows = table.live.size
  const hasSketches = sketchBytes(dimension) > 0 && table.rowsToDecode(attribute, 0) === 0
  if (!hasSketches || rows < REMEMBERED * nearest) return Number.POSITIVE_INFINITY
  return rows * dimension * MICROSECONDS.sketchedDimension + nearest * MICROSECONDS.sketchedNearest
}

/** Searches for all above a threshold end after so many times the candidates of the first. */
const SEARCHES = 4

/** @param nearest how many are wanted; undefined: those above a threshold */
function indexCost(index: VectorIndex, rows: number, candidates: number, nearest: number | undefined): number {
  const count = ((nearest ?? MEASURED_COUNT) * rows) / candidates
  if (count > maxFound(rows)) return Number.POSITIVE_INFINITY
  return index.cost(count) * (nearest === undefined ? SEARCHES : 1)
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
