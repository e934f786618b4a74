import type { RE2JS } from 're2js'
import { compileRe2 } from '../base/re2.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { indexesOf } from '../catalog/property-columns.ts'
import { isAbove, isBelow, type NumericOperand } from '../catalog/types/operand.ts'
import { TYPES } from '../catalog/types/registry.ts'
import type { ScalarType } from '../catalog/value-type.ts'
import type { Value } from '../catalog/value.ts'
import type { ProtocolError } from '../base/errors.ts'
import { describe, WriteErrors } from './contract/write-errors.ts'

/** True if the model restricts the values of an attribute, or requires one. */
export const hasLimits = (attribute: StorageAttribute): boolean =>
  attribute.mandatory ||
  attribute.unique ||
  attribute.minValue !== undefined ||
  attribute.maxValue !== undefined ||
  attribute.minLength !== undefined ||
  attribute.maxLength !== undefined ||
  attribute.pattern !== undefined

/** Attributes of a dataclass that are checked or filled in every new entity, whether it has values for them or not. */
export interface SaveRules {
  /** Attributes for which {@link hasLimits} is true. */
  readonly limited: readonly StorageAttribute[]
  /** Attributes with automatic values. */
  readonly autoFilled: readonly StorageAttribute[]
  /** See `indexesOf`. */
  readonly indexes: readonly StorageAttribute[]
}

export function saveRules(dataClass: DataClass): SaveRules {
  const stored = dataClass.attributes.filter(attribute => attribute.kind === 'storage')
  return {
    limited: stored.filter(hasLimits),
    autoFilled: stored.filter(({ autoFill }) => autoFill !== undefined),
    indexes: indexesOf(dataClass),
  }
}

/** Violations of the model's limits by a value of `attribute`: none, or an error for each. */
export function violations(attribute: StorageAttribute, value: Value): ProtocolError[] {
  if (value === null) return attribute.mandatory ? [WriteErrors.MANDATORY(attribute.name)] : []
  const { name, minValue, maxValue, minLength, maxLength, pattern } = attribute
  const problems: ProtocolError[] = []
  if (typeof value === 'number' || typeof value === 'bigint') {
    const { readOperand, toCode } = TYPES[attribute.type as ScalarType]
    const bound = (limit: number): NumericOperand => readOperand(limit, attribute, false) as NumericOperand
    const received = () => String(toCode(value, attribute))
    if (minValue !== undefined && isBelow(value, bound(minValue)))
      problems.push(WriteErrors.BELOW_MINIMUM(name, received(), minValue))
    if (maxValue !== undefined && isAbove(value, bound(maxValue)))
      problems.push(WriteErrors.ABOVE_MAXIMUM(name, received(), maxValue))
  } else if (typeof value === 'string') {
    if (minLength !== undefined && value.length < minLength)
      problems.push(WriteErrors.TOO_SHORT(name, value.length, minLength))
    if (maxLength !== undefined && value.length > maxLength)
      problems.push(WriteErrors.TOO_LONG(name, value.length, maxLength))
    // A pattern is matched only if the length is valid.
    if (pattern !== undefined && problems.length === 0 && !matches(pattern, value)) {
      problems.push(WriteErrors.PATTERN(name, describe(value), pattern))
    }
  }
  return problems
}

/** Maximum length of a matched text: a pattern takes some 0.2 µs per character. */
const MAX_MATCHED = 100_000

const matches = (pattern: string, text: string): boolean =>
  text.length <= MAX_MATCHED && compiled(pattern).testExact(text)

/** Compiled patterns of the model, of which there are few. */
const patterns = new Map<string, RE2JS>()

function compiled(pattern: string): RE2JS {
  let expression = patterns.get(pattern)
  if (!expression) {
    expression = compileRe2(pattern)
    patterns.set(pattern, expression)
  }
  return expression
}
