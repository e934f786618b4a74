import type { RelatedEntityAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { RowView } from '../row-format/row-view.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Row id of the entity that the nth N→1 relation of a row leads to. Rows hold it, except where one of both ends is in a database: there
 * the foreign key decides.
 */
export function referenceOf(row: RowView, index: number, snapshot: Snapshot): number | undefined {
  const { dataClass, target, foreignKey } = row.layout.references[index]!
  if (!dataClass.remote && !target.remote) return row.reference(index)
  const key = row.value(foreignKey) as Value
  if (key === null) return undefined
  const table = snapshot.table(target)
  return table.rowIdOf ? table.rowIdOf(key) : table.findKey(key)
}

/** Rows that refer to a row of the target of a relation, ascending. */
export function referencingOf(relation: RelatedEntityAttribute, targetRowId: number, snapshot: Snapshot): Uint32Array {
  const { dataClass, target, foreignKey } = relation
  const table = snapshot.table(dataClass)
  if (dataClass.remote || !target.remote) return table.referencing(relation, targetRowId)
  const key = snapshot.table(target).row(targetRowId)?.value(target.key) as Value | undefined
  return key === undefined ? NO_ROWS : table.index(foreignKey)!.equal(key).toIds()
}

const NO_ROWS = new Uint32Array(0)
