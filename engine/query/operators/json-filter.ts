import type { ValueAttribute } from '../../catalog/attribute.ts'
import { jsonMatcherOf } from '../bind/match-value.ts'
import type { JsonTest } from '../bind/predicate.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { shareOfJson } from '../estimate/selectivity.ts'
import { writeJsonTest } from '../plan/nodes/write-tests.ts'
import { filterColumn } from '../scan/filter-column.ts'
import { conditionKind } from './condition.ts'

/** Finds rows whose JSON value, possibly null, passes. */
export interface JsonFilter {
  readonly kind: 'JsonFilter'
  readonly attribute: ValueAttribute
  readonly test: JsonTest
}

export const jsonFilter = conditionKind<JsonFilter>({
  condition: ({ test }) => writeJsonTest(test),
  share: ({ test }) => shareOfJson(test),
  microseconds: () => MICROSECONDS.jsonTest,
  evaluate({ attribute, test }, candidates, { table, context: { budget } }) {
    const matches = jsonMatcherOf(test, characters => budget.look(characters))
    return filterColumn(table, attribute, candidates, { whenNull: matches(null), matches }, budget)
  },
})
