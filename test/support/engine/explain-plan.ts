/** Plans as text: one node per line, its inputs indented below. */
import type { DataClass } from '../../../engine/catalog/dataclass.ts'
import type { Predicate } from '../../../engine/query/bind/predicate.ts'
import type { Operator } from '../../../engine/query/operators/operator.ts'
import { inputsOf, kindOf } from '../../../engine/query/operators/registry.ts'
import type { LogicalPlan } from '../../../engine/query/plan/nodes/logical-plan.ts'
import { negation, writeJsonTest, writeScoreTest, writeTest } from '../../../engine/query/plan/nodes/write-tests.ts'

export function explainPlan(plan: LogicalPlan): string {
  return draw(planNode(plan))
}

export const explainPredicate = (predicate: Predicate): string => draw(predicateNode(predicate))

/** A line with the lines below it. */
interface TextNode {
  readonly label: string
  readonly inputs: readonly TextNode[]
}

const node = (label: string, ...inputs: TextNode[]): TextNode => ({ label, inputs })

const draw = ({ label, inputs }: TextNode, indent = ''): string =>
  [indent + label, ...inputs.map(input => draw(input, `${indent}  `))].join('\n')

function planNode(plan: LogicalPlan): TextNode {
  switch (plan.kind) {
    case 'Source':
      return node(`Source ${plan.dataClass.name}`)
    case 'Filter':
      return node('Filter', predicateNode(plan.predicate), planNode(plan.input))
    case 'Limit':
      return node(`Limit skip ${plan.skip} count ${plan.count}`, planNode(plan.input))
    case 'Sort':
    case 'TopN': {
      const keys = plan.keys.map(({ path, descending }) => `${path} ${descending ? 'desc' : 'asc'}`).join(', ')
      const page = plan.kind === 'TopN' ? `skip ${plan.skip} count ${plan.count} ` : ''
      return node(`${plan.kind} ${page}by ${keys}`, planNode(plan.input))
    }
  }
}

function predicateNode(predicate: Predicate): TextNode {
  switch (predicate.kind) {
    case 'test':
      return node(
        `${predicate.attribute.name} ${negation(predicate.negated)}${writeTest(predicate.test, predicate.attribute)}`,
      )
    case 'identity':
      return node(`${predicate.attribute.name} ${negation(predicate.negated)}is ${JSON.stringify(predicate.texts)}`)
    case 'isNull':
      return node(`${predicate.attribute.name} is ${negation(predicate.negated)}null`)
    case 'similarity':
      return node(`${predicate.attribute.name} ${writeScoreTest(predicate)}`)
    case 'json':
      return node(`${predicate.attribute.name}${writeJsonTest(predicate.test)}`)
    case 'via':
    case 'some':
      return node(`${predicate.kind} ${predicate.relation.name}`, predicateNode(predicate.input))
    case 'and':
    case 'or':
      return node(predicate.kind, ...predicate.inputs.map(predicateNode))
    case 'except':
      return node('except', predicateNode(predicate.left), predicateNode(predicate.right))
    case 'not':
    case 'complement':
      return node(predicate.kind, predicateNode(predicate.input))
    case 'always':
    case 'never':
      return node(predicate.kind)
  }
}

export const explainOperator = (operator: Operator, dataClass: DataClass): string =>
  draw(operatorNode(operator, dataClass))

const operatorNode = (operator: Operator, dataClass: DataClass): TextNode =>
  node(
    `${operator.kind}${kindOf(operator).explain?.(operator) ?? ''}`,
    ...inputsOf(operator, dataClass).map(input => operatorNode(input.operator, input.dataClass)),
  )
