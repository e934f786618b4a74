import { fold } from '../base/text/fold.ts'
import type { StorageAttribute } from './attribute.ts'
import type { Value } from './value.ts'

/**
 * Attributes that are unique together have an index whose values are texts, each made of the values of all of them. For the code
 * that keeps indexes it is one more unique attribute; the catalog and rows do not contain it.
 */

/** Name of such an index, in messages and among the numbers of the store. No attribute has such a name. */
export const nameTogether = (names: readonly string[]): string => names.join(' + ')

/** True if an attribute is unique, alone or together with others. */
export const isUnique = (attribute: StorageAttribute): boolean =>
  attribute.unique || attribute.dataClass.uniqueTogether.some(({ together }) => together!.includes(attribute))

/** Text that is equal for two entities if and only if all values are; null if one of them is, since nulls are never equal. */
export function commonValue(
  members: readonly StorageAttribute[],
  read: (member: StorageAttribute) => Value,
): string | null {
  const texts: string[] = []
  for (const member of members) {
    const value = read(member)
    if (value === null) return null
    texts.push(typeof value === 'string' ? fold(value) : String(value))
  }
  // Quotes and commas inside the values are escaped, so that different values never make the same text.
  return JSON.stringify(texts)
}

/**
 * The value of such an index after a change.
 * @param changes the values that the change sets
 * @param before the values that the row has
 * @returns undefined if the change sets none of its attributes
 */
export function commonValueAfter(
  members: readonly StorageAttribute[],
  changes: { get(attribute: StorageAttribute): Value | undefined },
  before: { value(attribute: StorageAttribute): Value | true } | undefined,
): string | null | undefined {
  if (before && members.every(member => changes.get(member) === undefined)) return undefined
  return commonValue(members, member => {
    const value = changes.get(member)
    return value === undefined ? ((before?.value(member) ?? null) as Value) : value
  })
}
