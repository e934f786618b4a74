import type { ProtocolError } from '../../base/errors.ts'
import type { ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { Mismatch } from '../../catalog/types/descriptor.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'

/**
 * Converts JSON of a request to a value of `attribute`, or an error if it is not one.
 * @param trusted images and blobs may be data URLs
 */
export function convertValue(attribute: ValueAttribute, json: unknown, trusted: boolean): Value | ProtocolError {
  if (json === null) return null
  const value = TYPES[attribute.type].convert(json, attribute, trusted)
  if (!(value instanceof Mismatch)) return value
  return WriteErrors.WRONG_TYPE(attribute.name, value.received ?? describe(json), value.expected)
}

/** A value of the engine, shortened for a message. */
export const describeValue = (attribute: ValueAttribute, value: Value): string =>
  describe(value === null ? null : TYPES[attribute.type].toCode(value, attribute))

/** Foreign key value for an entity's key: the two may be integers of different widths. */
export const foreignKeyFor = (foreignKey: ValueAttribute, key: Value, of: ValueAttribute): Value | ProtocolError =>
  foreignKey.type === of.type ? key : convertValue(foreignKey, key, false)

/** Converts the value of `__KEY`, which may be a string. */
export function convertKey({ key }: DataClass, json: unknown): Value | ProtocolError {
  const isBool = key.type === 'bool' && (json === 'true' || json === 'false')
  return isBool ? json === 'true' : convertValue(key, json, false)
}
