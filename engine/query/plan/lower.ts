import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { SecondaryIndex, Snapshot, TableSnapshot } from '../../storage/snapshot.ts'
import { jsonMatcherOf } from '../bind/match-value.ts'
import type { Bound, JsonTest, Predicate, Scalar, ValueTest } from '../bind/predicate.ts'
import type { ScoreTest } from '../../vector/similarity.ts'
import type { ColumnFilter, IndexLookup, NullFilter, Operator } from './physical-plan.ts'

/**
 * An index hit costs about as much as this many values of a column: a key is read and decoded for each, while a column
 * is an array. So an index pays off only for few hits.
 */
export const VALUES_PER_INDEX_HIT = 32

/** The same of an index in memory. */
const VALUES_PER_HIT_IN_MEMORY = 16

/** Counting hits in LMDB costs a step in the index each: beyond this many the index is not worth it anyway. */
const MAX_COUNTED_HITS = 8192
/** In a small table every way is fast; take the index, which stays right when the table grows. */
const MIN_COUNTED_HITS = 16

/** An operator with what the order of an Intersect depends on. */
interface Estimate {
  readonly operator: Operator
  /** Share of the candidates that pass, 0 to 1. */
  readonly selectivity: number
  /** Of looking at one candidate, in units of comparing a number. */
  readonly costPerRow: number
  /** Starts from index hits, so that its cost is theirs and not that of looking at candidates. */
  readonly indexed?: boolean
}

/**
 * Chooses operators for an optimized predicate by what the snapshot's indexes tell: index or column, and the order of
 * AND-ed inputs, so that cheap and selective ones come first.
 */
export const lower = (predicate: Predicate, dataClass: DataClass, snapshot: Snapshot): Operator =>
  estimate(predicate, dataClass, snapshot).operator

function estimate(predicate: Predicate, dataClass: DataClass, snapshot: Snapshot): Estimate {
  switch (predicate.kind) {
    case 'always':
      return { operator: { kind: 'All' }, selectivity: 1, costPerRow: 0 }
    case 'never':
      return { operator: { kind: 'None' }, selectivity: 0, costPerRow: 0 }
    case 'test':
      return estimateTest(predicate, snapshot.table(dataClass))
    case 'isNull':
      return estimateNull(predicate, snapshot.table(dataClass))
    case 'similarity': {
      const { dimension } = predicate.attribute.vector!
      return {
        operator: { ...predicate, kind: 'VectorFilter', access: 'scan' },
        selectivity: scoreSelectivity(predicate.test),
        costPerRow: dimension * COST_PER_DIMENSION,
      }
    }
    case 'json': {
      const { attribute, test } = predicate
      return {
        operator: { kind: 'JsonFilter', attribute, test },
        selectivity: jsonSelectivity(test),
        costPerRow: attribute.kind === 'calculated' ? CODE_COST : JSON_COST,
      }
    }
    case 'via': {
      const { relation, input } = predicate
      const inner = estimate(input, relation.target, snapshot)
      const operator = { kind: 'SemiJoin', relation, input: inner.operator, matchesNull: matchesNull(input) } as const
      const indexed = inner.indexed && !operator.matchesNull
      return { operator, selectivity: inner.selectivity, costPerRow: 2 + inner.costPerRow, indexed }
    }
    case 'some': {
      const { relation, input } = predicate
      const inner = estimate(input, relation.target, snapshot)
      const operator = { kind: 'ReverseSemiJoin', relation, input: inner.operator } as const
      const perRow = fanOut(snapshot.table(relation.target), snapshot.table(dataClass))
      const selectivity = Math.min(1, inner.selectivity * perRow)
      return { operator, selectivity, costPerRow: perRow * (2 + inner.costPerRow), indexed: inner.indexed }
    }
    case 'and':
      return intersect(predicate.inputs.map(input => estimate(input, dataClass, snapshot)))
    case 'or': {
      const inputs = predicate.inputs.map(input => estimate(input, dataClass, snapshot))
      return {
        operator: { kind: 'Union', inputs: inputs.map(({ operator }) => operator) },
        selectivity: 1 - inputs.reduce((missed, { selectivity }) => missed * (1 - selectivity), 1),
        costPerRow: inputs.reduce((sum, { costPerRow }) => sum + costPerRow, 0),
      }
    }
    case 'except': {
      const left = estimate(predicate.left, dataClass, snapshot)
      const right = estimate(predicate.right, dataClass, snapshot)
      return {
        operator: { kind: 'Difference', left: left.operator, right: right.operator },
        selectivity: left.selectivity * (1 - right.selectivity),
        costPerRow: left.costPerRow + right.costPerRow,
      }
    }
    case 'complement': {
      const { operator: input, selectivity, costPerRow } = estimate(predicate.input, dataClass, snapshot)
      return { operator: { kind: 'Complement', input }, selectivity: 1 - selectivity, costPerRow }
    }
    case 'not':
      throw new Error('a predicate is optimized before it is lowered: NOT is at the leaves then')
  }
}

/** What starts from an index comes first, the most selective of it before the others; then the least cost per row taken away. */
function intersect(inputs: readonly Estimate[]): Estimate {
  const rank = ({ selectivity, costPerRow }: Estimate) => costPerRow / Math.max(1e-9, 1 - selectivity)
  const ordered = [
    ...inputs.filter(({ indexed }) => indexed).sort((a, b) => a.selectivity - b.selectivity),
    ...inputs.filter(({ indexed }) => !indexed).sort((a, b) => rank(a) - rank(b)),
  ]
  let selectivity = 1
  let costPerRow = 0
  for (const input of ordered) {
    costPerRow += selectivity * input.costPerRow
    selectivity *= input.selectivity
  }
  return {
    operator: { kind: 'Intersect', inputs: ordered.map(({ operator }) => operator) },
    selectivity,
    costPerRow,
    indexed: inputs.some(input => input.indexed),
  }
}

function estimateTest(predicate: Predicate & { kind: 'test' }, table: TableSnapshot): Estimate {
  const { attribute, test, negated } = predicate
  const filter: ColumnFilter = { kind: 'ColumnFilter', attribute, test, negated }
  const lookup = negated ? undefined : lookupOf(attribute, test)
  const scan = lookup && attribute.kind === 'storage' && indexScan(table, attribute, lookup, filter, testCost(filter))
  // A pattern such as a@b finds more in the index than it is about.
  if (scan && test.kind === 'pattern' && !isPrefix(test.parts)) {
    return { ...scan, operator: { kind: 'Intersect', inputs: [scan.operator, filter] } }
  }
  if (scan) return scan
  const selectivity = SELECTIVITY[test.kind]
  // Code is asked for as few rows as possible.
  const costPerRow = attribute.kind === 'calculated' ? CODE_COST : testCost(filter)
  return { operator: filter, selectivity: negated ? 1 - selectivity : selectivity, costPerRow }
}

function estimateNull(predicate: Predicate & { kind: 'isNull' }, table: TableSnapshot): Estimate {
  const { attribute, negated } = predicate
  const filter: NullFilter = { kind: 'NullFilter', attribute, negated }
  const lookup: IndexLookup = { kind: 'values', values: [null] }
  const scan = attribute.kind === 'storage' && !negated && indexScan(table, attribute, lookup, filter, 0.1)
  const costPerRow = attribute.kind === 'calculated' ? CODE_COST : 0.1
  return scan || { operator: filter, selectivity: nullSelectivity(filter), costPerRow }
}

/** Undefined when there is no index, or too many hits for it to pay off. */
function indexScan(
  table: TableSnapshot,
  attribute: StorageAttribute,
  lookup: IndexLookup,
  filter: ColumnFilter | NullFilter,
  filterCost: number,
): Estimate | undefined {
  const index = table.index(attribute)
  if (!index) return undefined
  const { size } = table.live
  const limit = index.order
    ? Math.max(MIN_COUNTED_HITS, Math.ceil((size * filterCost) / VALUES_PER_HIT_IN_MEMORY))
    : Math.min(MAX_COUNTED_HITS, Math.max(MIN_COUNTED_HITS, Math.ceil(size / VALUES_PER_INDEX_HIT)))
  // Positions in an order tell the number at once, however many there are.
  const rows = countHits(index, lookup, index.order && lookup.kind !== 'values' ? size : limit)
  if (rowsListed(lookup, rows, table, index) >= limit) return undefined
  const selectivity = rows / Math.max(1, size)
  return {
    operator: { kind: 'IndexScan', attribute, lookup, filter, rows },
    selectivity,
    costPerRow: selectivity,
    indexed: true,
  }
}

/** Hits that have to be listed: of a range in an order, those outside of it where they are fewer. */
export const rowsListed = (
  { kind }: IndexLookup,
  rows: number,
  { live }: TableSnapshot,
  { order }: SecondaryIndex,
): number => (order && kind === 'range' ? Math.min(rows, live.size - rows) : rows)

function countHits(index: SecondaryIndex, lookup: IndexLookup, limit: number): number {
  switch (lookup.kind) {
    case 'range':
      return index.estimate(lookup.bounds, limit)
    case 'prefix':
      return index.estimate({ prefix: lookup.prefix }, limit)
    case 'values': {
      if (lookup.values.length >= limit) return limit
      let rows = 0
      for (const value of lookup.values) {
        if (rows >= limit) break
        rows += index.estimate({ equal: value }, limit - rows)
      }
      return rows
    }
  }
}

/** What an index would be asked for just the rows of a filter; undefined when it would find others too. */
export const exactLookup = ({ attribute, test, negated }: ColumnFilter): IndexLookup | undefined =>
  negated || (test.kind === 'pattern' && !isPrefix(test.parts)) ? undefined : lookupOf(attribute, test)

function lookupOf(attribute: ValueAttribute, test: ValueTest): IndexLookup | undefined {
  switch (test.kind) {
    case 'equal':
      return { kind: 'values', values: [indexed(attribute, test.value)] }
    case 'in':
      return { kind: 'values', values: [...test.values].map(value => indexed(attribute, value)) }
    case 'range': {
      const bound = (b: Bound | undefined) => b && { value: indexed(attribute, b.value), inclusive: b.inclusive }
      return { kind: 'range', bounds: { lower: bound(test.lower), upper: bound(test.upper) } }
    }
    case 'pattern':
      return test.parts[0] === '' ? undefined : { kind: 'prefix', prefix: test.parts[0]! }
    default:
      return undefined
  }
}

const isPrefix = (parts: readonly string[]): boolean => parts.slice(1).every(part => part === '')

/** An index takes the value as it is stored, and a bool is compared as 0 or 1. */
const indexed = (attribute: ValueAttribute, value: Scalar): Value => (attribute.type === 'bool' ? value === 1 : value)

// Guesses where no index counts: they decide about the order of work and where it is done.
export const SELECTIVITY: Record<ValueTest['kind'], number> = {
  any: 0.9,
  equal: 0.02,
  in: 0.05,
  range: 0.3,
  pattern: 0.05,
  keyword: 0.05,
  anyOf: 0.1,
}
/** Of testing one value, in units of comparing a number. */
export const testCost = ({ attribute: { type }, test }: ColumnFilter): number =>
  test.kind === 'range' && (type === 'string' || type === 'uuid') ? TEXT_RANGE_COST : COST[test.kind]

/** Other tests know their texts by their places; for the order of two, the texts have to be looked at. */
const TEXT_RANGE_COST = 16
const COST: Record<ValueTest['kind'], number> = {
  any: 0.1,
  equal: 1,
  in: 3,
  range: 1,
  pattern: 4,
  keyword: 40,
  anyOf: 10,
}

export function nullSelectivity({ attribute, negated }: NullFilter): number {
  // Values of another type than the declared one are what nobody expects.
  const share = attribute.kind === 'storage' && attribute.source?.holds === 'others' ? 1 - OTHER_TYPES : 0.1
  return negated ? 1 - share : share
}

const OTHER_TYPES = 0.0001

/** Of comparing one number of a vector. */
export const COST_PER_DIMENSION = 0.02
export const scoreSelectivity = (test: ScoreTest | undefined): number => (test ? 0.1 : 0.9)

export const JSON_COST = 20
const CODE_COST = 1000

export function jsonSelectivity(test: JsonTest): number {
  if (test.kind === 'not') return 1 - jsonSelectivity(test.input)
  return test.kind === 'value' && !test.negated ? SELECTIVITY[test.test.kind] : 0.1
}

const fanOut = (many: TableSnapshot, one: TableSnapshot): number => many.live.size / Math.max(1, one.live.size)

/** Whether a predicate is true for an entity of which all attributes are null, as at the end of a relation that is null. */
function matchesNull(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'always':
      return true
    case 'isNull':
      return !predicate.negated
    case 'json':
      return jsonMatcherOf(predicate.test)(null)
    case 'via':
      return matchesNull(predicate.input)
    case 'and':
      return predicate.inputs.every(matchesNull)
    case 'or':
      return predicate.inputs.some(matchesNull)
    case 'except':
      return matchesNull(predicate.left) && !matchesNull(predicate.right)
    case 'complement':
      return !matchesNull(predicate.input)
    // A comparison with null is unknown; nobody is related to an entity that is not there.
    default:
      return false
  }
}
