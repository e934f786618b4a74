import type { RelatedEntityAttribute, RowAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Value } from '../../catalog/value.ts'
import type { ErrorData, ProtocolError } from '../../base/errors.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import { describeValue } from '../value/convert.ts'
import { calculatedValues } from './put-calculated.ts'
import { type ExpectedVersion, isExpected } from '../contract/expected-version.ts'
import type { HookedDeletion, HookedRow } from '../contract/requests.ts'
import { identify, type TableRow } from './row-identity.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import type { LockTable } from './lock-table.ts'
import { enqueueJobs } from '../../jobs/enqueue-jobs.ts'
import type { StoreTransaction } from '../../data/store-transaction.ts'

export interface Deletion {
  /** Number of rows of the selection that were examined. */
  examinedCount: number
  /** Number of rows that were deleted. */
  deleted: number
  /** Row ids that could not be deleted. */
  blocked: number[]
  /** Rows of the dataclass that deleted rows referred to: references from those rows no longer block their deletion. */
  unblocked: number[]
  /** Error of the first blocked row. */
  error?: ErrorData
  /** Nothing was done: code has not seen the current version of all affected rows. */
  changed?: boolean
}

/** Conditions and budget of a deletion. */
interface DeleteOptions {
  /** Expected stamps by row id; rows with another stamp are not deleted. Undefined: stamps are not compared. */
  readonly stamps?: ReadonlyMap<number, number> | undefined
  readonly ifMatch?: ExpectedVersion | undefined
  readonly hooked?: SeenRows | undefined
  /** Number of changed rows after which no further row of the selection is taken. */
  readonly budget: number
}

/** Environment of a deletion. */
interface DeleteContext {
  readonly transaction: StoreTransaction
  readonly locks: LockTable
  /** Handle of the session. */
  readonly owner: string | undefined
  /** `__TIMESTAMP` for rows that are changed. */
  readonly timestamp: string
  /** View and rights of the caller. */
  readonly view: View
  /** Maximum number of rows that the deletion of one row may change. */
  readonly maxCascade: number
  /** To be called when jobs have been enqueued that can run soon. */
  readonly enqueued: () => void
}

/** Finds the rows that refer to a row by a relation. */
type Referencing = (relation: RelatedEntityAttribute, rowId: number) => readonly number[]

/** A row that is not deleted, and the relation that it loses. */
export interface Unlinked {
  readonly row: TableRow
  readonly relation: RelatedEntityAttribute
}

/**
 * Deletes the rows of a selection that are not blocked, with their cascades; other references to them are set to null. A reference
 * from a row that is also deleted does not block, so entities that refer to one another can be deleted together. Nothing is
 * changed before all deletable rows are known.
 * @param rowIds processed in order, as far as the budget allows
 * Source: protocol notes, 5.7 and 5.9.
 */
export function deleteRows(
  context: DeleteContext,
  dataClass: DataClass,
  rowIds: readonly number[],
  { stamps, ifMatch, hooked, budget }: DeleteOptions,
): Deletion {
  const { transaction, timestamp } = context
  const referencing = cacheReferencing(transaction)
  const selection = select(context, dataClass, rowIds, { stamps, ifMatch, budget, referencing })
  const { candidates, rows, stopErrors, examinedCount } = selection
  const blockers = findBlockers(context, candidates, referencing)
  const free = rows.filter(row => !blockers.has(identify(row)))
  // Rows reached only by cascades from blocked rows stay too.
  const deletable = blockers.size === 0 ? candidates : withCascades(free, referencing)
  const unlinkedRows = findUnlinked(deletable, referencing)
  if (hooked && !isSeen(transaction, [...deletable.values(), ...unlinkedRows.map(({ row }) => row)], hooked)) {
    return { examinedCount: 0, deleted: 0, blocked: [], unblocked: [], changed: true }
  }
  const unblockedIds = restrictedBy(deletable.values(), dataClass, transaction)
  for (const each of unlinkedRows) unlink(transaction, each, timestamp, hooked)
  for (const { dataClass, rowId } of deletable.values()) {
    transaction.remove(dataClass, rowId)
    const jobs = hooked?.find(dataClass, rowId)?.jobs
    if (jobs) enqueueJobs(context, jobs, Date.parse(timestamp))
  }

  const staying = rows.filter(row => blockers.has(identify(row))).map(({ rowId }) => rowId)
  const blockedIds = [...stopErrors.keys(), ...staying]
  const [first] = blockedIds
  if (first === undefined) return { examinedCount, deleted: free.length, blocked: blockedIds, unblocked: unblockedIds }
  const key = keyOf(transaction, { dataClass, rowId: first })
  const error =
    stopErrors.get(first) ?? blockError(key, dataClass, blockers.get(identify({ dataClass, rowId: first }))!)
  return {
    examinedCount,
    deleted: free.length,
    blocked: blockedIds,
    unblocked: unblockedIds,
    error: error.followedBy(WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name)).toData(),
  }
}

/** Rows of `target` that cannot be deleted because these rows refer to them. */
function restrictedBy(rows: Iterable<TableRow>, target: DataClass, transaction: StoreTransaction): number[] {
  if (!target.referencedBy.some(relation => onDelete(relation) === 'restrict')) return []
  const restrictedIds: number[] = []
  for (const { dataClass, rowId } of rows) {
    const { references } = transaction.layout(dataClass)
    if (!references.some(relation => relation.target === target)) continue
    const row = transaction.row(dataClass, rowId)!
    for (const [i, relation] of references.entries()) {
      const referredId = relation.target === target && onDelete(relation) === 'restrict' ? row.reference(i) : undefined
      if (referredId !== undefined) restrictedIds.push(referredId)
    }
  }
  return restrictedIds
}

interface Selected {
  /** Rows of the selection; {@link candidates} includes their cascades. */
  readonly rows: readonly TableRow[]
  readonly candidates: Map<number, TableRow>
  /** Rows that are not deleted for reasons other than references, with their errors. */
  readonly stopErrors: ReadonlyMap<number, ProtocolError>
  readonly examinedCount: number
}

/** Selects rows in order, with their cascades: at least one row, then as many as the budget allows. */
function select(
  { transaction, view, maxCascade }: DeleteContext,
  dataClass: DataClass,
  rowIds: readonly number[],
  {
    stamps,
    ifMatch,
    budget,
    referencing,
  }: Pick<DeleteOptions, 'stamps' | 'ifMatch' | 'budget'> & { referencing: Referencing },
): Selected {
  const holdsGuarded = guardOf(transaction, dataClass, view)
  const cascades = dataClass.referencedBy.some(relation => onDelete(relation) !== 'restrict')
  const rows: TableRow[] = []
  const candidates = new Map<number, TableRow>()
  const stopErrors = new Map<number, ProtocolError>()
  let changes = 0
  let examinedCount = 0
  for (; examinedCount < rowIds.length && (examinedCount === 0 || changes < budget); examinedCount++) {
    const rowId = rowIds[examinedCount]!
    const storedRow = transaction.row(dataClass, rowId)
    if (!storedRow) continue
    const row = { dataClass, rowId }
    const stamp = stamps?.get(rowId)
    if (stamp !== undefined && stamp !== storedRow.stamp) {
      stopErrors.set(rowId, WriteErrors.STALE_STAMP(storedRow.key, dataClass.name, String(stamp), storedRow.stamp))
    } else if (!isExpected(ifMatch, storedRow)) {
      stopErrors.set(rowId, WriteErrors.OTHER_VERSION(storedRow.key, dataClass.name, storedRow.stamp))
    } else if (holdsGuarded(rowId)) {
      stopErrors.set(rowId, PermissionErrors.DROP_ATTRIBUTE(keyOf(transaction, row), dataClass.name))
    } else {
      const cascade = cascades ? cascadeOf(row, candidates, referencing, maxCascade) : { rows: [row], changes: 1 }
      if (cascade) {
        for (const each of cascade.rows) candidates.set(identify(each), each)
        changes += cascade.changes
        rows.push(row)
      } else stopErrors.set(rowId, WriteErrors.CASCADE_TOO_LARGE(keyOf(transaction, row), dataClass.name, maxCascade))
    }
    // Examining a row that is not deleted costs as much as deleting it.
    if (stopErrors.has(rowId)) changes++
  }
  return { rows, candidates, stopErrors, examinedCount }
}

/**
 * A row with its cascades, and the number of rows that its deletion changes. Rows in `candidates` are left out.
 * @returns undefined if they are more than `max`
 */
function cascadeOf(
  row: TableRow,
  candidates: ReadonlyMap<number, TableRow>,
  referencing: Referencing,
  max: number,
): { rows: TableRow[]; changes: number } | undefined {
  if (candidates.has(identify(row))) return { rows: [], changes: 0 }
  const cascade = new Map([[identify(row), row]])
  let unlinkedCount = 0
  // Iteration over a map includes entries that are added meanwhile.
  for (const { dataClass, rowId } of cascade.values()) {
    for (const relation of dataClass.referencedBy) {
      const action = onDelete(relation)
      if (action === 'restrict') continue
      for (const referrer of referencing(relation, rowId)) {
        const next = { dataClass: relation.dataClass, rowId: referrer }
        const id = identify(next)
        if (action === 'setNull') unlinkedCount++
        else if (!candidates.has(id)) cascade.set(id, next)
        if (cascade.size + unlinkedCount > max) return undefined
      }
    }
  }
  return { rows: [...cascade.values()], changes: cascade.size + unlinkedCount }
}

/** Caches referring rows, which are looked up several times to find the deletable rows. */
function cacheReferencing(transaction: StoreTransaction): Referencing {
  const rowsByRelation = new Map<RelatedEntityAttribute, Map<number, readonly number[]>>()
  return (relation, rowId) => {
    let ofRelation = rowsByRelation.get(relation)
    if (!ofRelation) {
      ofRelation = new Map()
      rowsByRelation.set(relation, ofRelation)
    }
    let rowIds = ofRelation.get(rowId)
    if (!rowIds) {
      rowIds = transaction.referencing(relation, rowId)
      ofRelation.set(rowId, rowIds)
    }
    return rowIds
  }
}

/** Returns a test for rows with a value that the caller may not delete. */
function guardOf(transaction: StoreTransaction, dataClass: DataClass, view: View): (rowId: number) => boolean {
  const guardedAttributes = dataClass.attributes
    .filter(each => each.kind === 'storage' || each.kind === 'relatedEntity')
    .filter(attribute => !view.may('drop', dataClass, attribute))
    .map(attribute => (attribute.kind === 'relatedEntity' ? attribute.foreignKey : attribute))
  return rowId => {
    const row = guardedAttributes.length > 0 ? transaction.row(dataClass, rowId) : undefined
    return row !== undefined && guardedAttributes.some(attribute => row.value(attribute) !== null)
  }
}

/** Effective deletion control: a mandatory foreign key cannot be set to null. */
const onDelete = (relation: RelatedEntityAttribute): RelatedEntityAttribute['onDelete'] =>
  relation.onDelete === 'setNull' && relation.foreignKey.mandatory ? 'restrict' : relation.onDelete

/** The given rows and, transitively, all rows that are deleted with them by cascade. */
export function withCascades(rows: readonly TableRow[], referencing: Referencing): Map<number, TableRow> {
  const candidates = new Map<number, TableRow>()
  for (const row of rows) {
    for (const each of cascadeOf(row, candidates, referencing, Number.POSITIVE_INFINITY)!.rows) {
      candidates.set(identify(each), each)
    }
  }
  return candidates
}

/** Reason for keeping a locked row, in place of a relation's name. */
const LOCKED = ''

function blockError(key: string, { name }: DataClass, reason: string): ProtocolError {
  return reason === LOCKED ? WriteErrors.LOCKED(key, name) : WriteErrors.STILL_REFERENCED(key, name, reason)
}

/** Rows that cannot be deleted, each with the relation that refers to it, `Person.employer`, or {@link LOCKED}. */
function findBlockers(
  { transaction, locks, owner, view }: DeleteContext,
  candidates: ReadonlyMap<number, TableRow>,
  referencing: Referencing,
): Map<number, string> {
  const blockers = new Map<number, string>()
  const isLocked = (dataClass: DataClass, rowId: number) => locks.blocker(dataClass, rowId, owner) !== undefined
  for (const [id, { dataClass, rowId }] of candidates) {
    if (isLocked(dataClass, rowId)) blockers.set(id, LOCKED)
    for (const relation of dataClass.referencedBy) {
      if (onDelete(relation) === 'setNull' && !locks.isEmpty) {
        // Setting a reference to null changes the referring entity.
        const lockedRow = referencing(relation, rowId).find(referrer => isLocked(relation.dataClass, referrer))
        if (lockedRow !== undefined && !blockers.has(id)) blockers.set(id, reason(relation, view))
      }
      if (onDelete(relation) !== 'restrict') continue
      const staying = referencing(relation, rowId).find(
        referrer => !candidates.has(identify({ dataClass: relation.dataClass, rowId: referrer })),
      )
      if (staying !== undefined && !blockers.has(id)) blockers.set(id, reason(relation, view))
    }
  }
  // Targets of a row that stays have to stay too.
  for (const id of blockers.keys()) {
    const { dataClass, rowId } = candidates.get(id)!
    const row = transaction.row(dataClass, rowId)!
    row.layout.references.forEach((relation, i) => {
      const target = row.reference(i)
      if (target === undefined || onDelete(relation) === 'setNull') return
      const targetId = identify({ dataClass: relation.target, rowId: target })
      if (!candidates.has(targetId) || blockers.has(targetId)) return
      // A cascading relation does not block a deletion; the reason is the relation that blocks the cascade.
      const deeper = onDelete(relation) === 'cascade' ? blockers.get(id) : undefined
      blockers.set(targetId, deeper || reason(relation, view))
    })
  }
  return blockers
}

/** Name of a relation for a message. It does not name the entity, which a restrict event may hide; the writer cannot know. */
const reason = (relation: RelatedEntityAttribute, view: View): string =>
  view.shows(relation) ? `${relation.dataClass.name}.${relation.name}` : 'an entity that is not shown'

const keyOf = (transaction: StoreTransaction, { dataClass, rowId }: TableRow): string =>
  describeValue(dataClass.key, transaction.row(dataClass, rowId)!.value(dataClass.key) as Value)

/** Rows that are not deleted and whose references to deleted rows become null. */
export function findUnlinked(deletable: ReadonlyMap<number, TableRow>, referencing: Referencing): Unlinked[] {
  const unlinkedRows: Unlinked[] = []
  for (const { dataClass: target, rowId: targetRowId } of deletable.values()) {
    for (const relation of target.referencedBy) {
      if (onDelete(relation) !== 'setNull') continue
      for (const rowId of referencing(relation, targetRowId)) {
        const row = { dataClass: relation.dataClass, rowId }
        if (!deletable.has(identify(row))) unlinkedRows.push({ row, relation })
      }
    }
  }
  return unlinkedRows
}

function unlink(
  transaction: StoreTransaction,
  { row: { dataClass, rowId }, relation }: Unlinked,
  timestamp: string,
  seenRows: SeenRows | undefined,
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
  const newValues = seenRows?.find(dataClass, rowId)?.values
  for (const [attribute, value] of calculatedValues(dataClass, newValues ?? {})) values.set(attribute, value)
  transaction.update(dataClass, { rowId, row }, { stamp: row.stamp + 1, values, references }, timestamp)
}

/** True if code has seen the current version of all rows that it has to see, and of everything else that it has read. */
const isSeen = (transaction: StoreTransaction, rows: readonly TableRow[], seenRows: SeenRows): boolean =>
  (!seenRows.reads || transaction.stillHolds(seenRows.reads)) &&
  rows.every(({ dataClass, rowId }) => {
    if (!seenRows.demands(dataClass)) return true
    return seenRows.find(dataClass, rowId)?.seenStamp === transaction.row(dataClass, rowId)!.stamp
  })

/** Rows that drop events of some dataclasses have seen, with their stamps. */
export class SeenRows {
  private readonly dataClasses: ReadonlySet<string>
  private readonly rows = new Map<string, Map<number, HookedRow>>()
  readonly reads: HookedDeletion['reads']

  constructor({ dataClasses, rows, reads }: HookedDeletion) {
    this.dataClasses = new Set(dataClasses)
    this.reads = reads
    for (const row of rows) {
      const ofClass = this.rows.get(row.dataClass) ?? new Map<number, HookedRow>()
      this.rows.set(row.dataClass, ofClass.set(row.rowId, row))
    }
  }

  /** True if rows of a dataclass may be deleted only if code has seen them. */
  demands({ name }: DataClass): boolean {
    return this.dataClasses.has(name)
  }

  find({ name }: DataClass, rowId: number): HookedRow | undefined {
    return this.rows.get(name)?.get(rowId)
  }
}
