import type { Operator, OperatorKind } from './operator.ts'
import { costOfSets, sameRows } from './set-operation.ts'

/** Finds rows that pass `left` but not `right`. */
export interface Difference {
  readonly kind: 'Difference'
  readonly left: Operator
  readonly right: Operator
}

export const difference: OperatorKind<Difference> = {
  inputs: ({ left, right }, dataClass) => sameRows([left, right], dataClass),
  withInputs: (operator, dataClass, change) => ({ ...operator, left: change({ operator: operator.left, dataClass }) }),
  describe: () => ({ text: 'EXCEPT', word: 'Except' }),
  weigh: (_, [left, right]) => ({
    share: left!.share * (1 - right!.share),
    microseconds: left!.microseconds + right!.microseconds,
  }),
  estimate(operator, candidates, { dataClass, table, snapshot, estimate }) {
    const left = estimate(operator.left, dataClass, candidates, snapshot)
    const right = estimate(operator.right, dataClass, left.rows, snapshot)
    return {
      rows: left.rows - right.rows,
      microseconds: left.microseconds + right.microseconds + costOfSets(table),
    }
  },
  evaluate(operator, candidates, { dataClass, context, evaluate }) {
    const left = evaluate(operator.left, dataClass, candidates, context)
    return left.minus(evaluate(operator.right, dataClass, left, context))
  },
}
