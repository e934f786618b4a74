import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Operator } from './operator.ts'
import { inputsOf, kindOf } from './registry.ts'

/**
 * An operator as clients see it in `__queryPlan`: a condition, a join with the conditions on the other side, or several of them
 * under the word that connects them.
 */
export type PlanDescription =
  | { readonly item: string; readonly subquery?: readonly PlanDescription[] }
  | { readonly [word in 'And' | 'Or' | 'Except' | 'Not']?: readonly PlanDescription[] }

/** @param view view of the client, from which the target of an alias or a handler may be hidden. Source: protocol notes, 2.14. */
export function describePlan(operator: Operator, dataClass: DataClass, view: View): PlanDescription {
  const { text, word } = kindOf(operator).describe(operator, dataClass, view)
  const below = inputsOf(operator, dataClass).map(input => describePlan(input.operator, input.dataClass, view))
  if (word !== undefined) return { [word]: below }
  return below.length > 0 ? { item: text, subquery: below } : { item: text }
}

/** An operator as one line without values, for the log: `Intersect(IndexScan city, ColumnFilter salary)`. */
export function outlineOperator(operator: Operator, dataClass: DataClass): string {
  const subject = operator as Partial<Record<'attribute' | 'relation', { readonly name: string }>>
  const name = (subject.attribute ?? subject.relation)?.name
  const inputs = inputsOf(operator, dataClass).map(input => outlineOperator(input.operator, input.dataClass))
  const below = inputs.length > 0 ? `(${inputs.join(', ')})` : ''
  return `${operator.kind}${name === undefined ? '' : ` ${name}`}${below}`
}
