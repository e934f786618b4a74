import { isLongNumber } from '../base/exact-json.ts'
import type { StorageModel } from '../catalog/model-schema.ts'

/** Maximum number of digits of a decimal attribute. */
const MAX_DIGITS = 18
const FIXED = /^-?(\d+)(?:\.(\d+))?$/

/**
 * Decimal type for a column whose values all have a fixed number of places in the source, such as amounts of money in a spreadsheet; undefined
 * for other columns.
 */
export function fixedDecimal(values: readonly unknown[]): StorageModel | undefined {
  let digits = 0
  let scale = 0
  for (const value of values) {
    if (value === null || value === undefined) continue
    const [, whole, places = ''] = (isLongNumber(value) && FIXED.exec(String(value))) || []
    if (whole === undefined) return undefined
    digits = Math.max(digits, whole.length)
    scale = Math.max(scale, places.length)
  }
  return scale > 0 && digits + scale <= MAX_DIGITS ? { type: 'decimal', scale } : undefined
}
