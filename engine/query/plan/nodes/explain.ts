import type { Predicate } from '../../bind/predicate.ts'
import type { LogicalPlan } from './logical-plan.ts'
import { negation, writeJsonTest, writeScoreTest, writeTest } from './write-tests.ts'

/**
 * Writes a plan as text for tests, logs and bug reports: one node per line, its inputs indented below.
 */
export function explainPlan(plan: LogicalPlan): string {
  return draw(planNode(plan))
}

export const explainPredicate = (predicate: Predicate): string => draw(predicateNode(predicate))

/** A line with the lines below it. */
export interface TextNode {
  readonly label: string
  readonly inputs: readonly TextNode[]
}

export const node = (label: string, ...inputs: TextNode[]): TextNode => ({ label, inputs })

export const draw = ({ label, inputs }: TextNode, indent = ''): string =>
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
