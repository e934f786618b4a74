import type { RelatedEntityAttribute, RelationAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { costOfReading } from '../estimate/reading-cost.ts'
import type { Description, Operator, OperatorKind, Weight } from './operator.ts'

// Parts of operators that test values of one attribute.

type Tested = ValueAttribute | RelatedEntityAttribute

const HIDDEN: Description = { text: 'not shown', isHidden: true }

/** `Employee.salary > 10`, or `[index : Company.name ] in ["acme"]`. */
export function describeCondition(
  attribute: Tested,
  condition: string,
  dataClass: DataClass,
  view: View,
  isIndexed = false,
): Description {
  const shownAttribute = (attribute.kind === 'storage' && attribute.source?.object) || attribute
  if (!view.shows(shownAttribute) && !(attribute.kind === 'storage' && attribute.head)) return HIDDEN
  const name = `${dataClass.name}.${attribute.name}`
  return { text: `${isIndexed ? `[index : ${name} ]` : name}${condition}` }
}

/** `Join on Table : Company : Employee.companyID = Company.ID`. */
export function describeJoin(relation: RelationAttribute, view: View): Description {
  if (!view.shows(relation)) return HIDDEN
  const { dataClass, foreignKey, target } = relation.kind === 'relatedEntity' ? relation : relation.inverse
  const columns = `${dataClass.name}.${foreignKey.name} = ${target.name}.${target.key.name}`
  return { text: `Join on Table : ${relation.target.name} : ${columns}` }
}

interface Parts<O extends Operator> {
  /** Text after the name of the attribute. */
  condition(operator: O): string
  /** Expected share of the rows that pass. */
  share(operator: O): number
  /** Time to test one value of a column. */
  microseconds(operator: O): number
  /** True if an index of the attribute is used; false if absent. */
  isIndexed?(operator: O): boolean
  readonly evaluate: OperatorKind<O>['evaluate']
}

/** Kind of an operator that reads an attribute of each candidate and tests it. */
export function conditionKind<O extends Operator & { readonly attribute: Tested }>(parts: Parts<O>): OperatorKind<O> {
  const weigh = (operator: O): Weight => ({
    share: parts.share(operator),
    // Code is slow and comes last, so that it runs for as few rows as possible.
    microseconds: operator.attribute.kind === 'calculated' ? MICROSECONDS.code : parts.microseconds(operator),
  })
  return {
    columns: ({ attribute }) => (attribute.kind === 'calculated' ? [] : [attribute]),
    explain: operator => ` ${operator.attribute.name}${parts.condition(operator)}`,
    describe: (operator, dataClass, view) =>
      describeCondition(operator.attribute, parts.condition(operator), dataClass, view, parts.isIndexed?.(operator)),
    weigh,
    estimate(operator, candidates, { table }) {
      const { attribute } = operator
      const { share, microseconds } = weigh(operator)
      const reading = attribute.kind === 'calculated' ? 0 : costOfReading(table, attribute, candidates)
      return { rows: candidates * share, microseconds: reading + candidates * microseconds }
    },
    evaluate: parts.evaluate,
  }
}
