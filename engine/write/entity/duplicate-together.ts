import type { StorageAttribute } from '../../catalog/attribute.ts'
import { commonValueAfter } from '../../catalog/unique-together.ts'
import type { Value } from '../../catalog/value.ts'
import type { StoredEntity, StoreTransaction } from '../../data/store-transaction.ts'
import { describeValue } from '../value/convert.ts'

/**
 * Looks for another entity with the values that this one would have in attributes that are unique together.
 * @param index see `DataClass.uniqueTogether`
 * @param changedValues values that the change sets
 * @param old undefined for a new entity
 * @returns names and values, for a message; undefined if there is none
 */
export function duplicateTogether(
  transaction: Pick<StoreTransaction, 'holder'>,
  index: StorageAttribute,
  changedValues: { get(attribute: StorageAttribute): Value | undefined },
  old: StoredEntity | undefined,
): string | undefined {
  const members = index.together!
  const value = commonValueAfter(members, changedValues, old?.row) ?? null
  const holder = value === null ? undefined : transaction.holder(index, value)
  if (holder === undefined || holder === old?.rowId) return undefined
  const descriptions = members.map(member => {
    const memberValue = changedValues.get(member) ?? old?.row.value(member) ?? null
    return `${member.name} ${describeValue(member, memberValue as Value)}`
  })
  return descriptions.join(' and ')
}
