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
    inputs.reduce((left, input) => ({
      share: left.share * input.share,
      microseconds: left.microseconds + left.share * input.microseconds,
      isIndexed: left.isIndexed || input.isIndexed,
    })),
  estimate: ({ inputs }, candidates, { dataClass, table, snapshot, estimate }) =>
    inputs.reduce(
      (left, input) => {
        const { rows, microseconds } = estimate(input, dataClass, left.rows, snapshot)
        return { rows, microseconds: left.microseconds + microseconds + costOfSets(table) }
      },
      { rows: candidates, microseconds: 0 },
    ),
  evaluate: ({ inputs }, candidates, { dataClass, context, evaluate }) =>
    inputs.reduce((left, input) => evaluate(input, dataClass, left, context), candidates),
}
