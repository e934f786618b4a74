import { isByRow, type RelatedEntityAttribute, type StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { RowView } from '../row-format/row-view.ts'
import type { Snapshot, TableSnapshot } from './snapshot.ts'

/**
 * Row id of the entity to which the nth N→1 relation of a row points. The row contains it, unless one of the two dataclasses is in a
 * database: then the foreign key decides.
 */
export function referenceOf(row: RowView, index: number, snapshot: Snapshot): number | undefined {
  const relation = row.layout.references[index]!
  if (isByRow(relation)) return row.reference(index)
  const { target, foreignKey } = relation
  const key = row.value(foreignKey) as Value
  if (key === null) return undefined
  const table = snapshot.table(target)
  if (table.rowIdOf) return table.rowIdOf(key)
  const rowId = table.findKey(key)
  return rowId !== undefined && isExact(table, rowId, target.key, key) ? rowId : undefined
}

/** Rows that refer to a row of the target of a relation, ascending. */
export function referencingOf(relation: RelatedEntityAttribute, targetRowId: number, snapshot: Snapshot): Uint32Array {
  const { dataClass, target, foreignKey } = relation
  const table = snapshot.table(dataClass)
  if (table.rowsOnly || isByRow(relation)) return table.referencing(relation, targetRowId)
  const key = snapshot.table(target).row(targetRowId)?.value(target.key) as Value | undefined
  if (key === undefined) return NO_ROWS
  return table
    .index(foreignKey)!
    .equal(key)
    .toIds()
    .filter(rowId => isExact(table, rowId, foreignKey, key))
}

/** True if a row that an index has found has exactly this value: an index compares texts by their folds, a database distinguishes them. */
export const isExact = (table: TableSnapshot, rowId: number, attribute: StorageAttribute, value: Value): boolean =>
  typeof value !== 'string' || table.row(rowId)!.value(attribute) === value

const NO_ROWS = new Uint32Array(0)
