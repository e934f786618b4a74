import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { View } from '../../catalog/view.ts'
import type { Value } from '../../catalog/value.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { expectedValue, isConflict, refusalOf } from '../database/sql-states.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { describeValue } from '../../write/value/convert.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { attributeOf, brokenReference, duplicateTogether, takenValues } from './conflicts.ts'
import type { ColumnValues } from '../sql/write-statements.ts'
import type { RemoteTable } from '../sql/remote-table.ts'

/** An error of a statement, as the driver describes it. */
interface StatementError extends Error {
  readonly code?: string
  readonly detail?: string
  readonly column?: string
  readonly constraint?: string
  /** Name of the table with the constraint. */
  readonly table?: string
  /** Set for an error about a value of a domain. */
  readonly dataType?: string
  /** Function of the server that raised the error. */
  readonly routine?: string
}

/** Columns and values in a detail such as `Key (film_id, "Actor")=(1, 2) already exists.`, in any language. */
const DETAIL = /\((.*?)\)=\((.*)\)/s
/** A name, with or without quotes. */
const NAME = /"((?:[^"]|"")+)"|([^",\s][^",]*)/g

const namesIn = (list: string): string[] =>
  Array.from(list.matchAll(NAME), ([, quotedName, name]) => quotedName?.replaceAll('""', '"') ?? name!)

/** Reason why a change that the database accepts has no effect. */
export const LEFT_OUT = 'a policy, a rule or a trigger of the table leaves it out, or several rows have its key'

/** True for an error of the conversion of a value to the type of its column: such an error does not name the column. */
export const isOfConversion = (error: unknown): boolean => {
  const { code = '', dataType } = error as StatementError
  return code.startsWith('22') || (code.startsWith('23') && dataType !== undefined)
}

/**
 * Problems of an entity whose change the database has refused; undefined if the error is not about the entity.
 * Source: PostgreSQL, appendix A, classes 22 and 23.
 * @param unfitAttribute attribute whose value cannot be converted, if it is known
 */
export function problemsOf(
  error: unknown,
  table: RemoteTable,
  values: ColumnValues,
  view: View,
  unfitAttribute?: StorageAttribute,
): ProtocolError[] | undefined {
  const { code = '', detail = '', column, constraint, message, routine, table: referrer } = error as StatementError
  const { dataClass } = table
  const [, list = '', parts = ''] = DETAIL.exec(detail) ?? []
  const checkedColumns = table.checks.get(constraint ?? '')
  const attribute =
    unfitAttribute ??
    table.uniqueIndexes?.get(constraint ?? '') ??
    attributeOf(table, column !== undefined ? [column] : (checkedColumns ?? namesIn(list)))
  if (attribute?.together) return [duplicateTogether(attribute.together, values, view)]
  const isComposite = attribute !== undefined && table.columns.get(attribute)!.length > 1
  const value = attribute && (values.get(attribute) ?? (isComposite ? parts.split(', ').join('~') : null))
  /** @param name in the database */
  const refusal = (name: string | undefined): ProtocolError => {
    const visible = name !== undefined && visibleName(name, table, view)
    const reason = refusalOf(code) ?? 'a rule of the table'
    const error = isConflict(code) ? RemoteErrors.CONFLICTING_ENTITY : RemoteErrors.REFUSED_ENTITY
    return error(dataClass.name, visible ? `${reason} (${visible})` : reason)
  }
  // Missing rights have the same error code, but concern the operator.
  if (routine === 'ExecWithCheckOptions')
    return [RemoteErrors.REFUSED_ENTITY(dataClass.name, 'row security, or the condition of a view')]
  // Same rule as in the store: a client that may not see the dataclass only knows the attribute names that it sends.
  const isHidden = attribute && attribute !== dataClass.key && view.shows(dataClass) && !view.shows(attribute)
  if (isHidden && /^2[23]/.test(code)) return [WriteErrors.HIDDEN(dataClass.name)]
  /** A value that a check refuses; undefined if no single value does. */
  const refusedValue = (): ProtocolError | undefined => {
    if (!attribute || value === undefined || (!values.has(attribute) && checkedColumns)) return undefined
    const name = constraint && visibleName(constraint, table, view)
    const reason = name ? `the check ${name}` : 'a check'
    return RemoteErrors.REFUSED_VALUE(attribute.name, describeValue(attribute, value), dataClass.name, reason)
  }
  const visibleConstraint = constraint && visibleName(constraint, table, view)
  const conflict = { table, values, view, attribute, referrer, constraint, visibleName: visibleConstraint }
  switch (code) {
    case '23505': {
      const taken = takenValues(conflict)
      if (taken) return [taken]
      const isSent = isComposite || (attribute && values.has(attribute))
      return attribute
        ? duplicate(attribute, isSent ? describeValue(attribute, value as Value) : shown(attribute, parts))
        : [refusal(constraint)]
    }
    case '23503': {
      const relation = dataClass.attributes.find(each => each.kind === 'relatedEntity' && each.foreignKey === attribute)
      return attribute && relation?.kind === 'relatedEntity' && view.shows(relation) && value !== null
        ? [
            WriteErrors.FOREIGN_KEY_NOT_FOUND(
              attribute.name,
              describeValue(attribute, value as Value),
              relation.target.name,
            ),
          ]
        : [brokenReference(conflict, namesIn(list)) ?? refusal(constraint)]
    }
    case '23502':
      return [attribute ? WriteErrors.MANDATORY(attribute.name) : refusal(column)]
    case '23514':
      return [refusedValue() ?? refusal(constraint)]
    // Messages of triggers and functions are written for the user.
    case 'P0001':
      return [RemoteErrors.REFUSED_ENTITY(dataClass.name, message)]
    default:
      if (refusalOf(code) === undefined) return undefined
      if (!unfitAttribute || value === undefined || !code.startsWith('22')) return [refusal(constraint)]
      return [
        WriteErrors.WRONG_TYPE(
          unfitAttribute.name,
          describeValue(unfitAttribute, value),
          expectedValue(code, table.columns.get(unfitAttribute)![0]!.type),
        ),
      ]
  }
}

/** Returns a name in the database; undefined if it contains the name of a table or a column that the client does not see. */
function visibleName(
  name: string,
  { columns, writtenColumns, dataClass }: RemoteTable,
  view: View,
): string | undefined {
  const { table } = dataClass.remote!
  if (name.includes(table) && !dataClass.name.toLowerCase().includes(table.toLowerCase())) return undefined
  const visibleColumns = new Set(
    [...columns].flatMap(([attribute, remoteColumns]) =>
      view.shows(attribute) ? remoteColumns.map(each => each.name) : [],
    ),
  )
  return [...writtenColumns.keys()].some(column => !visibleColumns.has(column) && name.includes(column))
    ? undefined
    : name
}

/** A value that the request does not contain, such as the next number of a sequence. @param text as the database writes it */
const shown = ({ type }: StorageAttribute, text: string): string =>
  type !== 'string' && /^-?\d+$/.test(text) ? text : JSON.stringify(text)

function duplicate(attribute: StorageAttribute, description: string): ProtocolError[] {
  const { dataClass } = attribute
  const problem = WriteErrors.DUPLICATE(attribute.name, description)
  return attribute === dataClass.key ? [problem, WriteErrors.KEY_EXISTS(description, dataClass.name)] : [problem]
}
