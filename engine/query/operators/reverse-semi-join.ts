import type { RelatedEntitiesAttribute } from '../../catalog/attribute.ts'
import { MICROSECONDS, VALUES_PER_INDEX_HIT } from '../estimate/costs.ts'
import { costOfReading } from '../estimate/reading-cost.ts'
import { describeJoin } from './condition.ts'
import type { Operator, OperatorKind } from './operator.ts'
import { entriesOf, fanOut, referencing, targetsOf } from './related-rows.ts'

/** Finds rows to which at least one of the entities found by `input` refers. */
export interface ReverseSemiJoin {
  readonly kind: 'ReverseSemiJoin'
  readonly relation: RelatedEntitiesAttribute
  readonly input: Operator
}

export const reverseSemiJoin: OperatorKind<ReverseSemiJoin> = {
  inputs: ({ relation, input }) => [{ operator: input, dataClass: relation.target }],
  withInputs: (operator, _, change) => ({
    ...operator,
    input: change({ operator: operator.input, dataClass: operator.relation.target }),
  }),
  columns: ({ relation }) => [relation.inverse],
  explain: ({ relation }) => ` ${relation.name}`,
  describe: ({ relation }, _, view) => describeJoin(relation, view),
  weigh({ relation }, [input], snapshot) {
    const perRow = fanOut(snapshot.table(relation.target), snapshot.table(relation.dataClass))
    return {
      share: Math.min(1, input!.share * perRow),
      microseconds: perRow * (MICROSECONDS.join + input!.microseconds),
      isIndexed: input!.isIndexed,
    }
  },
  estimate({ relation: { inverse }, input }, candidates, { table, snapshot, estimate }) {
    const many = snapshot.table(inverse.dataClass)
    const entries = entriesOf(candidates, many, table)
    const isSmall = entries * VALUES_PER_INDEX_HIT < many.live.size
    const entities = isSmall ? candidates * fanOut(many, table) : many.live.size
    const matches = estimate(input, inverse.dataClass, entities, snapshot)
    const joining = costOfReading(many, inverse, matches.rows) + (isSmall ? entries * MICROSECONDS.indexHit : 0)
    return { rows: Math.min(candidates, matches.rows), microseconds: matches.microseconds + joining }
  },
  evaluate({ relation: { inverse }, input }, candidates, { table, context, evaluate }) {
    const many = context.snapshot.table(inverse.dataClass)
    const isSmall = entriesOf(candidates.size, many, table) * VALUES_PER_INDEX_HIT < many.live.size
    const entities = isSmall ? referencing(many, inverse, candidates, context.budget) : many.live
    const matches = evaluate(input, inverse.dataClass, entities, context)
    return targetsOf(many, inverse, matches, context).and(candidates)
  },
}
