import type { DataClass } from '../../catalog/dataclass.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import { isHigherNearer, lengthOf, type ScoreTest, wantsAbove } from '../../vector/math/similarity.ts'
import { CANDIDATES_PER_NEAREST, sketchBytes } from '../../vector/math/sketch.ts'
import type { VectorSearch } from '../../data/vector-index.ts'
import { isComparable, MEASURED_COUNT, type VectorIndex } from '../../data/vector-index.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { MICROSECONDS, SEARCHES_ABOVE } from '../estimate/costs.ts'
import { estimate } from '../operators/estimate.ts'
import { firstCount, maxFound, MIN_CANDIDATES_SHARE } from '../operators/index-search.ts'
import type { Input, Operator } from '../operators/operator.ts'
import { inputsOf, kindOf } from '../operators/registry.ts'
import type { VectorFilter } from '../operators/vector-filter.ts'

/** The part of the wanted order that affects the choice of an access. */
interface WantedOrder {
  readonly keys: readonly SortKey[]
  /** Rows up to the end of the page. */
  readonly count: number
}

/** Data on which the choice of an access is based. */
interface VectorPlanning {
  readonly snapshot: Snapshot
  readonly order: WantedOrder | undefined
  /** True if so few rows pass a threshold that finding them costs less than a scan. */
  passesFew(filter: VectorFilter, test: ScoreTest): boolean
}

/**
 * Lets conditions on vectors use an index or sketches if that costs less than a scan: to find the few nearest rows that pass a
 * threshold, or the first page in the order of similarity. Both accesses may drop rows, so conditions whose missing rows would
 * add rows to the result are scanned.
 * @param candidates expected number of candidates
 */
export function chooseVectorAccess(
  operator: Operator,
  dataClass: DataClass,
  planning: VectorPlanning,
  candidates = planning.snapshot.table(dataClass).live.size,
): Operator {
  if (operator.kind === 'VectorFilter') return withAccess(operator, candidates, planning)
  const { snapshot } = planning
  // In an Intersect each input tests only the rows that passed the previous ones.
  let rowsLeft = operator.kind === 'Intersect' ? snapshot.table(dataClass).live.size : undefined
  const choose = (input: Input): Operator => {
    const ofInput = input.dataClass === dataClass ? planning : { ...planning, order: undefined }
    const choice = chooseVectorAccess(input.operator, input.dataClass, ofInput, rowsLeft)
    if (rowsLeft !== undefined) rowsLeft = estimate(input.operator, dataClass, rowsLeft, snapshot).rows
    return choice
  }
  return kindOf(operator).withInputs?.(operator, dataClass, choose) ?? operator
}

/** First searches of an operator in the indexes. */
export function vectorSearches(operator: Operator, dataClass: DataClass): VectorSearch[] {
  if (operator.kind !== 'VectorFilter') {
    return inputsOf(operator, dataClass).flatMap(input => vectorSearches(input.operator, input.dataClass))
  }
  const { attribute, similarity, wanted } = operator
  if (wanted === undefined) return []
  return [{ dataClass: attribute.dataClass.name, attribute: attribute.name, vector: similarity.vector, count: wanted }]
}

/** @param candidates expected number of candidates */
function withAccess(
  filter: VectorFilter,
  candidates: number,
  { snapshot, order, passesFew }: VectorPlanning,
): VectorFilter {
  const { attribute, similarity, test } = filter
  const { dimension, hnsw } = attribute.vector!
  // Without an index in the model no row may be missed.
  if (!hnsw || !isComparable(lengthOf(similarity.vector))) return filter
  if (test ? wantsAbove(test) !== isHigherNearer(similarity.metric) : !order || !isNearestFirst(order, filter))
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
  if (test && !passesFew(filter, test)) return filter
  if (access === 'sketch') return { ...filter, access }
  // An index was chosen, so `vectorIndexes` is defined.
  const wantedCount = test
    ? firstCount(snapshot.vectorIndexes!, attribute)
    : wantedNearest(order!.count, candidates, size)
  return { ...filter, access, wanted: wantedCount }
}

/** Factor on the average number of neighbours needed, when some of those found will not be candidates. */
const SPARE = 1.3

/** Approximate number of nearest rows that contain `count` candidates. @param rows number of rows, including the candidates */
const wantedNearest = (count: number, candidates: number, rows: number): number =>
  candidates >= rows ? count : Math.ceil((SPARE * count * rows) / candidates)

/** @param nearest number of wanted rows; 0 for all rows above a threshold */
function sketchCost(attribute: StorageAttribute, table: TableSnapshot, nearest: number): number {
  const { dimension } = attribute.vector!
  const rows = table.live.size
  const hasSketches = sketchBytes(dimension) > 0 && table.rowsToDecode(attribute, 0) === 0
  if (!hasSketches || rows < CANDIDATES_PER_NEAREST * nearest) return Number.POSITIVE_INFINITY
  return rows * dimension * MICROSECONDS.sketchedDimension + nearest * MICROSECONDS.sketchedNearest
}

/** @param nearest number of wanted rows; undefined for all rows above a threshold */
function indexCost(index: VectorIndex, rows: number, candidates: number, nearest: number | undefined): number {
  const count = ((nearest ?? MEASURED_COUNT) * rows) / candidates
  if (count > maxFound(rows)) return Number.POSITIVE_INFINITY
  return index.cost(count) * (nearest === undefined ? SEARCHES_ABOVE : 1)
}

const isNearestFirst = ({ keys: [key] }: WantedOrder, { similarity }: VectorFilter): boolean =>
  key?.similarity === similarity && key.relations.length === 0 && key.descending === isHigherNearer(similarity.metric)
