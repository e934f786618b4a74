import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import type { Value } from '../catalog/value.ts'
import { ProtocolError } from '../base/errors.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import { PermissionErrors } from '../permission/permission-errors.ts'
import type { RowView } from '../row-format/row-view.ts'
import { describeValue } from '../write/convert.ts'
import { type ExpectedVersion, isExpected } from '../write/contract/expected-version.ts'
import type { DeleteResult } from '../write/contract/requests.ts'
import { WriteErrors } from '../write/contract/write-errors.ts'
import type { Cells, Database, StatementLimits } from './database.ts'
import { problemsOf } from './refusals.ts'
import type { RemoteTable } from './remote-table.ts'
import type { Statement } from './sql/statement.ts'
import { deleteStatement } from './sql/write-statements.ts'

const SAVEPOINT: Statement = { text: 'SAVEPOINT tesser', values: [] }
const ROLLBACK_TO: Statement = { text: 'ROLLBACK TO SAVEPOINT tesser', values: [] }
const statement = (text: string): Statement => ({ text, values: [] })

interface Deletion {
  readonly table: RemoteTable
  readonly rows: readonly RowView[]
  readonly view: View
  readonly ifMatch: ExpectedVersion | undefined
  readonly atomic: boolean
  /** Expected stamps by the texts of the keys. */
  readonly stamps?: ReadonlyMap<string, number> | undefined
  /** True for a row that another session has locked. */
  isLocked(row: RowView): boolean
}

/**
 * Deletes rows in a database, which follows its own foreign keys: all or none of them, or each that it does not refuse.
 * @throws {ProtocolError} nothing was deleted
 */
export async function deleteRows(
  database: Database,
  deletion: Deletion,
  limits: StatementLimits,
): Promise<DeleteResult> {
  const { rows, atomic } = deletion
  const refused = rows.map(row => refusalOf(row, deletion))
  const first = refused.find(error => error !== undefined)
  if (atomic && first) return { kind: 'delete', deleted: 0, error: first.toData() }
  const free = rows.filter((_, i) => !refused[i])
  let isSent = false
  try {
    return await database.session(limits, async run => {
      isSent = true
      const isSingle = free.length === 1
      if (!isSingle) await run(statement('BEGIN'))
      let deleted = 0
      let error = first
      for (const row of free) {
        if (!isSingle) await run(SAVEPOINT)
        const problem = await remove(row, deletion, run)
        if (problem && !isSingle) await run(ROLLBACK_TO)
        if (!problem) deleted++
        error ??= problem
        if (problem && atomic) break
      }
      const isKept = !atomic || !error
      if (!isSingle) await run(statement(isKept ? 'COMMIT' : 'ROLLBACK'))
      return { kind: 'delete', deleted: isKept ? deleted : 0, ...(error && { error: error.toData() }) }
    })
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const known = database.errorOf(error, limits.signal) as ProtocolError
    throw isSent && known.name === 'REMOTE.AWAY' ? RemoteErrors.OUTCOME_UNKNOWN(database.name) : known
  }
}

/** Error of a row that stays, for a reason that the database does not know. */
function refusalOf(row: RowView, { table, view, ifMatch, stamps, isLocked }: Deletion): ProtocolError | undefined {
  const { dataClass } = table
  const key = keyOf(row, dataClass)
  const stamp = stamps?.get(row.key) ?? row.stamp
  const error = isLocked(row)
    ? WriteErrors.LOCKED(key, dataClass.name)
    : !isExpected(ifMatch, row)
      ? WriteErrors.OTHER_VERSION(key, dataClass.name, row.stamp)
      : stamp !== row.stamp
        ? WriteErrors.STALE_STAMP(key, dataClass.name, String(stamp), row.stamp)
        : holdsGuarded(row, dataClass, view)
          ? PermissionErrors.DROP_ATTRIBUTE(key, dataClass.name)
          : undefined
  return error?.followedBy(WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name))
}

/** True if a row has a value that the caller may not delete. */
const holdsGuarded = (row: RowView, dataClass: DataClass, view: View): boolean =>
  dataClass.attributes.some(attribute => {
    if (attribute.kind !== 'storage' && attribute.kind !== 'relatedEntity') return false
    if (view.may('drop', dataClass, attribute)) return false
    return row.value(attribute.kind === 'relatedEntity' ? attribute.foreignKey : attribute) !== null
  })

/** @returns the error if the database refuses it, or if the row has changed since it was read; a row that is gone is deleted */
async function remove(
  row: RowView,
  { table, view }: Deletion,
  run: (statement: Statement) => Promise<Cells[]>,
): Promise<ProtocolError | undefined> {
  const { dataClass } = table
  const key = keyOf(row, dataClass)
  const problem = (error: ProtocolError): ProtocolError =>
    error.followedBy(WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name))
  try {
    const found = await run(deleteStatement(table, row.value(dataClass.key) as Value, row.stamp))
    return found.length > 0 ? undefined : problem(WriteErrors.CHANGED_MEANWHILE(dataClass.name, 1))
  } catch (error) {
    if ((error as { code?: string }).code === '23503') {
      return problem(WriteErrors.STILL_REFERENCED(key, dataClass.name, referrer(error as Error, dataClass, view)))
    }
    const [first] = problemsOf(error, table, new Map()) ?? []
    if (!first) throw error
    return problem(first)
  }
}

/** The relation that keeps a row, if the client may know it. */
function referrer(error: Error & { table?: string }, dataClass: DataClass, view: View): string {
  const relation = dataClass.referencedBy.find(each => each.dataClass.remote?.table === error.table)
  return relation && view.shows(relation) ? `${relation.dataClass.name}.${relation.name}` : 'a row that is not shown'
}

const keyOf = (row: RowView, dataClass: DataClass): string =>
  describeValue(dataClass.key, row.value(dataClass.key) as Value)
