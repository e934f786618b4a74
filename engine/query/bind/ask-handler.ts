import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import { codeOf, type QueryText } from '../calculated-code.ts'
import type { Comparator } from '../parse/syntax-tree.ts'
import type { ComparisonValue } from './bind-comparison.ts'
import { comparisonType, type Operand } from './convert-value.ts'

/** `operator` of the event that a query handler gets. Source: protocol notes, 3.8. */
const OPERATOR: Record<Comparator, string> = {
  equal: '==',
  notEqual: '!=',
  is: '===',
  isNot: '!==',
  less: '<',
  lessOrEqual: '<=',
  greater: '>',
  greaterOrEqual: '>=',
  // `begin "a"` is `= "a@"`.
  begin: '==',
  in: 'IN',
  keyword: '%',
}

/**
 * Asks the query handler of a calculated attribute what a comparison means.
 * @returns undefined when it has none, or leaves it to the values
 * @throws {CodeNeeded} and what the handler throws
 */
export function askHandler(
  attribute: CalculatedAttribute,
  comparator: Comparator,
  value: ComparisonValue,
): QueryText | undefined {
  const { query } = codeOf(attribute)
  if (!query) return undefined
  const plain = plainValue(attribute, value)
  return query(OPERATOR[comparator], comparator === 'begin' ? `${plain}@` : plain)
}

function plainValue(attribute: CalculatedAttribute, value: ComparisonValue): unknown {
  switch (value.kind) {
    case 'null':
      return null
    case 'list':
      return value.items.map(item => operandValue(attribute, item))
    default:
      return operandValue(attribute, value)
  }
}

/** Words of the query text as values of the attribute's type, as far as they are some. */
function operandValue({ type }: CalculatedAttribute, operand: Operand): unknown {
  if (operand.kind === 'parameter') return operand.value
  const { text } = operand
  if (type === 'bool') return text === 'true' || text === '1'
  if (!isScalarType(type) || type === 'date') return text
  const isNumber = comparisonType(type) === 'number' && text.trim() !== '' && Number.isFinite(Number(text))
  return isNumber ? Number(text) : text
}
