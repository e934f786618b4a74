import { RE2JS } from 're2js'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { ProtocolError } from '../errors.ts'
import { describe, WriteErrors } from './write-errors.ts'

/** Whether there is a value, or none, that the model has something against. */
export const hasLimits = (attribute: StorageAttribute): boolean =>
  attribute.mandatory ||
  attribute.unique ||
  attribute.minValue !== undefined ||
  attribute.maxValue !== undefined ||
  attribute.minLength !== undefined ||
  attribute.maxLength !== undefined ||
  attribute.pattern !== undefined

/** What the model's limits have against a value of `attribute`: nothing, or an error for each. */
export function violations(attribute: StorageAttribute, value: Value): ProtocolError[] {
  if (value === null) return attribute.mandatory ? [WriteErrors.MANDATORY(attribute.name)] : []
  const { name, minValue, maxValue, minLength, maxLength, pattern } = attribute
  const problems: ProtocolError[] = []
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (minValue !== undefined && value < minValue)
      problems.push(WriteErrors.BELOW_MINIMUM(name, String(value), minValue))
    if (maxValue !== undefined && value > maxValue)
      problems.push(WriteErrors.ABOVE_MAXIMUM(name, String(value), maxValue))
  } else if (typeof value === 'string') {
    if (minLength !== undefined && value.length < minLength)
      problems.push(WriteErrors.TOO_SHORT(name, value.length, minLength))
    if (maxLength !== undefined && value.length > maxLength)
      problems.push(WriteErrors.TOO_LONG(name, value.length, maxLength))
    if (pattern !== undefined && !compiled(pattern).testExact(value)) {
      problems.push(WriteErrors.PATTERN(name, describe(value), pattern))
    }
  }
  return problems
}

/** Of the model, so there are few. */
const patterns = new Map<string, RE2JS>()

function compiled(pattern: string): RE2JS {
  let expression = patterns.get(pattern)
  if (!expression) {
    expression = RE2JS.compile(pattern)
    patterns.set(pattern, expression)
  }
  return expression
}
