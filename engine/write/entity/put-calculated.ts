import type { RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { convertValue } from '../value/convert.ts'
import { duplicateTogether } from './duplicate-together.ts'
import type { CalculatedRow } from '../contract/requests.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import type { StoreTransaction } from '../../data/store-transaction.ts'

/**
 * Puts stored calculated values into a row, unless the row has changed since they were computed.
 * @throws {WriteErrors.DUPLICATE_TOGETHER}
 */
export function putCalculated(
  transaction: StoreTransaction,
  dataClass: DataClass,
  { rowId, seenStamp, values }: CalculatedRow,
): void {
  const row = transaction.row(dataClass, rowId)
  if (row?.stamp !== seenStamp) return
  const changedValues = new Map<RowAttribute, Value>(calculatedValues(dataClass, values))
  const references = row.layout.references.map((_, index) => row.reference(index))
  for (const index of dataClass.uniqueTogether) {
    const duplicate = duplicateTogether(transaction, index, changedValues, { rowId, row })
    if (duplicate !== undefined) throw WriteErrors.DUPLICATE_TOGETHER(index.together![0]!.name, duplicate)
  }
  transaction.update(dataClass, { rowId, row }, { stamp: row.stamp, values: changedValues, references }, row.timestamp)
}

/** Values of stored attributes, converted from the JSON that code returned. @throws {ProtocolError} if one does not fit */
export function calculatedValues(dataClass: DataClass, values: Record<string, unknown>): [StorageAttribute, Value][] {
  return Object.entries(values).flatMap(([name, json]) => {
    const attribute = dataClass.attributesByName.get(name)
    if (attribute?.kind !== 'storage') return []
    const value = convertValue(attribute, json, true)
    if (value instanceof ProtocolError) throw value
    return [[attribute, value]]
  })
}
