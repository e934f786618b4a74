import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { convertKey } from '../bind/convert-value.ts'
import { FIRST_TASK_ROW, type RemoteData } from '../plan/nodes/remote-query.ts'

/**
 * Text that identifies an entity of a remote dataclass in every task: its row id if that lasts, otherwise its key. A list of lasting row
 * ids can be converted to identities without the keys.
 */
export const identityOf = (rowId: number, key: () => Value, layout: RowLayout): string =>
  rowId < FIRST_TASK_ROW ? rowIdentity(rowId) : `=${keyText(layout, key())}`

/** Identity of an entity whose row id lasts. */
export const rowIdentity = (rowId: number): string => `#${rowId}`

/** Row of an identity in this task. */
export function rowOfIdentity(identity: string, dataClass: DataClass, remote: RemoteData): number {
  const text = identity.slice(1)
  return identity.startsWith('#') ? Number(text) : remote.rowOf(dataClass, convertKey(text, dataClass.key) as Value)
}
