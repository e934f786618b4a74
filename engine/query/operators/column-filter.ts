import { TYPES } from '../../catalog/types/registry.ts'
import type { ValueAttribute } from '../../catalog/attribute.ts'
import { effortOf, matcherOf } from '../bind/match-value.ts'
import type { Scalar, ValueTest } from '../bind/predicate.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { shareOfTest } from '../estimate/selectivity.ts'
import { negation, writeTest } from '../plan/nodes/write-tests.ts'
import { filterColumn, numberRangeOf } from '../scan/filter-column.ts'
import { pointerTestOf } from '../scan/filter-text.ts'
import { conditionKind } from './condition.ts'

/** Finds rows with a value that passes; if negated, with a value that fails. */
export interface ColumnFilter {
  readonly kind: 'ColumnFilter'
  readonly attribute: ValueAttribute
  readonly test: ValueTest
  readonly negated: boolean
}

/** Time to test one value. */
export const costOfTest = ({ type }: ValueAttribute, { kind }: ValueTest): number =>
  kind === 'range' && TYPES[type].cell === 'text' ? MICROSECONDS.textRange : MICROSECONDS.test[kind]

export const columnFilter = conditionKind<ColumnFilter>({
  condition: ({ attribute, test, negated }) => ` ${negation(negated)}${writeTest(test, attribute)}`,
  share: ({ test, negated }) => shareOfTest(test, negated),
  microseconds: ({ attribute, test }) => costOfTest(attribute, test),
  evaluate({ attribute, test, negated }, candidates, { table, context: { budget } }) {
    const passes = matcherOf(test)
    const effort = effortOf(test)
    const cellTest = {
      whenNull: false,
      matches: (cell: unknown) => {
        if (effort > 0) budget.look((cell as string).length * effort)
        return passes(cell as Scalar) !== negated
      },
      any: test.kind === 'any' ? !negated : undefined,
      numbers: numberRangeOf(test, negated),
      pointers: (texts: Parameters<typeof pointerTestOf>[2]) => pointerTestOf(test, negated, texts, budget),
    }
    return filterColumn(table, attribute, candidates, cellTest, budget)
  },
})
