import type { RE2JS } from 're2js'
import { compileRe2 } from '../base/re2.ts'
import type { StorageAttribute } from './attribute.ts'
import { isAbove, isBelow, type NumericOperand } from './types/operand.ts'
import { TYPES } from './types/registry.ts'
import type { Value } from './value.ts'
import type { ScalarType } from './value-type.ts'

export type Limit = 'minValue' | 'maxValue' | 'minLength' | 'maxLength' | 'pattern' | 'choices'

/** The members of an attribute that limit its values. */
type Limited = Pick<StorageAttribute, 'type' | 'simpleDate' | 'scale' | 'asText' | Limit>

/** Limits of the model that a value exceeds. */
export function exceededLimits(attribute: Limited, value: Value): Limit[] {
  const { minValue, maxValue, minLength, maxLength, pattern, choices } = attribute
  const brokenLimits: Limit[] = []
  if (typeof value === 'number' || typeof value === 'bigint') {
    const { readOperand } = TYPES[attribute.type as ScalarType]
    const readBound = (limit: number): NumericOperand => readOperand(limit, attribute, false) as NumericOperand
    if (minValue !== undefined && isBelow(value, readBound(minValue))) brokenLimits.push('minValue')
    if (maxValue !== undefined && isAbove(value, readBound(maxValue))) brokenLimits.push('maxValue')
  } else if (typeof value === 'string') {
    if (minLength !== undefined && value.length < minLength) brokenLimits.push('minLength')
    if (maxLength !== undefined && value.length > maxLength) brokenLimits.push('maxLength')
    // A pattern is matched only if the length is valid.
    if (pattern !== undefined && brokenLimits.length === 0 && !matches(pattern, value)) brokenLimits.push('pattern')
    if (choices !== undefined && !choices.includes(value)) brokenLimits.push('choices')
  }
  return brokenLimits
}

/** Maximum length of a matched text: a pattern takes some 0.2 µs per character. */
const MAX_MATCHED = 100_000

const matches = (pattern: string, text: string): boolean =>
  text.length <= MAX_MATCHED && expressionOf(pattern).testExact(text)

/** Compiled patterns of the model, of which there are few. */
const patterns = new Map<string, RE2JS>()

function expressionOf(pattern: string): RE2JS {
  let expression = patterns.get(pattern)
  if (!expression) {
    expression = compileRe2(pattern)
    patterns.set(pattern, expression)
  }
  return expression
}
