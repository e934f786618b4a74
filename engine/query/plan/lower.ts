import { TYPES } from '../../catalog/types/registry.ts'
import type { ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { jsonMatcherOf } from '../bind/match-value.ts'
import type { Bound, Predicate, Scalar, ValueTest } from '../bind/predicate.ts'
import { MICROSECONDS, VALUES_PER_HIT_IN_MEMORY, VALUES_PER_INDEX_HIT } from '../estimate/costs.ts'
import { type ColumnFilter, costOfTest } from '../operators/column-filter.ts'
import { type IndexLookup, type IndexScan, rowsListed } from '../operators/index-scan.ts'
import type { NullFilter } from '../operators/null-filter.ts'
import type { Operator, PlannedIndex, PlannedSnapshot, Weight } from '../operators/operator.ts'
import { kindOf } from '../operators/registry.ts'

/** Counting hits in LMDB costs a step in the index each: beyond this many the index is not worth it anyway. */
const MAX_COUNTED_HITS = 8192
/** In a small table every way is fast; take the index, which stays right when the table grows. */
const MIN_COUNTED_HITS = 16

/** An operator with what the order of an Intersect depends on. */
interface Weighed {
  readonly operator: Operator
  readonly weight: Weight
}

/**
 * Chooses operators for an optimized predicate by what the snapshot's indexes tell: index or column, and the order of
 * AND-ed inputs, so that cheap and selective ones come first.
 */
export const lower = (predicate: Predicate, dataClass: DataClass, snapshot: PlannedSnapshot): Operator =>
  choose(predicate, dataClass, snapshot).operator

function choose(predicate: Predicate, dataClass: DataClass, snapshot: PlannedSnapshot): Weighed {
  const weighed = (operator: Operator, ...inputs: Weighed[]): Weighed => {
    const weights = inputs.map(({ weight }) => weight)
    return { operator, weight: kindOf(operator).weigh(operator, weights, snapshot) }
  }
  switch (predicate.kind) {
    case 'always':
      return weighed({ kind: 'All' })
    case 'never':
      return weighed({ kind: 'None' })
    case 'test': {
      const { attribute, test, negated } = predicate
      const filter: ColumnFilter = { kind: 'ColumnFilter', attribute, test, negated }
      const lookup = negated ? undefined : lookupOf(attribute, test)
      const scan = lookup && indexScan(lookup, filter, costOfTest(attribute, test), snapshot)
      if (!scan) return weighed(filter)
      const found = weighed(scan)
      // A pattern such as a@b finds more in the index than it is about.
      if (test.kind !== 'pattern' || isPrefix(test.parts)) return found
      return { operator: { kind: 'Intersect', inputs: [scan, filter] }, weight: found.weight }
    }
    case 'isNull': {
      const { attribute, negated } = predicate
      const filter: NullFilter = { kind: 'NullFilter', attribute, negated }
      const lookup: IndexLookup = { kind: 'values', values: [null] }
      return weighed((!negated && indexScan(lookup, filter, MICROSECONDS.nullTest, snapshot)) || filter)
    }
    case 'similarity':
      return weighed({ ...predicate, kind: 'VectorFilter', access: 'scan' })
    case 'json':
      return weighed({ ...predicate, kind: 'JsonFilter' })
    case 'via': {
      const { relation } = predicate
      const input = choose(predicate.input, relation.target, snapshot)
      const isNullAllowed = matchesNull(predicate.input)
      return weighed({ kind: 'SemiJoin', relation, input: input.operator, matchesNull: isNullAllowed }, input)
    }
    case 'some': {
      const { relation } = predicate
      const input = choose(predicate.input, relation.target, snapshot)
      return weighed({ kind: 'ReverseSemiJoin', relation, input: input.operator }, input)
    }
    case 'and': {
      const inputs = inOrder(predicate.inputs.map(input => choose(input, dataClass, snapshot)))
      return weighed({ kind: 'Intersect', inputs: operatorsOf(inputs) }, ...inputs)
    }
    case 'or': {
      const inputs = predicate.inputs.map(input => choose(input, dataClass, snapshot))
      return weighed({ kind: 'Union', inputs: operatorsOf(inputs) }, ...inputs)
    }
    case 'except': {
      const left = choose(predicate.left, dataClass, snapshot)
      const right = choose(predicate.right, dataClass, snapshot)
      return weighed({ kind: 'Difference', left: left.operator, right: right.operator }, left, right)
    }
    case 'complement': {
      const input = choose(predicate.input, dataClass, snapshot)
      return weighed({ kind: 'Complement', input: input.operator }, input)
    }
    case 'not':
      throw new Error('a predicate is optimized before it is lowered: NOT is at the leaves then')
  }
}

const operatorsOf = (inputs: readonly Weighed[]): Operator[] => inputs.map(({ operator }) => operator)

/** Inputs that start from an index come first, the most selective before the others; then the least cost per row taken away. */
function inOrder(inputs: readonly Weighed[]): Weighed[] {
  const rank = ({ weight: { share, microseconds } }: Weighed) => microseconds / Math.max(1e-9, 1 - share)
  return [
    ...inputs.filter(({ weight }) => weight.isIndexed).sort((a, b) => a.weight.share - b.weight.share),
    ...inputs.filter(({ weight }) => !weight.isIndexed).sort((a, b) => rank(a) - rank(b)),
  ]
}

/**
 * Undefined when there is no index, or too many hits for it to pay off.
 * @param filterCost of the filter for one value, in microseconds
 */
function indexScan(
  lookup: IndexLookup,
  filter: ColumnFilter | NullFilter,
  filterCost: number,
  snapshot: PlannedSnapshot,
): IndexScan | undefined {
  const { attribute } = filter
  if (attribute.kind !== 'storage') return undefined
  const table = snapshot.table(attribute.dataClass)
  const index = table.index(attribute)
  if (!index) return undefined
  const { size } = table.live
  const limit = index.order
    ? Math.max(MIN_COUNTED_HITS, Math.ceil((size * filterCost) / (VALUES_PER_HIT_IN_MEMORY * MICROSECONDS.test.equal)))
    : Math.min(MAX_COUNTED_HITS, Math.max(MIN_COUNTED_HITS, Math.ceil(size / VALUES_PER_INDEX_HIT)))
  // Positions in an order tell the number at once, however many there are.
  const rows = countHits(index, lookup, index.order && lookup.kind !== 'values' ? size : limit)
  if (rowsListed(lookup, rows, table, index) >= limit) return undefined
  return { kind: 'IndexScan', attribute, lookup, filter, rows }
}

function countHits(index: PlannedIndex, lookup: IndexLookup, limit: number): number {
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

/** Index look-up for just the rows of a filter; undefined when it would find others too. */
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
const indexed = (attribute: ValueAttribute, value: Scalar): Value =>
  TYPES[attribute.type].cell === 'bit' ? value === 1 : value

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
    // A comparison with null is unknown; no entity is related to one that does not exist; the rules have removed `not`.
    case 'never':
    case 'test':
    case 'similarity':
    case 'not':
    case 'some':
      return false
  }
}
