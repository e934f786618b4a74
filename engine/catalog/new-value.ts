import type { StorageAttribute } from './attribute.ts'
import { TYPES } from './types/registry.ts'

/** True if a new entity receives a value even if none is sent. */
export const isFilled = (attribute: StorageAttribute): boolean =>
  attribute.autoFill !== undefined || attribute.default !== undefined

/** The default as JSON that a save accepts; undefined if there is none. */
export function defaultJson(attribute: StorageAttribute): unknown {
  const { default: value, type } = attribute
  if (value === undefined) return undefined
  // A number with more digits than a double holds is written as a string.
  if (typeof value === 'bigint') return String(TYPES[type].toCode(value, attribute))
  return JSON.parse(TYPES[type].encode(value, attribute, { dateOnlyFormat: 'iso' }))
}
