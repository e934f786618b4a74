import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import { visibleOf } from '../../data/restricted-snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { MICROSECONDS, VALUES_PER_INDEX_HIT } from '../estimate/costs.ts'
import { costOfReading } from '../estimate/reading-cost.ts'
import { filterColumn } from '../scan/filter-column.ts'
import { describeJoin } from './condition.ts'
import type { Operator, OperatorKind } from './operator.ts'
import { entriesOf, referencing, targetsOf, within } from './related-rows.ts'

/** Finds rows whose related entity is found by `input`. */
export interface SemiJoin {
  readonly kind: 'SemiJoin'
  readonly relation: RelatedEntityAttribute
  readonly input: Operator
  /** True if rows without a related entity pass too, because the condition is true for null. */
  readonly matchesNull: boolean
}

export const semiJoin: OperatorKind<SemiJoin> = {
  inputs: ({ relation, input }) => [{ operator: input, dataClass: relation.target }],
  withInputs: (operator, _, change) => ({
    ...operator,
    input: change({ operator: operator.input, dataClass: operator.relation.target }),
  }),
  columns: ({ relation }) => [relation],
  explain: ({ relation, matchesNull }) => ` ${relation.name}${matchesNull ? ' or null' : ''}`,
  describe: ({ relation }, _, view) => describeJoin(relation, view),
  weigh: ({ matchesNull }, [input]) => ({
    share: input!.share,
    microseconds: MICROSECONDS.join + input!.microseconds,
    isIndexed: input!.isIndexed && !matchesNull,
  }),
  estimate({ relation, input, matchesNull }, candidates, { table, snapshot, estimate }) {
    const target = snapshot.table(relation.target)
    const isSmall = candidates < target.live.size
    const targets = isSmall ? candidates : target.live.size
    const matches = estimate(input, relation.target, targets, snapshot)
    const share = matches.rows / Math.max(1, targets)
    const reading = costOfReading(table, relation, candidates)
    const entries = entriesOf(matches.rows, table, target)
    const goesBack = !matchesNull && entries * VALUES_PER_INDEX_HIT < candidates
    const joining = goesBack ? entries * MICROSECONDS.indexHit : reading
    return { rows: candidates * share, microseconds: matches.microseconds + joining + (isSmall ? reading : 0) }
  },
  evaluate({ relation, input, matchesNull }, candidates, { table, context, evaluate }) {
    const target = context.snapshot.table(relation.target)
    const isSmall = candidates.size < target.live.size
    const targets = isSmall ? visibleOf(targetsOf(table, relation, candidates, context), target) : target.live
    const matches = evaluate(input, relation.target, targets, context)
    if (!matchesNull && entriesOf(matches.size, table, target) * VALUES_PER_INDEX_HIT < candidates.size) {
      return within(referencing(table, relation, matches, context.budget), candidates, table)
    }
    // A relation to an entity that may not be seen is null.
    const rows =
      matchesNull && target.isRestricted ? matches.or(RowSet.range(target.rowIdLimit).minus(target.live)) : matches
    const test = { whenNull: matchesNull, matches: (rowId: unknown) => rows.has(rowId as number), rows }
    return filterColumn(table, relation, candidates, test, context.budget)
  },
}
