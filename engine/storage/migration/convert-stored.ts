import { isBinary, type StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { isSameType } from '../../catalog/types/parameters.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import { ProtocolError } from '../../base/errors.ts'
import { convertValue } from '../../write/value/convert.ts'
import type { Environment } from '../environment.ts'
import { indexPrefix } from '../keys.ts'
import { firstPosting } from '../postings.ts'

/**
 * Converts a stored value of `before` to one of `after`; undefined when that is impossible without loss. Images and blobs are
 * `true`.
 */
export function convertStored(
  before: StorageAttribute,
  after: StorageAttribute,
  value: Value | true,
): Value | undefined {
  if (isSameType(before, after)) return value
  if (isBinary(before.type) || isBinary(after.type)) {
    return isBinary(before.type) && isBinary(after.type) ? value : undefined
  }
  if (isNumeric(before) && isNumeric(after)) {
    const number = convertNumber(before, after, value as Value)
    // A double would round integers beyond 2^53, and other numbers that are exact.
    return number !== undefined && convertNumber(after, before, number) === value ? number : undefined
  }
  const json = jsonOf(before, value as Value)
  const isScalar = typeof json !== 'object'
  const convertedValue = convertValue(after, after.type === 'string' && isScalar ? String(json) : json, false)
  if (convertedValue instanceof ProtocolError) return undefined
  // A date that becomes date-only would lose its time.
  return before.type === 'date' && after.type === 'date' && convertedValue !== value ? undefined : convertedValue
}

function jsonOf(attribute: StorageAttribute, value: Value): unknown {
  if (attribute.type === 'date') return new Date(value as number).toISOString()
  const json = TYPES[attribute.type].toCode(value, attribute)
  return typeof json === 'bigint' ? String(json) : json
}

function convertNumber(before: StorageAttribute, after: StorageAttribute, value: Value): Value | undefined {
  const json = jsonOf(before, value)
  // Drops the decimal places of a decimal that is an integer.
  const convertedValue = convertValue(after, typeof json === 'string' ? json.replace(/\.0+$/, '') : json, false)
  return convertedValue instanceof ProtocolError ? undefined : convertedValue
}

const isNumeric = ({ type }: StorageAttribute): boolean => isScalarType(type) && TYPES[type].isNumeric

/** Row of the entity with that key, or undefined. */
export function findByKey({ index }: Environment, dataClass: DataClass, key: Value): number | undefined {
  return firstPosting(index, indexPrefix(dataClass.key, key))
}
