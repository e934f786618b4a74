import { TYPES } from '../../catalog/types/registry.ts'
import { isByRow, isRelation, type RelationAttribute, type ValueAttribute } from '../../catalog/attribute.ts'
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

/** Maximum hits to count: each costs a step in an index of LMDB, and with more hits the index is not worth it anyway. */
const MAX_COUNTED_HITS = 8192
/** Minimum hits to count: in a small table everything is fast, and the index remains the right choice when the table grows. */
const MIN_COUNTED_HITS = 16

/** An operator with its weight, which decides the order of an Intersect. */
interface Weighed {
  readonly operator: Operator
  readonly weight: Weight
}

/**
 * Chooses operators for an optimized predicate by the hits in the snapshot's indexes: index or column, and the order of the
 * inputs of an AND, with cheap and selective ones first.
 */
export const lower = (predicate: Predicate, dataClass: DataClass, snapshot: PlannedSnapshot): Operator =>
  choose(predicate, dataClass, snapshot).operator

function choose(predicate: Predicate, dataClass: DataClass, snapshot: PlannedSnapshot): Weighed {
  const weigh = (operator: Operator, ...inputs: Weighed[]): Weighed => {
    const weights = inputs.map(({ weight }) => weight)
    return { operator, weight: kindOf(operator).weigh(operator, weights, snapshot) }
  }
  switch (predicate.kind) {
    case 'always':
      return weigh({ kind: 'All' })
    case 'never':
      return weigh({ kind: 'None' })
    case 'test': {
      const { attribute, test, negated } = predicate
      const filter: ColumnFilter = { kind: 'ColumnFilter', attribute, test, negated }
      const lookup = negated ? undefined : lookupOf(attribute, test)
      const scan = lookup && indexScan(lookup, filter, costOfTest(attribute, test), snapshot)
      if (!scan) return weigh(filter)
      const weighedScan = weigh(scan)
      // The prefix of a pattern such as a@b finds more rows than the pattern.
      if (test.kind !== 'pattern' || isPrefix(test.parts)) return weighedScan
      return { operator: { kind: 'Intersect', inputs: [scan, filter] }, weight: weighedScan.weight }
    }
    case 'isNull': {
      const { attribute, negated } = predicate
      if (isRelation(attribute) && !isByRow(attribute)) {
        const join = weigh(remoteJoin(attribute, { kind: 'always' }, false))
        return negated ? join : weigh({ kind: 'Complement', input: join.operator }, join)
      }
      const filter: NullFilter = { kind: 'NullFilter', attribute, negated }
      const lookup: IndexLookup = { kind: 'values', values: [null] }
      return weigh((!negated && indexScan(lookup, filter, MICROSECONDS.nullTest, snapshot)) || filter)
    }
    case 'similarity':
      return weigh({ ...predicate, kind: 'VectorFilter', access: 'scan' })
    case 'json':
      return weigh({ ...predicate, kind: 'JsonFilter' })
    case 'via': {
      const { relation } = predicate
      if (!isByRow(relation)) return weigh(remoteJoin(relation, predicate.input, matchesNull(predicate.input)))
      const input = choose(predicate.input, relation.target, snapshot)
      const isNullAllowed = matchesNull(predicate.input)
      return weigh({ kind: 'SemiJoin', relation, input: input.operator, matchesNull: isNullAllowed }, input)
    }
    case 'some': {
      const { relation } = predicate
      if (!isByRow(relation)) return weigh(remoteJoin(relation, predicate.input, false))
      const input = choose(predicate.input, relation.target, snapshot)
      return weigh({ kind: 'ReverseSemiJoin', relation, input: input.operator }, input)
    }
    case 'and': {
      const inputs = inOrder(predicate.inputs.map(input => choose(input, dataClass, snapshot)))
      return weigh({ kind: 'Intersect', inputs: operatorsOf(inputs) }, ...inputs)
    }
    case 'or': {
      const inputs = predicate.inputs.map(input => choose(input, dataClass, snapshot))
      return weigh({ kind: 'Union', inputs: operatorsOf(inputs) }, ...inputs)
    }
    case 'except': {
      const left = choose(predicate.left, dataClass, snapshot)
      const right = choose(predicate.right, dataClass, snapshot)
      return weigh({ kind: 'Difference', left: left.operator, right: right.operator }, left, right)
    }
    case 'complement': {
      const input = choose(predicate.input, dataClass, snapshot)
      return weigh({ kind: 'Complement', input: input.operator }, input)
    }
    case 'identity':
      throw new Error('only a database compares texts that are not folded')
    case 'not':
      throw new Error('a predicate is optimized before it is lowered: NOT is at the leaves then')
  }
}

const remoteJoin = (relation: RelationAttribute, predicate: Predicate, matchesNull: boolean): Operator => ({
  kind: 'RemoteJoin',
  relation,
  predicate,
  matchesNull,
})

const operatorsOf = (inputs: readonly Weighed[]): Operator[] => inputs.map(({ operator }) => operator)

/** Sorts inputs: those that start from an index first, by selectivity; then the others by their cost per row that they remove. */
function inOrder(inputs: readonly Weighed[]): Weighed[] {
  const rank = ({ weight: { share, microseconds } }: Weighed) => microseconds / Math.max(1e-9, 1 - share)
  return [
    ...inputs.filter(({ weight }) => weight.isIndexed).sort((a, b) => a.weight.share - b.weight.share),
    ...inputs.filter(({ weight }) => !weight.isIndexed).sort((a, b) => rank(a) - rank(b)),
  ]
}

/**
 * Index scan for a lookup; undefined when there is no index, or too many hits for it to pay off.
 * @param filterCost cost of the filter for one value, in microseconds
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
  // An order gives the number of hits directly from positions, however large it is.
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

/** Index lookup that finds exactly the rows of a filter; undefined when it would find others too. */
export const exactLookup = ({ attribute, test, negated }: ColumnFilter): IndexLookup | undefined =>
  negated || (test.kind === 'pattern' && !isPrefix(test.parts)) ? undefined : lookupOf(attribute, test)

function lookupOf(attribute: ValueAttribute, test: ValueTest): IndexLookup | undefined {
  switch (test.kind) {
    case 'equal':
      return { kind: 'values', values: [indexedValue(attribute, test.value)] }
    case 'in':
      return { kind: 'values', values: [...test.values].map(value => indexedValue(attribute, value)) }
    case 'range': {
      const convertBound = (b: Bound | undefined) =>
        b && { value: indexedValue(attribute, b.value), inclusive: b.inclusive }
      return { kind: 'range', bounds: { lower: convertBound(test.lower), upper: convertBound(test.upper) } }
    }
    case 'pattern':
      return test.parts[0] === '' ? undefined : { kind: 'prefix', prefix: test.parts[0]! }
    default:
      return undefined
  }
}

const isPrefix = (parts: readonly string[]): boolean => parts.slice(1).every(part => part === '')

/** Value as stored in an index, from the form for comparisons, in which a bool is 0 or 1. */
const indexedValue = (attribute: ValueAttribute, value: Scalar): Value =>
  TYPES[attribute.type].cell === 'bit' ? value === 1 : value

/** True if a predicate is true for an entity whose attributes are all null, as at the end of a relation that is null. */
export function matchesNull(predicate: Predicate): boolean {
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
    case 'identity':
    case 'similarity':
    case 'not':
    case 'some':
      return false
  }
}
