import { sortKeys } from '../../row-set/sort-keys.ts'
import { type ColumnValue, compareValues, type TextOrder } from './column-reader.ts'

/**
 * Sorts rows by their values, null first, and rows of one value by their ids.
 * @param rowIds ascending
 * @param texts set when the values are texts
 */
export function sortRows(
  rowIds: Uint32Array,
  read: (rowId: number) => ColumnValue,
  texts: TextOrder | undefined,
): Uint32Array {
  const keys = new Float64Array(rowIds.length)
  let isAscending = true
  for (let i = 0; i < rowIds.length; i++) {
    keys[i] = keyOf(read(rowIds[i]!), texts)
    isAscending &&= i === 0 || keys[i]! > keys[i - 1]!
  }
  // Keys are often assigned in ascending order.
  if (isAscending) return rowIds
  const positions = sortKeys(keys)
  const sortedIds = positions.map(position => rowIds[position]!)
  // Different values may share a key: long texts with the same beginning, and large integers.
  for (let start = 0, end: number; start < sortedIds.length; start = end) {
    const key = keys[positions[start]!]!
    const value = read(sortedIds[start]!)
    let isMixed = false
    end = start + 1
    for (; end < sortedIds.length && keys[positions[end]!] === key; end++) isMixed ||= read(sortedIds[end]!) !== value
    if (isMixed) sortedIds.subarray(start, end).sort((a, b) => compareValues(read(a), read(b), texts) || a - b)
  }
  return sortedIds
}

/** Number that sorts as the value does, or as its beginning. */
function keyOf(value: ColumnValue, texts: TextOrder | undefined): number {
  if (value === undefined) return Number.NEGATIVE_INFINITY
  return texts ? texts.head(value as number) : Number(value)
}
