import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Predicate } from '../bind/predicate.ts'
import type { Trace, TraceStep } from '../operators/trace.ts'
import type { Output } from '../contract/request.ts'
import { describePlan, type PlanDescription } from '../operators/describe.ts'
import type { Operator, PlannedSnapshot } from '../operators/operator.ts'
import { inputsOf, kindOf } from '../operators/registry.ts'
import { lower } from './lower.ts'

/** A filter and its operator. */
interface DescribedFilter {
  readonly dataClass: DataClass
  readonly predicate: Predicate
  readonly operator: Operator
}

interface Description {
  readonly __queryPlan?: PlanDescription
  readonly __queryPath?: { readonly steps: readonly TraceStep[] }
}

/**
 * Describes a filter to a client. The choice of operators and the rows that they find depend on all rows. So if the filter reads
 * something that the client may not see, the plan is the one that would be chosen for empty tables, and the path only names its
 * steps.
 * Source: protocol notes, 2.14.
 */
export function describeFilter(
  { dataClass, predicate, operator }: DescribedFilter,
  parts: NonNullable<Output['describe']>,
  { view, snapshot, trace }: { view: View; snapshot: Snapshot; trace: Trace | undefined },
): Description {
  const isHidden = readsHidden(operator, dataClass, view, snapshot)
  const shownOperator = isHidden ? lower(predicate, dataClass, withoutRows(snapshot)) : operator
  return {
    ...(parts.plan && { __queryPlan: describePlan(shownOperator, dataClass, view) }),
    ...(trace && { __queryPath: { steps: isHidden ? [stepOf(shownOperator, dataClass, view)] : trace.steps } }),
  }
}

/**
 * True if a filter reads something that the client may not see: attributes and dataclasses behind an alias or a handler, or a
 * dataclass whose restrict events hide entities.
 */
function readsHidden(operator: Operator, dataClass: DataClass, view: View, snapshot: Snapshot): boolean {
  if (!view.shows(dataClass) || snapshot.table(dataClass).isRestricted) return true
  if (kindOf(operator).describe(operator, dataClass, view).isHidden) return true
  return inputsOf(operator, dataClass).some(input => readsHidden(input.operator, input.dataClass, view, snapshot))
}

/** A snapshot with the indexes of the model but without rows. */
const withoutRows = (snapshot: Snapshot): PlannedSnapshot => ({
  table: dataClass => ({
    live: RowSet.empty,
    index: attribute => snapshot.table(dataClass).index(attribute) && { estimate: () => 0 },
  }),
})

/** A step as in `Trace`, without its time and rows. */
function stepOf(operator: Operator, dataClass: DataClass, view: View): TraceStep {
  const { text, word } = kindOf(operator).describe(operator, dataClass, view)
  const below = inputsOf(operator, dataClass).map(input => stepOf(input.operator, input.dataClass, view))
  const steps = word === undefined ? below.map(step => ({ steps: [step] })) : below
  return { description: text, ...(steps.length > 0 && { steps }) }
}
