import type { Operator, OperatorKind } from './operator.ts'
import { costOfSets, sameRows } from './set-operation.ts'

/** Finds rows that pass all inputs. Each input only tests the candidates that passed the previous ones. */
export interface Intersect {
  readonly kind: 'Intersect'
  readonly inputs: readonly Operator[]
}

export const intersect: OperatorKind<Intersect> = {
  inputs: ({ inputs }, dataClass) => sameRows(inputs, dataClass),
  withInputs: ({ kind, inputs }, dataClass, change) => ({ kind, inputs: sameRows(inputs, dataClass).map(change) }),
  describe: () => ({ text: 'AND', word: 'And' }),
  weigh: (_, inputs) =>
    inputs.reduce((total, input) => ({
      share: total.share * input.share,
      microseconds: total.microseconds + total.share * input.microseconds,
      isIndexed: total.isIndexed || input.isIndexed,
    })),
  estimate: ({ inputs }, candidates, { dataClass, table, snapshot, estimate }) =>
    inputs.reduce(
      (cost, input) => {
        const { rows, microseconds } = estimate(input, dataClass, cost.rows, snapshot)
        return { rows, microseconds: cost.microseconds + microseconds + costOfSets(table) }
      },
      { rows: candidates, microseconds: 0 },
    ),
  evaluate: ({ inputs }, candidates, { dataClass, context, evaluate }) =>
    inputs.reduce((survivors, input) => evaluate(input, dataClass, survivors, context), candidates),
}
