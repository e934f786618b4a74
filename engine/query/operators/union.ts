import { RowSet } from '../../row-set/row-set.ts'
import type { Operator, OperatorKind } from './operator.ts'
import { costOfSets, sameRows } from './set-operation.ts'

/** Finds rows that pass at least one input. Rows found by one input are not tested by the next ones. */
export interface Union {
  readonly kind: 'Union'
  readonly inputs: readonly Operator[]
}

export const union: OperatorKind<Union> = {
  inputs: ({ inputs }, dataClass) => sameRows(inputs, dataClass),
  withInputs: ({ kind, inputs }, dataClass, change) => ({ kind, inputs: sameRows(inputs, dataClass).map(change) }),
  describe: () => ({ text: 'OR', word: 'Or' }),
  weigh: (_, inputs) => ({
    share: 1 - inputs.reduce((missedShare, { share }) => missedShare * (1 - share), 1),
    microseconds: inputs.reduce((sum, { microseconds }) => sum + microseconds, 0),
  }),
  estimate: ({ inputs }, candidates, { dataClass, table, snapshot, estimate }) =>
    inputs.reduce(
      (total, input) => {
        const { rows, microseconds } = estimate(input, dataClass, candidates - total.rows, snapshot)
        return { rows: total.rows + rows, microseconds: total.microseconds + microseconds + costOfSets(table) }
      },
      { rows: 0, microseconds: 0 },
    ),
  evaluate: ({ inputs }, candidates, { dataClass, context, evaluate }) =>
    inputs.reduce(
      (matches, input) => matches.or(evaluate(input, dataClass, candidates.minus(matches), context)),
      RowSet.empty,
    ),
}
