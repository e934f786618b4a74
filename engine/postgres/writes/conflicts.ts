import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { REFERENCED } from '../database/sql-states.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { describeValue } from '../../write/value/convert.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import type { ColumnValues } from '../sql/write-statements.ts'

/** A change that conflicts with other rows, and what its caller may see. */
interface Conflict {
  readonly table: RemoteTable
  readonly values: ColumnValues
  readonly view: View
  /** Attribute of all columns of the constraint. */
  readonly attribute: StorageAttribute | undefined
  /** Name of the table of a foreign key. */
  readonly referrer: string | undefined
  /** Name of the unique index or of the foreign key. */
  readonly constraint: string | undefined
  /** Name of the constraint if the client may see it. */
  readonly visibleName: string | undefined
}

/** The attribute of these columns. */
export function attributeOf({ columns }: RemoteTable, names: readonly string[]): StorageAttribute | undefined {
  for (const [attribute, remoteColumns] of columns) {
    if (remoteColumns.length === names.length && remoteColumns.every(({ name }) => names.includes(name)))
      return attribute
  }
  return undefined
}

/**
 * Problem of values that a unique index refuses: of a single attribute only if the index compares an expression, or some of the rows.
 * @returns undefined if an attribute alone is unique, or if a column has no attribute
 */
export function takenValues(conflict: Conflict): ProtocolError | undefined {
  const { table, values, view, attribute, constraint, visibleName } = conflict
  const rule = table.uniqueRules.get(constraint ?? '')
  const members = rule && membersOf(table, rule.columns)
  if (!members || (rule.isPlain && attribute)) return undefined
  if (rule.isPlain) return duplicateTogether(members, values, view)
  const description = describeMembers(members, values)
  const index = visibleName ? `the unique index ${visibleName}` : 'a unique index'
  return hiddenAmong(members, view) ?? RemoteErrors.TAKEN(members[0]!.name, description, index)
}

/** Error of values that are unique only together. An update lacks the values that it does not change. */
export function duplicateTogether(
  members: readonly StorageAttribute[],
  values: ColumnValues,
  view: View,
): ProtocolError {
  const descriptions = members.map(member => describeMember(member, values) ?? `the same ${member.name}`)
  return hiddenAmong(members, view) ?? WriteErrors.DUPLICATE_TOGETHER(members[0]!.name, descriptions.join(' and '))
}

/**
 * Problem of a foreign key: it leads to no row, or a row refers to the changed one.
 * @param names columns in the message of the database: those of the foreign key, or of the key to which a row refers
 * @returns undefined if the foreign key or the attribute of a column is not known
 */
export function brokenReference(conflict: Conflict, names: readonly string[]): ProtocolError | undefined {
  const { table, values, view, constraint, referrer } = conflict
  const reference = table.references.get(constraint ?? '')
  // A constraint that was added after the table was described is unknown.
  if (!reference && referrer === table.dataClass.remote!.table) return undefined
  if (!reference || !names.every(name => reference.columns.includes(name)))
    return RemoteErrors.CONFLICTING_ENTITY(table.dataClass.name, REFERENCED)
  const members = membersOf(table, reference.columns)
  if (!members) return undefined
  const { target } = reference
  const place = target && view.shows(target) ? `entity of ${target.name}` : 'row in the database'
  return hiddenAmong(members, view) ?? RemoteErrors.DANGLING(members[0]!.name, place, describeMembers(members, values))
}

/** @returns undefined if one of the columns has no attribute */
function membersOf(table: RemoteTable, columns: readonly string[]): StorageAttribute[] | undefined {
  const members = columns.map(column => attributeOf(table, [column]))
  return members.length > 0 && members.every(member => member !== undefined) ? members : undefined
}

const describeMember = (member: StorageAttribute, values: ColumnValues): string | undefined => {
  const value = values.get(member)
  return value === undefined ? undefined : `${member.name} ${describeValue(member, value as Value)}`
}

const describeMembers = (members: readonly StorageAttribute[], values: ColumnValues): string =>
  members.map(member => describeMember(member, values) ?? member.name).join(' and ')

/** A client that may see a dataclass, but not one of these attributes, learns only that a hidden value is refused. */
const hiddenAmong = (members: readonly StorageAttribute[], view: View): ProtocolError | undefined =>
  members.every(member => view.shows(member)) ? undefined : WriteErrors.HIDDEN(members[0]!.dataClass.name)
