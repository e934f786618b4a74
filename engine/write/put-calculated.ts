import type { RowAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import { convertValue } from './convert.ts'
import type { CalculatedRow } from './requests.ts'
import type { WriteTransaction } from './write-transaction.ts'

/** Gives a row the values of its stored calculated attributes, unless it has changed since they were computed. */
export function putCalculated(
  transaction: WriteTransaction,
  dataClass: DataClass,
  { rowId, seen, values }: CalculatedRow,
): void {
  const row = transaction.row(dataClass, rowId)
  if (row?.stamp !== seen) return
  const old = transaction.entity(row, rowId)
  const changed = new Map<RowAttribute, Value>(old.values)
  for (const [name, json] of Object.entries(values)) {
    const attribute = dataClass.attributesByName.get(name)
    if (attribute?.kind !== 'storage') continue
    const value = convertValue(attribute, json, true)
    if (value instanceof ProtocolError) throw value
    changed.set(attribute, value)
  }
  transaction.update(dataClass, { ...old, values: changed }, old, row.timestamp)
}
