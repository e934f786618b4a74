import type { RelatedEntityAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { shareOfNull } from '../estimate/selectivity.ts'
import { negation } from '../plan/nodes/write-tests.ts'
import { filterColumn } from '../scan/filter-column.ts'
import { conditionKind } from './condition.ts'

/** Finds rows without a value; if negated, with a value. */
export interface NullFilter {
  readonly kind: 'NullFilter'
  readonly attribute: ValueAttribute | RelatedEntityAttribute
  readonly negated: boolean
}

export const nullFilter = conditionKind<NullFilter>({
  condition: ({ negated }) => ` is ${negation(negated)}null`,
  share: ({ attribute, negated }) => shareOfNull(attribute, negated),
  microseconds: () => MICROSECONDS.nullTest,
  evaluate({ attribute, negated }, candidates, { table, context }) {
    const test = { whenNull: !negated, matches: () => negated, any: negated }
    return filterColumn(table, attribute, candidates, test, context.budget)
  },
})
