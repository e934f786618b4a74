import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { describeValue } from '../../write/value/convert.ts'
import { type ExpectedVersion, isExpected } from '../../write/contract/expected-version.ts'
import type { DeleteResult } from '../../write/contract/requests.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { isCollision, type Run, type StatementLimits, type Writable } from '../database/database.ts'
import { CHECK_AT_ONCE, NEXT, ROLLBACK_TO, SAVEPOINT } from './savepoints.ts'
import { LEFT_OUT, problemsOf } from './refusals.ts'
import { isLocked as isLockedError, type LockGuard } from '../locks/shared-locks.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import { deleteStatement, deletionStatement, stillStatement } from '../sql/write-statements.ts'

/** Maximum number of times that a deletion begins again because other transactions interfered. */
const MAX_COLLISIONS = 5
/** Codes of a row that others refer to: foreign key violation, and restrict violation from PostgreSQL 18 on. */
const REFERENCED = /^(23503|23001)$/
/** Maximum number of stamps in a statement. */
const MAX_STAMPS = 1_000

interface Deletion {
  readonly table: RemoteTable
  readonly rows: readonly RowView[]
  readonly view: View
  readonly ifMatch?: ExpectedVersion | undefined
  readonly atomic: boolean
  /** Expected stamps by the texts of the keys. */
  readonly stamps?: ReadonlyMap<string, number> | undefined
  /** True for a row that another session has locked. */
  isLocked(row: RowView): boolean
  /** Additional condition for every deletion. */
  readonly guard?: LockGuard | undefined
}

/**
 * Deletes rows in a database, which follows its own foreign keys: all or none of the rows, or each one that the database can delete.
 * @throws {ProtocolError} nothing was deleted
 */
export async function deleteRows(place: Writable, deletion: Deletion, limits: StatementLimits): Promise<DeleteResult> {
  const { rows, atomic } = deletion
  const refusals = rows.map(row => refusalOf(row, deletion))
  const first = refusals.find(error => error !== undefined)
  const resultOf = (count: number, error: ProtocolError | undefined): DeleteResult => ({
    ...{ kind: 'delete', deleted: count, selected: rows.length },
    ...(error && { error: error.toData() }),
  })
  if (atomic && first) return resultOf(0, first)
  const free = rows.filter((_, i) => !refusals[i])
  const isSingle = free.length === 1
  const work = async (run: Run): Promise<DeleteResult> => {
    let deletedCount = 0
    let error = first
    if (!isSingle && !atomic) await run(CHECK_AT_ONCE)
    if (!isSingle) await run(SAVEPOINT)
    if (!isSingle && (await removedTogether(free, deletion, run))) return resultOf(free.length, first)
    for (const row of free) {
      const problem = await remove(row, deletion, run)
      if (problem && atomic) return resultOf(0, problem)
      if (!isSingle) await run(problem ? ROLLBACK_TO : NEXT)
      if (!problem) deletedCount++
      error ??= problem
    }
    return resultOf(deletedCount, error)
  }
  const isKept = ({ deleted }: DeleteResult): boolean => deleted > 0
  for (let collisions = 0; ; ) {
    try {
      return await place.write(limits, work, { isSingle, isKept })
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      if (isCollision(error) && ++collisions <= MAX_COLLISIONS) continue
      const [problem] = problemsOf(error, deletion.table, new Map(), deletion.view) ?? []
      throw problem ?? place.errorOf(error, limits.signal)
    }
  }
}

/**
 * Deletes several rows with one statement, so that references between them do not matter. If they were deleted one by one, a reference from
 * another of these rows could prevent a deletion, or a deletion could change the stamp of another row.
 * @returns false if they have to be deleted one by one
 */
async function removedTogether(rows: readonly RowView[], { table, guard }: Deletion, run: Run): Promise<boolean> {
  const keys = new Map<number, Value[]>()
  for (const row of rows) {
    const stampKeys = keys.get(row.stamp) ?? []
    keys.set(row.stamp, stampKeys)
    stampKeys.push(row.value(table.dataClass.key) as Value)
  }
  if (guard || keys.size > MAX_STAMPS) return false
  const deletedRows = await run(deletionStatement(table, keys)).catch(() => [])
  if (deletedRows.length === rows.length) return true
  await run(ROLLBACK_TO)
  return false
}

/** Error of a row that must not be deleted, for a reason that the database does not know. */
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

/** @returns the error if the database refuses it, or if the row has changed since it was read */
async function remove(row: RowView, { table, view, guard }: Deletion, run: Run): Promise<ProtocolError | undefined> {
  const { dataClass } = table
  const key = keyOf(row, dataClass)
  const problem = (error: ProtocolError): ProtocolError =>
    error.followedBy(WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name))
  try {
    const value = row.value(dataClass.key) as Value
    const deletedRows = await run(deleteStatement(table, value, row.stamp, guard?.(value)))
    if (deletedRows.length > 0) return undefined
    const isLeft = (await run(stillStatement(table, value, row.stamp))).length > 0
    return problem(
      isLeft ? RemoteErrors.REFUSED_ENTITY(dataClass.name, LEFT_OUT) : WriteErrors.CHANGED_MEANWHILE(dataClass.name, 1),
    )
  } catch (error) {
    if (isLockedError(error)) return problem(WriteErrors.LOCKED(key, dataClass.name))
    if (REFERENCED.test((error as { code?: string }).code ?? '')) {
      return problem(WriteErrors.STILL_REFERENCED(key, dataClass.name, referrer(error as Error, dataClass, view)))
    }
    const [first] = problemsOf(error, table, new Map(), view) ?? []
    if (!first) throw error
    return problem(first)
  }
}

/** The relation that prevents a deletion, if the client may see it. */
function referrer(error: Error & { table?: string }, dataClass: DataClass, view: View): string {
  const relation = dataClass.referencedBy.find(each => each.dataClass.remote?.table === error.table)
  return relation && view.shows(relation) ? `${relation.dataClass.name}.${relation.name}` : 'a row that is not shown'
}

const keyOf = (row: RowView, dataClass: DataClass): string =>
  describeValue(dataClass.key, row.value(dataClass.key) as Value)
