import type { DataClass } from '../../catalog/dataclass.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { describeOperator } from '../plan/describe-operator.ts'
import type { Operator } from '../plan/physical-plan.ts'
import { evaluate, type QueryContext } from './evaluate.ts'

/** A step of `__queryPath`. A step of a join has only `steps`: what was asked of the other side. */
export interface TraceStep {
  readonly description?: string
  /** Milliseconds. */
  readonly time?: number
  /** Spelled like this by the protocol. */
  readonly recordsfounds?: number
  readonly steps?: readonly TraceStep[]
}

/**
 * Evaluates an operator again, to tell of each step what it took and found. {@link evaluate} is what serves: it has no
 * room for clocks. The other side of a join is evaluated once more for its own step, over all its rows.
 * @throws what {@link evaluate} throws
 * Source: protocol notes, 2.14.
 */
export function trace(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): TraceStep {
  return run(operator, dataClass, candidates, context).step
}

interface Traced {
  readonly rows: RowSet
  readonly step: TraceStep
}

function run(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): Traced {
  const { text, inputs } = describeOperator(operator, dataClass)
  const steps: TraceStep[] = []
  const startedAt = performance.now()
  const below = (input: Operator, from: RowSet): RowSet => {
    const { rows, step } = run(input, dataClass, from, context)
    steps.push(step)
    return rows
  }
  const rows = combine(operator, candidates, below) ?? evaluate(operator, dataClass, candidates, context)
  const step = { description: text, time: Math.round(performance.now() - startedAt), recordsfounds: rows.size }
  if (steps.length > 0) return { rows, step: { ...step, steps } }
  // What is left with inputs is a join.
  const joined = inputs.map(input => {
    const { live } = context.snapshot.table(input.dataClass)
    return { steps: [run(input.operator, input.dataClass, live, context).step] }
  })
  return { rows, step: joined.length > 0 ? { ...step, steps: joined } : step }
}

/** A set operation over its inputs, as {@link evaluate} does it; undefined for an operator of another kind. */
function combine(
  operator: Operator,
  candidates: RowSet,
  below: (input: Operator, from: RowSet) => RowSet,
): RowSet | undefined {
  switch (operator.kind) {
    case 'Intersect':
      return operator.inputs.reduce((left, input) => below(input, left), candidates)
    case 'Union':
      return operator.inputs.reduce((found, input) => found.or(below(input, candidates.minus(found))), RowSet.empty)
    case 'Difference': {
      const left = below(operator.left, candidates)
      return left.minus(below(operator.right, left))
    }
    case 'Complement':
      return candidates.minus(below(operator.input, candidates))
    default:
      return undefined
  }
}
