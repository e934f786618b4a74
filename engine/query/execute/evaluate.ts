import type { DataClass } from '../../catalog/dataclass.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Bounds, SecondaryIndex, Snapshot, TableSnapshot } from '../../storage/snapshot.ts'
import { jsonMatcherOf, matcherOf } from '../bind/match-value.ts'
import type { Scalar } from '../bind/predicate.ts'
import { rowsListed, VALUES_PER_INDEX_HIT } from '../plan/lower.ts'
import type { ColumnFilter, IndexLookup, NullFilter, Operator } from '../plan/physical-plan.ts'
import { type CellTest, filterColumn, numberRangeOf } from './filter-column.ts'
import { filterVectors } from './filter-vectors.ts'
import { filterByIndex } from './index-search.ts'
import { pointerTestOf } from './filter-text.ts'
import { reverseSemiJoin, semiJoin } from './join.ts'
import type { QueryBudget } from './query-budget.ts'
import type { Trace } from './trace.ts'

export interface QueryContext {
  readonly snapshot: Snapshot
  readonly budget: QueryBudget
  /** Is told of every operator. */
  readonly trace?: Trace | undefined
}

/** The candidates, rows of `dataClass`, that an operator lets pass. */
export function evaluate(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): RowSet {
  const { trace } = context
  if (!trace) return run(operator, dataClass, candidates, context)
  return trace.step(operator, dataClass, () => run(operator, dataClass, candidates, context))
}

function run(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): RowSet {
  if (candidates.size === 0) return RowSet.empty
  const table = context.snapshot.table(dataClass)
  switch (operator.kind) {
    case 'All':
      return candidates
    case 'None':
      return RowSet.empty
    case 'IndexScan': {
      const { lookup, rows } = operator
      const index = table.index(operator.attribute)!
      const listed = rowsListed(lookup, rows, table, index)
      // Few candidates are left: looking at each costs less than listing all hits.
      if (candidates.size * VALUES_PER_INDEX_HIT < listed) return filter(operator.filter, table, candidates, context)
      context.budget.examine(listed)
      if (lookup.kind === 'range' && listed < rows) return candidates.minus(outside(index, lookup.bounds))
      return within(hits(index, lookup), candidates, table)
    }
    case 'ColumnFilter':
    case 'NullFilter':
      return filter(operator, table, candidates, context)
    case 'VectorFilter':
      return (
        (operator.access === 'index' && operator.test && filterByIndex(operator, table, candidates, context)) ||
        filterVectors(operator, table, candidates, context.budget)
      )
    case 'JsonFilter': {
      const matches = jsonMatcherOf(operator.test)
      return filterColumn(table, operator.attribute, candidates, { whenNull: matches(null), matches }, context.budget)
    }
    case 'SemiJoin':
      return semiJoin(operator, candidates, context)
    case 'ReverseSemiJoin':
      return reverseSemiJoin(operator, candidates, context)
    case 'Intersect':
      return operator.inputs.reduce((left, input) => evaluate(input, dataClass, left, context), candidates)
    case 'Union': {
      let found = RowSet.empty
      // What one input has found the next ones need not look at.
      for (const input of operator.inputs)
        found = found.or(evaluate(input, dataClass, candidates.minus(found), context))
      return found
    }
    case 'Difference': {
      const left = evaluate(operator.left, dataClass, candidates, context)
      return left.minus(evaluate(operator.right, dataClass, left, context))
    }
    case 'Complement':
      return candidates.minus(evaluate(operator.input, dataClass, candidates, context))
  }
}

function filter(
  operator: ColumnFilter | NullFilter,
  table: TableSnapshot,
  candidates: RowSet,
  { budget }: QueryContext,
): RowSet {
  const { attribute, negated } = operator
  if (operator.kind === 'NullFilter') {
    const test = { whenNull: !negated, matches: () => negated, any: negated }
    return filterColumn(table, attribute, candidates, test, budget)
  }
  const passes = matcherOf(operator.test)
  const test: CellTest = {
    whenNull: false,
    matches: cell => passes(cell as Scalar) !== negated,
    any: operator.test.kind === 'any' ? !negated : undefined,
    numbers: numberRangeOf(operator.test, negated),
    pointers: texts => pointerTestOf(operator.test, negated, texts),
  }
  return filterColumn(table, attribute, candidates, test, budget)
}

/** What an index finds exists: of all rows nothing has to be taken away. */
export const within = (found: RowSet, candidates: RowSet, table: TableSnapshot): RowSet =>
  candidates === table.live ? found : found.and(candidates)

/** What {@link SecondaryIndex.range} leaves out. */
function outside(index: SecondaryIndex, { lower, upper }: Bounds): RowSet {
  const below = lower && index.range({ upper: { value: lower.value, inclusive: !lower.inclusive } })
  const above = upper && index.range({ lower: { value: upper.value, inclusive: !upper.inclusive } })
  return [below, above].reduce<RowSet>((found, more) => (more ? found.or(more) : found), index.equal(null))
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
      return RowSet.fromIds([first!, ...others].flatMap(found => [...found]))
    }
  }
}
