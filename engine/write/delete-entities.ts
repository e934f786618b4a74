import type { RelatedEntityAttribute, RowAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import type { Value } from '../catalog/value.ts'
import type { ErrorData, ProtocolError } from '../errors.ts'
import { PermissionErrors } from '../permission/permission-errors.ts'
import { calculatedValues } from './put-calculated.ts'
import type { HookedDeletion } from './requests.ts'
import { describe, WriteErrors } from './write-errors.ts'
import type { LockTable } from './lock-table.ts'
import type { WriteTransaction } from './write-transaction.ts'

export interface Deletion {
  /** Rows of the selection that are gone, by this call or because they were before. */
  deleted: number
  /** Rows of the selection that stay. */
  blocked: number[]
  /** What stopped the first of them. */
  error?: ErrorData
  /** Nothing was done: code has not seen what would go, as it is now. */
  changed?: boolean
}

/** What a deletion works in. */
export interface DeleteContext {
  readonly transaction: WriteTransaction
  readonly locks: LockTable
  /** Handle of the session. */
  readonly owner: string | undefined
  /** `__TIMESTAMP` of what is changed now. */
  readonly timestamp: string
  /** What exists for the one who deletes, and what may be done. */
  readonly view: View
}

export interface Row {
  readonly dataClass: DataClass
  readonly rowId: number
}

/** Rows whose relation leads to a row. */
export type Referencing = (relation: RelatedEntityAttribute, rowId: number) => Iterable<number>

/** A row that stays, and the relation that it loses. */
export interface Unlinked {
  readonly row: Row
  readonly relation: RelatedEntityAttribute
}

/**
 * Deletes the rows of a selection that nothing stops, with what cascades from them; references that are set to null are.
 * A reference from a row that goes too stops nothing, so entities that refer to one another can go together. Nothing is
 * put before it is clear what goes.
 * Source: protocol notes, 5.7 and 5.9.
 */
export function deleteRows(
  context: DeleteContext,
  dataClass: DataClass,
  rowIds: Iterable<number>,
  hooked?: HookedDeletion,
): Deletion {
  const { transaction, timestamp, view } = context
  const rows = [...rowIds].filter(rowId => transaction.row(dataClass, rowId) !== undefined)
  const holdsGuarded = guardOf(transaction, dataClass, view)
  const guarded = rows.filter(holdsGuarded)
  const selection = (guarded.length > 0 ? rows.filter(rowId => !holdsGuarded(rowId)) : rows).map(rowId => ({
    dataClass,
    rowId,
  }))
  const referencing = transaction.referencing.bind(transaction)
  const doomed = withCascades(selection, referencing)
  const blocks = findBlocks(context, doomed)
  const free = selection.filter(row => !blocks.has(identify(row)))
  // What only cascades from blocked rows stays with them.
  const going = blocks.size === 0 ? doomed : withCascades(free, referencing)
  const unlinked = findUnlinked(going, referencing)
  if (hooked && !isSeen(transaction, [...going.values(), ...unlinked.map(({ row }) => row)], hooked)) {
    return { deleted: 0, blocked: [], changed: true }
  }
  for (const each of unlinked) unlink(transaction, each, timestamp, hooked)
  for (const { dataClass, rowId } of going.values()) transaction.remove(dataClass, rowId)

  const blocked = [...guarded, ...selection.filter(row => blocks.has(identify(row))).map(row => row.rowId)]
  const [first] = blocked
  if (first === undefined) return { deleted: free.length, blocked }
  const key = keyOf(transaction, { dataClass, rowId: first })
  const error = blockError(key, dataClass, blocks.get(identify({ dataClass, rowId: first })))
  return {
    deleted: free.length,
    blocked,
    error: error.followedBy(WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name)).toData(),
  }
}

/** Whether a row has a value that may not be deleted. */
function guardOf(transaction: WriteTransaction, dataClass: DataClass, view: View): (rowId: number) => boolean {
  const guarded = dataClass.attributes
    .filter(each => each.kind === 'storage' || each.kind === 'relatedEntity')
    .filter(attribute => !view.may('drop', dataClass, attribute))
    .map(attribute => (attribute.kind === 'relatedEntity' ? attribute.foreignKey : attribute))
  return rowId => {
    const row = guarded.length > 0 ? transaction.row(dataClass, rowId) : undefined
    return row !== undefined && guarded.some(attribute => row.value(attribute) !== null)
  }
}

/** Row ids have 32 bits and table numbers 16: together they are a number that a double holds. */
export const identify = ({ dataClass, rowId }: Row): number => dataClass.tableNumber * 2 ** 32 + rowId

/** A foreign key that must not be null cannot be set to null. */
const onDelete = (relation: RelatedEntityAttribute): RelatedEntityAttribute['onDelete'] =>
  relation.onDelete === 'setNull' && relation.foreignKey.mandatory ? 'restrict' : relation.onDelete

/** The rows and, transitively, those that go with them. */
export function withCascades(rows: readonly Row[], referencing: Referencing): Map<number, Row> {
  const doomed = new Map(rows.map(row => [identify(row), row]))
  // A map is iterated in the order of insertion and goes on to what is added meanwhile.
  for (const { dataClass, rowId } of doomed.values()) {
    for (const relation of dataClass.referencedBy) {
      if (onDelete(relation) !== 'cascade') continue
      for (const referrer of referencing(relation, rowId)) {
        const row = { dataClass: relation.dataClass, rowId: referrer }
        if (!doomed.has(identify(row))) doomed.set(identify(row), row)
      }
    }
  }
  return doomed
}

/** Instead of what refers to a row. */
const LOCKED = ''

/** @param reason undefined: the entity has a value that may not be deleted */
function blockError(key: string, { name }: DataClass, reason: string | undefined): ProtocolError {
  if (reason === undefined) return PermissionErrors.DROP_ATTRIBUTE(key, name)
  return reason === LOCKED ? WriteErrors.LOCKED(key, name) : WriteErrors.STILL_REFERENCED(key, name, reason)
}

/** Which of the rows have to stay, each with what refers to it: `7 of Person.employer`; or {@link LOCKED}. */
function findBlocks(
  { transaction, locks, owner, view }: DeleteContext,
  doomed: ReadonlyMap<number, Row>,
): Map<number, string> {
  const blocks = new Map<number, string>()
  const isLocked = (dataClass: DataClass, rowId: number) => locks.blocker(dataClass, rowId, owner) !== undefined
  for (const [id, { dataClass, rowId }] of doomed) {
    if (isLocked(dataClass, rowId)) blocks.set(id, LOCKED)
    for (const relation of dataClass.referencedBy) {
      if (onDelete(relation) === 'setNull' && !locks.isEmpty) {
        // Setting it to null is a change too.
        const locked = transaction.referencing(relation, rowId).find(referrer => isLocked(relation.dataClass, referrer))
        if (locked !== undefined && !blocks.has(id)) blocks.set(id, reason(transaction, relation, locked, view))
      }
      if (onDelete(relation) !== 'restrict') continue
      const staying = transaction
        .referencing(relation, rowId)
        .find(referrer => !doomed.has(identify({ dataClass: relation.dataClass, rowId: referrer })))
      if (staying !== undefined && !blocks.has(id)) blocks.set(id, reason(transaction, relation, staying, view))
    }
  }
  // What a row that stays refers to has to stay too.
  for (const id of blocks.keys()) {
    const { dataClass, rowId } = doomed.get(id)!
    const row = transaction.row(dataClass, rowId)!
    row.layout.references.forEach((relation, i) => {
      const target = row.reference(i)
      if (target === undefined || onDelete(relation) === 'setNull') return
      const targetId = identify({ dataClass: relation.target, rowId: target })
      if (doomed.has(targetId) && !blocks.has(targetId))
        blocks.set(targetId, reason(transaction, relation, rowId, view))
    })
  }
  return blocks
}

function reason(transaction: WriteTransaction, relation: RelatedEntityAttribute, rowId: number, view: View): string {
  const { dataClass, name } = relation
  if (!view.shows(relation)) return 'an entity that is not shown'
  return `${keyOf(transaction, { dataClass, rowId })} of ${dataClass.name}.${name}`
}

const keyOf = (transaction: WriteTransaction, { dataClass, rowId }: Row): string =>
  describe(transaction.row(dataClass, rowId)!.value(dataClass.key))

/** What refers to rows that go, stays, and is to refer to nothing then. */
export function findUnlinked(going: ReadonlyMap<number, Row>, referencing: Referencing): Unlinked[] {
  const found: Unlinked[] = []
  for (const { dataClass: target, rowId: targetRowId } of going.values()) {
    for (const relation of target.referencedBy) {
      if (onDelete(relation) !== 'setNull') continue
      for (const rowId of referencing(relation, targetRowId)) {
        const row = { dataClass: relation.dataClass, rowId }
        if (!going.has(identify(row))) found.push({ row, relation })
      }
    }
  }
  return found
}

function unlink(
  transaction: WriteTransaction,
  { row: { dataClass, rowId }, relation }: Unlinked,
  timestamp: string,
  hooked: HookedDeletion | undefined,
): void {
  const row = transaction.row(dataClass, rowId)!
  const values = new Map<RowAttribute, Value>([[relation.foreignKey, null]])
  const references = row.layout.references.map((_, index) => row.reference(index))
  // Several relations can share a foreign key.
  row.layout.references.forEach((other, i) => {
    if (other.foreignKey !== relation.foreignKey) return
    values.set(other, null)
    references[i] = undefined
  })
  const made = hooked?.rows.find(each => each.rowId === rowId && each.dataClass === dataClass.name)?.values
  for (const [attribute, value] of calculatedValues(dataClass, made ?? {})) values.set(attribute, value)
  transaction.update(dataClass, { rowId, row }, { stamp: row.stamp + 1, values, references }, timestamp)
}

/** Whether code has seen all of the rows that it wants to see, as they are now. */
function isSeen(transaction: WriteTransaction, rows: readonly Row[], hooked: HookedDeletion): boolean {
  const stamps = new Map(hooked.rows.map(({ dataClass, rowId, seen }) => [`${dataClass} ${rowId}`, seen]))
  return rows.every(({ dataClass, rowId }) => {
    if (!hooked.dataClasses.includes(dataClass.name)) return true
    return stamps.get(`${dataClass.name} ${rowId}`) === transaction.row(dataClass, rowId)!.stamp
  })
}
