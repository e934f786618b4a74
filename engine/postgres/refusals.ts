import type { StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import type { ProtocolError } from '../base/errors.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import { describeValue } from '../write/convert.ts'
import { WriteErrors } from '../write/contract/write-errors.ts'
import type { ColumnValues } from './sql/write-statements.ts'
import type { RemoteTable } from './remote-table.ts'

/** An error of a statement, as the driver describes it. */
interface StatementError extends Error {
  readonly code?: string
  readonly detail?: string
  readonly column?: string
  readonly constraint?: string
  /** Function of the server that has found the error. */
  readonly routine?: string
}

/** Columns in a detail such as `Key (film_id, actor_id)=(1, 2) already exists.`, in whatever language. */
const DETAIL = /\(([^()]+)\)=\(/

/**
 * Problems of an entity whose change the database has refused; undefined if the error is not about the entity.
 * Source: PostgreSQL, appendix A, classes 22 and 23.
 */
export function problemsOf(error: unknown, table: RemoteTable, values: ColumnValues): ProtocolError[] | undefined {
  const { code = '', detail = '', column, constraint, message, routine } = error as StatementError
  const { dataClass } = table
  const names = DETAIL.exec(detail)?.[1]?.split(', ') ?? []
  const attribute = attributeOf(table, column === undefined ? names : [column])
  const value = attribute && (values.get(attribute) ?? null)
  // The code is that of missing rights, too, which are for the operator.
  if (routine === 'ExecWithCheckOptions') return [refused(dataClass, 'row security, or the condition of a view')]
  switch (code) {
    case '23505':
      return attribute ? duplicate(attribute, value as Value, dataClass) : [refused(dataClass, constraint)]
    case '23503': {
      const relation = dataClass.attributes.find(each => each.kind === 'relatedEntity' && each.foreignKey === attribute)
      return attribute && relation?.kind === 'relatedEntity' && value !== null
        ? [
            WriteErrors.FOREIGN_KEY_NOT_FOUND(
              attribute.name,
              describeValue(attribute, value as Value),
              relation.target.name,
            ),
          ]
        : [refused(dataClass, constraint)]
    }
    case '23502':
      return [attribute ? WriteErrors.MANDATORY(attribute.name) : refused(dataClass, column)]
    // Triggers and functions speak to the user.
    case 'P0001':
      return [RemoteErrors.REFUSED_ENTITY(dataClass.name, message)]
    default:
      return /^2[23]/.test(code) ? [refused(dataClass, constraint ?? code)] : undefined
  }
}

const refused = ({ name }: DataClass, reason: string | undefined): ProtocolError =>
  RemoteErrors.REFUSED_ENTITY(name, reason ?? 'a rule of the table')

function duplicate(attribute: StorageAttribute, value: Value, dataClass: DataClass): ProtocolError[] {
  const received = describeValue(attribute, value)
  const problem = WriteErrors.DUPLICATE(attribute.name, received)
  return attribute === dataClass.key ? [problem, WriteErrors.KEY_EXISTS(received, dataClass.name)] : [problem]
}

/** The attribute of these columns. */
function attributeOf({ columns }: RemoteTable, names: readonly string[]): StorageAttribute | undefined {
  for (const [attribute, own] of columns) {
    if (own.length === names.length && own.every(({ name }) => names.includes(name.trim()))) return attribute
  }
  return undefined
}
