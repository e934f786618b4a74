import type { ScoreTest, Similarity } from '../../vector/similarity.ts'
import type { Bound, JsonTest, Predicate, Scalar, ValueTest } from '../bind/predicate.ts'
import type { LogicalPlan } from './logical-plan.ts'
import type { IndexLookup, Operator } from './physical-plan.ts'

/**
 * Plans as text, a node a line, its inputs indented below: what a test, a log line and a bug report show.
 */
export function explainPlan(plan: LogicalPlan): string {
  return draw(planNode(plan))
}

export const explainPredicate = (predicate: Predicate): string => draw(predicateNode(predicate))

export const explainOperator = (operator: Operator): string => draw(operatorNode(operator))

interface Node {
  readonly label: string
  readonly inputs: readonly Node[]
}

const node = (label: string, ...inputs: Node[]): Node => ({ label, inputs })

const draw = ({ label, inputs }: Node, indent = ''): string =>
  [indent + label, ...inputs.map(input => draw(input, `${indent}  `))].join('\n')

function planNode(plan: LogicalPlan): Node {
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

function predicateNode(predicate: Predicate): Node {
  switch (predicate.kind) {
    case 'test':
      return node(`${predicate.attribute.name} ${negation(predicate.negated)}${writeTest(predicate.test)}`)
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
    default:
      return node(predicate.kind)
  }
}

function operatorNode(operator: Operator): Node {
  switch (operator.kind) {
    case 'IndexScan':
      return node(`IndexScan ${operator.attribute.name} ${writeLookup(operator.lookup)} (${operator.rows} rows)`)
    case 'ColumnFilter':
      return node(`ColumnFilter ${operator.attribute.name} ${negation(operator.negated)}${writeTest(operator.test)}`)
    case 'NullFilter':
      return node(`NullFilter ${operator.attribute.name} is ${negation(operator.negated)}null`)
    case 'VectorFilter':
      return node(
        `VectorFilter ${operator.attribute.name} ${writeScoreTest(operator)}${operator.access === 'scan' ? '' : ` (${operator.access})`}`,
      )
    case 'JsonFilter':
      return node(`JsonFilter ${operator.attribute.name}${writeJsonTest(operator.test)}`)
    case 'SemiJoin':
      return node(
        `SemiJoin ${operator.relation.name}${operator.matchesNull ? ' or null' : ''}`,
        operatorNode(operator.input),
      )
    case 'ReverseSemiJoin':
      return node(`ReverseSemiJoin ${operator.relation.name}`, operatorNode(operator.input))
    case 'Intersect':
    case 'Union':
      return node(operator.kind, ...operator.inputs.map(operatorNode))
    case 'Difference':
      return node(operator.kind, operatorNode(operator.left), operatorNode(operator.right))
    case 'Complement':
      return node(operator.kind, operatorNode(operator.input))
    default:
      return node(operator.kind)
  }
}

const negation = (negated: boolean): string => (negated ? 'not ' : '')

function writeTest(test: ValueTest): string {
  switch (test.kind) {
    case 'any':
      return '= @'
    case 'equal':
      return `= ${writeScalar(test.value)}`
    case 'in':
      return `in [${[...test.values].map(writeScalar).join(', ')}]`
    case 'range':
      return writeRange(test.lower, test.upper)
    case 'pattern':
      return `= ${writeScalar(test.parts.join('@'))}`
    case 'keyword':
      return `% ${writeScalar(test.words.map(word => word.join('@')).join(' '))}`
    case 'anyOf':
      return test.tests.map(writeTest).join(' or ')
  }
}

function writeRange(lower: Bound | undefined, upper: Bound | undefined): string {
  const from = lower && `${lower.inclusive ? '>=' : '>'} ${writeScalar(lower.value)}`
  const to = upper && `${upper.inclusive ? '<=' : '<'} ${writeScalar(upper.value)}`
  return [from, to].filter(Boolean).join(' ')
}

const writeScalar = (value: Scalar): string => (typeof value === 'string' ? JSON.stringify(value) : String(value))

function writeLookup(lookup: IndexLookup): string {
  switch (lookup.kind) {
    case 'values':
      return `in [${lookup.values.map(value => (value === null ? 'null' : writeScalar(value as Scalar))).join(', ')}]`
    case 'range':
      return writeRange(lookup.bounds.lower as Bound | undefined, lookup.bounds.upper as Bound | undefined)
    case 'prefix':
      return `begins with ${writeScalar(lookup.prefix)}`
  }
}

function writeJsonTest(test: JsonTest): string {
  switch (test.kind) {
    case 'value':
      return ` ${negation(test.negated)}${writeTest(test.test)}`
    case 'isNull':
      return ` is ${negation(test.negated)}null`
    case 'property':
      return `.${test.name}${writeJsonTest(test.input)}`
    case 'some':
    case 'every':
      return `[${test.kind}]${writeJsonTest(test.input)}`
    case 'and':
    case 'or':
      return ` (${test.inputs.map(input => writeJsonTest(input).trimStart()).join(` ${test.kind} `)})`
    case 'not':
      return ` not(${writeJsonTest(test.input).trimStart()})`
  }
}

/** `cosine > 0.5`; without a threshold `by cosine`. */
const writeScoreTest = ({ similarity, test }: { similarity: Similarity; test: ScoreTest | undefined }): string =>
  test ? `${similarity.metric} ${SIGN[test.comparator]} ${test.threshold}` : `by ${similarity.metric}`

const SIGN = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' }
