import type { Operator, OperatorKind } from './operator.ts'
import { costOfSets, sameRows } from './set-operation.ts'

/** Finds rows that do not pass `input`. */
export interface Complement {
  readonly kind: 'Complement'
  readonly input: Operator
}

export const complement: OperatorKind<Complement> = {
  inputs: ({ input }, dataClass) => sameRows([input], dataClass),
  describe: () => ({ text: 'NOT', word: 'Not' }),
  weigh: (_, [input]) => ({ share: 1 - input!.share, microseconds: input!.microseconds }),
  estimate({ input }, candidates, { dataClass, table, snapshot, estimate }) {
    const { rows, microseconds } = estimate(input, dataClass, candidates, snapshot)
    return { rows: candidates - rows, microseconds: microseconds + costOfSets(table) }
  },
  evaluate: ({ input }, candidates, { dataClass, context, evaluate }) =>
    candidates.minus(evaluate(input, dataClass, candidates, context)),
}
