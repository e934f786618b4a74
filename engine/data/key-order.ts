import type { Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'

/**
 * Row ids of entities in a database in the order of their keys; texts in the order of their bytes, whatever the collation of the column. Their
 * row ids are in the order in which a task has met them.
 */
export function inKeyOrder(rows: RowSet, keyOf: (rowId: number) => Value): Uint32Array {
  const rowIds = rows.toIds().slice()
  const keys = new Map(Array.from(rowIds, rowId => [rowId, keyOf(rowId)]))
  return rowIds.sort((a, b) => compareKeys(keys.get(a)!, keys.get(b)!))
}

function compareKeys(a: Value, b: Value): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  return a! < b! ? -1 : a! > b! ? 1 : 0
}
