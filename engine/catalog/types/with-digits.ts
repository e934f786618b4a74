import { doubleOf, isLongNumber } from '../../base/exact-json.ts'
import type { StorageType } from '../value-type.ts'
import { TYPES } from './registry.ts'

/** JSON in the form that plugin code gets: a long number as its text if all digits count, else rounded to a double. */
export function withDigits(type: StorageType, json: unknown): unknown {
  if (!isLongNumber(json)) return json
  return TYPES[type].exactJson === 'numbers' ? String(json) : doubleOf(String(json))
}
