import { isLongNumber } from '../../base/exact-json.ts'
import type { StorageType } from '../value-type.ts'
import { TYPES } from './registry.ts'

/** JSON as a type takes it: a long number as its text where the digits count, else rounded. */
export function withDigits(type: StorageType, json: unknown): unknown {
  if (!isLongNumber(json)) return json
  return TYPES[type].exactJson === 'numbers' ? String(json) : Number(json)
}
