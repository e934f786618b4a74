import { fold } from '../base/text/fold.ts'
import type { StorageAttribute } from './attribute.ts'
import type { Value } from './value.ts'

/**
 * Attributes that are unique together have an index whose values are strings, each composed of the values of all these attributes. The code
 * that maintains indexes treats it as one more unique attribute; the catalog and rows do not contain it.
 */

/**
 * Name of the index of attributes that are unique together, in messages and among the numbers of the store. No attribute can have this
 * name.
 */
export const nameTogether = (names: readonly string[]): string => names.join(' + ')

/** True if an attribute is unique, alone or together with others. */
export const isUnique = (attribute: StorageAttribute): boolean =>
  attribute.unique || attribute.dataClass.uniqueTogether.some(({ together }) => together!.includes(attribute))

/**
 * String that is equal for two entities if and only if the values of all members are equal; null if one of the values is null, since nulls
 * are never equal.
 */
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
 * Value of the index of attributes that are unique together after a change.
 * @param changes the values that the change sets
 * @param before the values that the row has
 * @returns undefined if the change sets none of the attributes
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
