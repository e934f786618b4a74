import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import { Between, type ComparisonScalar } from '../../catalog/types/operand.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { isLongNumber } from '../../base/exact-json.ts'
import { withDigits } from '../../catalog/types/with-digits.ts'
import { isScalarType, type ScalarType, type StorageType } from '../../catalog/value-type.ts'
import { codeOf, type QueryText } from '../contract/calculated-code.ts'
import type { Comparator } from '../parse/syntax-tree.ts'
import { type ComparisonValue, convertValue, type Operand } from './convert-value.ts'

/** `operator` of the event that a query handler receives. Source: protocol notes, 3.8. */
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
 * Calls the query handler of a calculated attribute for a comparison.
 * @returns query that replaces the comparison; undefined without a handler, or if the handler leaves it to the values
 * @throws {Suspended} or the error of the handler
 */
export function callQueryHandler(
  attribute: CalculatedAttribute,
  comparator: Comparator,
  value: ComparisonValue,
): QueryText | undefined {
  const { query } = codeOf(attribute)
  if (!query) return undefined
  const operand = plainValue(attribute, value)
  return query(OPERATOR[comparator], comparator === 'begin' ? `${operand}@` : operand)
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

/**
 * Converts words of the query text to values of the attribute's type where possible. Values of `$params` have their types already.
 * @throws the errors of {@link convertValue} for a text that is compared with numbers but is not a number
 */
function operandValue(attribute: CalculatedAttribute, operand: Operand): unknown {
  const { type } = attribute
  if (operand.kind === 'parameter') {
    const { name, value } = operand
    return Array.isArray(value)
      ? value.map(each => parameterValue(attribute, name, each))
      : parameterValue(attribute, name, value)
  }
  const { text } = operand
  if (type === 'bool') return text === 'true' || text === '1'
  if (!isNumeric(type)) return text
  const number = convertNumber(attribute, type, operand)
  return number instanceof Between ? text : TYPES[type].toCode(number, attribute)
}

function parameterValue(attribute: CalculatedAttribute, name: string, value: unknown): unknown {
  const { type } = attribute
  if ((typeof value === 'string' || isLongNumber(value)) && isNumeric(type)) {
    const number = convertNumber(attribute, type, { kind: 'parameter', name, value })
    if (number instanceof Between) return String(value)
  }
  return withDigits(type, value)
}

const isNumeric = (type: StorageType): type is ScalarType => isScalarType(type) && TYPES[type].isNumeric

const convertNumber = (attribute: CalculatedAttribute, type: ScalarType, operand: Operand): ComparisonScalar =>
  convertValue(operand, { path: attribute.name, type, parameters: attribute })
