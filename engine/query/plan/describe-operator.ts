import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { explainOperator } from './explain.ts'
import type { Operator } from './physical-plan.ts'

/**
 * An operator as clients see it in `__queryPlan`: a condition, a join with what is asked of the other side, or several
 * of them under the word that connects them.
 */
export type PlanDescription =
  | { readonly item: string; readonly subquery?: readonly PlanDescription[] }
  | { readonly [word in 'And' | 'Or' | 'Except' | 'Not']?: readonly PlanDescription[] }

/** @param view of the client: what an alias or a handler leads to may be hidden from it. Source: protocol notes, 2.14. */
export function describePlan(operator: Operator, dataClass: DataClass, view: View): PlanDescription {
  const { text, word, inputs } = describeOperator(operator, dataClass, view)
  const below = inputs.map(input => describePlan(input.operator, input.dataClass, view))
  if (word !== undefined) return { [word]: below }
  return below.length > 0 ? { item: text, subquery: below } : { item: text }
}

export interface OperatorDescription {
  readonly text: string
  /** What connects the inputs of a set operation. */
  readonly word?: 'And' | 'Or' | 'Except' | 'Not'
  readonly inputs: readonly { readonly operator: Operator; readonly dataClass: DataClass }[]
}

/** One operator, without what is below it. */
export function describeOperator(operator: Operator, dataClass: DataClass, view: View): OperatorDescription {
  const own = (
    word: NonNullable<OperatorDescription['word']>,
    operators: readonly Operator[],
  ): OperatorDescription => ({
    text: word.toUpperCase(),
    word,
    inputs: operators.map(input => ({ operator: input, dataClass })),
  })
  switch (operator.kind) {
    case 'All':
      return { text: 'all entities', inputs: [] }
    case 'None':
      return { text: 'no entity', inputs: [] }
    case 'Intersect':
      return own('And', operator.inputs)
    case 'Union':
      return own('Or', operator.inputs)
    case 'Difference':
      return own('Except', [operator.left, operator.right])
    case 'Complement':
      return own('Not', [operator.input])
    case 'SemiJoin':
    case 'ReverseSemiJoin': {
      const { relation, input } = operator
      const join = joinText(relation.kind === 'relatedEntity' ? relation : relation.inverse, relation.target)
      return { text: view.shows(relation) ? join : HIDDEN, inputs: [{ operator: input, dataClass: relation.target }] }
    }
    default: {
      const { attribute } = operator
      const shown = (attribute.kind === 'storage' && attribute.source?.object) || attribute
      return { text: view.shows(shown) ? conditionText(operator, dataClass) : HIDDEN, inputs: [] }
    }
  }
}

const HIDDEN = 'not shown'

const joinText = ({ dataClass, foreignKey, target }: RelatedEntityAttribute, other: DataClass): string =>
  `Join on Table : ${other.name} : ${dataClass.name}.${foreignKey.name} = ${target.name}.${target.key.name}`

type Leaf = Extract<Operator, { kind: 'IndexScan' | 'ColumnFilter' | 'NullFilter' | 'VectorFilter' | 'JsonFilter' }>

/** `Employee.salary > 10`, or `[index : Company.name ] in ["acme"]`. Texts are shown as they are compared: folded. */
function conditionText(operator: Leaf, dataClass: DataClass): string {
  const { name } = operator.attribute
  const condition = explainOperator(operator).slice(`${operator.kind} ${name}`.length)
  const isIndexed = operator.kind === 'IndexScan' || (operator.kind === 'VectorFilter' && operator.access === 'index')
  if (!isIndexed) return `${dataClass.name}.${name}${condition}`
  return `[index : ${dataClass.name}.${name} ]${condition.replace(ACCESS, '')}`
}

const ACCESS = / \((\d+ rows|index)\)$/
