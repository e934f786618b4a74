import { isBinary, type StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import { convertValue } from '../write/convert.ts'
import type { Environment } from '../storage/environment.ts'
import { indexPrefix } from '../storage/keys.ts'
import { firstPosting } from '../storage/postings.ts'

/**
 * A stored value of `before` as a value of `after`, or undefined when it cannot be without loss. Of images and blobs `true`.
 */
export function convertStored(
  before: StorageAttribute,
  after: StorageAttribute,
  value: Value | true,
): Value | undefined {
  const isSame = before.type === after.type && before.simpleDate === after.simpleDate
  if (isSame && before.vector?.dimension === after.vector?.dimension) return value
  if (isBinary(before.type) || isBinary(after.type)) {
    return isBinary(before.type) && isBinary(after.type) ? value : undefined
  }
  const json =
    before.type === 'date' ? new Date(value as number).toISOString() : typeof value === 'bigint' ? String(value) : value
  const isScalar = typeof json !== 'object'
  const converted = convertValue(after, after.type === 'string' && isScalar ? String(json) : json, false)
  if (converted instanceof ProtocolError) return undefined
  // Of a date that becomes date-only the time would be lost.
  return before.type === 'date' && after.type === 'date' && converted !== value ? undefined : converted
}

/** Row of the entity with that key, or undefined. */
export function findByKey({ index }: Environment, dataClass: DataClass, key: Value): number | undefined {
  return firstPosting(index, indexPrefix(dataClass.key, key))
}
