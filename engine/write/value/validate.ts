import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { exceededLimits, type Limit } from '../../catalog/limits.ts'
import { indexesOf } from '../../catalog/property-columns.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { quotedList } from '../../base/text/quoted-list.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'

/** True if the model restricts the values of an attribute, or requires one. */
export const hasLimits = (attribute: StorageAttribute): boolean =>
  attribute.mandatory || attribute.unique || limitsValues(attribute)

/** True if the model restricts the values of an attribute that are not null, whatever others there are. */
export const limitsValues = (attribute: StorageAttribute): boolean =>
  attribute.minValue !== undefined ||
  attribute.maxValue !== undefined ||
  attribute.minLength !== undefined ||
  attribute.maxLength !== undefined ||
  attribute.pattern !== undefined ||
  attribute.choices !== undefined

/** Attributes of a dataclass that are checked or filled in every new entity, whether it has values for them or not. */
export interface SaveRules {
  /** Attributes for which {@link hasLimits} is true. */
  readonly limited: readonly StorageAttribute[]
  /** Attributes with automatic values. */
  readonly autoFilled: readonly StorageAttribute[]
  /** Attributes with a default. */
  readonly defaulted: readonly StorageAttribute[]
  /** See `indexesOf`. */
  readonly indexes: readonly StorageAttribute[]
}

export function saveRules(dataClass: DataClass): SaveRules {
  const storageAttributes = dataClass.attributes.filter(attribute => attribute.kind === 'storage')
  return {
    limited: storageAttributes.filter(hasLimits),
    autoFilled: storageAttributes.filter(({ autoFill }) => autoFill !== undefined),
    defaulted: storageAttributes.filter(each => each.default !== undefined),
    indexes: indexesOf(dataClass),
  }
}

/** Violations of the model's limits by a value of `attribute`: an error for each violation. */
export function violations(attribute: StorageAttribute, value: Value): ProtocolError[] {
  if (value === null) return attribute.mandatory ? [WriteErrors.MANDATORY(attribute.name)] : []
  const brokenLimits = exceededLimits(attribute, value)
  return brokenLimits.length === 0 ? [] : brokenLimits.map(limit => violation(limit, attribute, value))
}

function violation(limit: Limit, attribute: StorageAttribute, value: Value): ProtocolError {
  const { name } = attribute
  const bound = attribute[limit] as number
  const valueText = () => String(TYPES[attribute.type].toCode(value, attribute))
  switch (limit) {
    case 'minValue':
      return WriteErrors.BELOW_MINIMUM(name, valueText(), bound)
    case 'maxValue':
      return WriteErrors.ABOVE_MAXIMUM(name, valueText(), bound)
    case 'minLength':
      return WriteErrors.TOO_SHORT(name, (value as string).length, bound)
    case 'maxLength':
      return WriteErrors.TOO_LONG(name, (value as string).length, bound)
    case 'pattern':
      return WriteErrors.PATTERN(name, describe(value), attribute.pattern!)
    case 'choices':
      return WriteErrors.NOT_A_CHOICE(name, describe(value), quotedList(attribute.choices!))
  }
}
