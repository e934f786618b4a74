import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { Bounds, SecondaryIndex } from '../../data/snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Scalar } from '../bind/predicate.ts'
import { MICROSECONDS, VALUES_PER_INDEX_HIT } from '../estimate/costs.ts'
import { type Range, writeRange, writeScalar } from '../plan/nodes/write-tests.ts'
import { type ColumnFilter, columnFilter } from './column-filter.ts'
import { describeCondition } from './condition.ts'
import { type NullFilter, nullFilter } from './null-filter.ts'
import type { OperatorKind, PlannedIndex, PlannedTable } from './operator.ts'
import { within } from './related-rows.ts'

/** Uses the index, unless so few candidates are left that testing each of them costs less. */
export interface IndexScan {
  readonly kind: 'IndexScan'
  readonly attribute: StorageAttribute
  readonly lookup: IndexLookup
  /** The same condition for single candidates. */
  readonly filter: ColumnFilter | NullFilter
  /** Estimated hits. */
  readonly rows: number
}

export type IndexLookup =
  | { readonly kind: 'values'; readonly values: readonly Value[] }
  | { readonly kind: 'range'; readonly bounds: Bounds }
  | { readonly kind: 'prefix'; readonly prefix: string }

export const indexScan: OperatorKind<IndexScan> = {
  explain: ({ attribute, lookup, rows }) => ` ${attribute.name} ${writeLookup(lookup, attribute)} (${rows} rows)`,
  describe: ({ attribute, lookup }, dataClass, view) =>
    describeCondition(attribute, ` ${writeLookup(lookup, attribute)}`, dataClass, view, true),
  weigh({ attribute, rows }, _, snapshot) {
    const share = rows / Math.max(1, snapshot.table(attribute.dataClass).live.size)
    return { share, microseconds: share * MICROSECONDS.test.equal, isIndexed: true }
  },
  estimate({ attribute, lookup, filter, rows }, candidates, { dataClass, table, snapshot, estimate }) {
    const index = table.index(attribute)!
    const hitCount = rowsListed(lookup, rows, table, index)
    if (candidates * VALUES_PER_INDEX_HIT < hitCount) return estimate(filter, dataClass, candidates, snapshot)
    const perHit = index.order ? MICROSECONDS.hitInMemory : MICROSECONDS.indexHit
    return { rows: Math.min(rows, candidates), microseconds: hitCount * perHit }
  },
  evaluate({ attribute, lookup, filter, rows }, candidates, scope) {
    const { table, context } = scope
    const index = table.index(attribute)!
    const hitCount = rowsListed(lookup, rows, table, index)
    // Few candidates are left: testing each costs less than listing all hits.
    if (candidates.size * VALUES_PER_INDEX_HIT < hitCount) {
      return filter.kind === 'NullFilter'
        ? nullFilter.evaluate(filter, candidates, scope)
        : columnFilter.evaluate(filter, candidates, scope)
    }
    context.budget.examine(hitCount)
    if (lookup.kind === 'range' && hitCount < rows) return candidates.minus(outside(index, lookup.bounds))
    return within(hits(index, lookup), candidates, table)
  },
}

/** Number of hits that have to be listed. With an order, a range may list the rows outside instead, if they are fewer. */
export const rowsListed = (
  { kind }: IndexLookup,
  rows: number,
  { live }: Pick<PlannedTable, 'live'>,
  { order }: PlannedIndex,
): number => (order && kind === 'range' ? Math.min(rows, live.size - rows) : rows)

/** Rows that {@link SecondaryIndex.range} does not return. */
function outside(index: SecondaryIndex, { lower, upper }: Bounds): RowSet {
  const below = lower && index.range({ upper: { value: lower.value, inclusive: !lower.inclusive } })
  const above = upper && index.range({ lower: { value: upper.value, inclusive: !upper.inclusive } })
  return [below, above].reduce<RowSet>((union, more) => (more ? union.or(more) : union), index.equal(null))
}

function hits(index: SecondaryIndex, lookup: IndexLookup): RowSet {
  switch (lookup.kind) {
    case 'range':
      return index.range(lookup.bounds)
    case 'prefix':
      return index.prefix(lookup.prefix)
    case 'values': {
      const [first, ...others] = lookup.values.map(value => index.equal(value))
      if (others.length === 0) return first!
      return RowSet.fromIds([first!, ...others].flatMap(set => [...set]))
    }
  }
}

function writeLookup(lookup: IndexLookup, attribute: StorageAttribute): string {
  const scalar = (value: unknown): string => (value === null ? 'null' : writeScalar(value as Scalar, attribute))
  switch (lookup.kind) {
    case 'values':
      return `in [${lookup.values.map(scalar).join(', ')}]`
    case 'range':
      return writeRange(lookup.bounds as Range, scalar)
    case 'prefix':
      return `begins with ${scalar(lookup.prefix)}`
  }
}
