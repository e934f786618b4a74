import { isByRow, type RelatedEntityAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import { BINDING } from '../data-api/binding.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { internals } from '../data-api/entity-internals.ts'
import { DATABASE_RUNS, EventRun, SHARED_RUNS } from '../data-api/event-run.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { rowExists } from '../../data/existing.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import type { NewJob } from '../../jobs/job.ts'
import { findUnlinked, type Unlinked, withCascades } from '../../write/entity/delete-entities.ts'
import { identify, type TableRow } from '../../write/entity/row-identity.ts'
import type { DeleteRequest, DeleteResult, HookedRow, SaveFailure } from '../../write/contract/requests.ts'
import { describe, WriteErrors } from '../../write/contract/write-errors.ts'
import type { DropContext } from './drop-context.ts'
import type { EventCode } from './event-code.ts'
import { ExpectedRows } from './expected-rows.ts'
import { busyFailure, eventFailure, thrownFailure } from './hook-errors.ts'

export type DropRequest = Omit<DeleteRequest, 'kind'>

/**
 * Maximum time for which the deletions of one transaction may hold up the writes of others, unless all deletions have to be in one
 * transaction.
 */
const TRANSACTION_MS = 90

/**
 * Deletes entities with the events of all deleted entities, including those that deletion control adds: validateDrop and dropping before,
 * which can stop the deletion, and afterDrop afterwards.
 *
 * Events run concurrently with other writes, and the writer checks whether what they have read has changed. If it has changed each time, if
 * events write, or if they read other entities that are to be deleted, each entity is deleted in turn in a transaction, during which no
 * other client writes. Source: protocol notes, 9.
 */
export function dropWithEvents(
  request: DropRequest,
  codeSession: CodeSession,
  context: DropContext,
  send: (request: DropRequest) => DeleteResult,
): DeleteResult {
  const { dataClass } = codeSession.binding(request.dataClass)
  if (!context.classes.onDrop(dataClass)) return send(request)
  let deletedCount = 0
  let runs = 0
  if (!codeSession.writes.isInTransaction && !context.inTransaction.has(dataClass)) {
    for (; runs < SHARED_RUNS; runs++) {
      const drop = new Drop(dataClass, codeSession, context)
      const result = dropShared(drop, request, codeSession, send)
      if (!result) break
      deletedCount += result.deleted
      const { changed, ...rest } = result
      if (changed) continue
      drop.tell()
      return { ...rest, deleted: deletedCount }
    }
  }
  const alone = dropAlone(request, dataClass, codeSession, context, send, runs)
  return { ...alone, deleted: deletedCount + alone.deleted }
}

/** @returns undefined if nothing has been deleted because the events need a transaction */
function dropShared(
  drop: Drop,
  request: DropRequest,
  codeSession: CodeSession,
  send: (request: DropRequest) => DeleteResult,
): DeleteResult | undefined {
  const { dataClass } = codeSession.binding(request.dataClass)
  const changes = codeSession.writes.changesOf(dataClass)
  const run = changes.beside(
    dataClass,
    request.atomic,
    // The events of one entity may have read another entity that is deleted with it.
    () => drop.run(request, part => (request.rowIds.length > 1 && changes.hasBegun ? undefined : send(part))),
    result => result !== undefined && result.deleted > 0,
  )
  return run ? run.result : { kind: 'delete', deleted: 0, changed: true }
}

/** Error for entities that others have changed each time. They are not deleted, and their afterDrop does not run. */
const changedMeanwhile = ({ name }: DataClass): ErrorData => WriteErrors.CHANGED_MEANWHILE(name, DATABASE_RUNS).toData()

/** @param runs number of earlier runs */
function dropAlone(
  request: DropRequest,
  dataClass: DataClass,
  codeSession: CodeSession,
  context: DropContext,
  send: (request: DropRequest) => DeleteResult,
  runs: number,
): DeleteResult {
  const { rowIds, stamps, atomic } = request
  const openPositions = Array.from(rowIds, (_, i) => i)
  /** Positions whose deletion is blocked by references of other entities, which may themselves be deleted later or refer to one another. */
  const blockedPositions: number[] = []
  const total: { deleted: number; error: ErrorData | undefined } = { deleted: 0, error: undefined }
  const later: (() => void)[] = []
  /** @param mayWait true for a deletion that can be retried together with others */
  const drop = (positions: readonly number[], mayWait: boolean): void => {
    const part = {
      ...request,
      rowIds: Uint32Array.from(positions, i => rowIds[i]!),
      ...(stamps && { stamps: Uint32Array.from(positions, i => stamps[i]!) }),
    }
    const attempt = new Drop(dataClass, codeSession, context, codeSession.writes.eventRun)
    const { events } = attempt
    let result: DeleteResult | undefined
    try {
      result = attempt.run(part, send)!
    } finally {
      codeSession.writes.endRun(events, result !== undefined && !result.error && !result.changed)
    }
    const { error = result.changed ? changedMeanwhile(dataClass) : undefined } = result
    // A failed deletion whose events have written is rolled back completely.
    if (!error || events.mark === undefined) total.deleted += result.deleted
    if (mayWait && error && isReferenced(error)) blockedPositions.push(...positions)
    else {
      total.error ??= error
      later.push(...(error ? [] : events.later), () => attempt.tell())
    }
  }
  const step = (): boolean => {
    const endsAt = atomic ? Number.POSITIVE_INFINITY : performance.now() + TRANSACTION_MS
    do {
      const position = openPositions.shift()
      if (position === undefined) drop(blockedPositions.splice(0), false)
      else drop([position], rowIds.length > 1)
    } while (openPositions.length + blockedPositions.length > 0 && performance.now() < endsAt)
    return !(atomic && total.error)
  }
  const stepAlone = (): boolean | undefined => {
    const before = { left: [...openPositions], blocked: [...blockedPositions], total: { ...total } }
    const undo = (): void => {
      openPositions.splice(0, openPositions.length, ...before.left)
      blockedPositions.splice(0, blockedPositions.length, ...before.blocked)
      later.length = 0
      Object.assign(total, before.total)
    }
    const isKept = codeSession.writes.changesOf(dataClass).alone(dataClass, atomic, runs, () => {
      undo()
      return step()
    })
    if (isKept === undefined) undo()
    return isKept
  }
  const isInTransaction = codeSession.writes.isInTransaction && !atomic
  while (openPositions.length + blockedPositions.length > 0) {
    const isKept = isInTransaction ? step() : stepAlone()
    if (isKept === undefined) return { kind: 'delete', deleted: total.deleted, error: changedMeanwhile(dataClass) }
    if (!isKept) total.deleted = 0
    for (const each of later.splice(0)) codeSession.writes.afterCommit(each)
  }
  return { kind: 'delete', deleted: total.deleted, ...(total.error && { error: total.error }) }
}

/** A row whose events have run. */
interface Looked {
  readonly row: TableRow
  readonly entity: EntityBase
  failure: ErrorData | undefined
  readonly jobs: NewJob[]
}

/** One attempt to delete everything that is to be deleted. */
class Drop {
  /** Rows to be deleted, with the failure that their events returned, if any. */
  private readonly looked = new Map<number, Looked>()
  private readonly deletable = new Map<number, TableRow>()
  private readonly deletableIds = new Map<DataClass, Set<number>>()
  /** True if events have read entities that are to be deleted before their own. */
  private hasReadEarlier = false
  private readonly dataClasses: readonly DataClass[]
  readonly events: EventRun

  /** @param outer run of the events that delete */
  constructor(
    private readonly root: DataClass,
    private readonly codeSession: CodeSession,
    private readonly context: DropContext,
    outer?: EventRun,
  ) {
    this.dataClasses = context.classes.reach(root)
    this.events = new EventRun(root, outer)
  }

  /**
   * @param send returns undefined if the events need a transaction
   * @returns undefined: nothing has been deleted, as the events need a transaction
   */
  run(request: DropRequest, send: (request: DropRequest) => DeleteResult | undefined): DeleteResult | undefined {
    try {
      return this.attempt(request, send)
    } finally {
      for (const id of this.looked.keys()) this.context.dropping.delete(id)
    }
  }

  private attempt(
    request: DropRequest,
    send: (request: DropRequest) => DeleteResult | undefined,
  ): DeleteResult | undefined {
    const { rowIds, atomic } = request
    const expected = this.codeSession.writes.isInTransaction ? new ExpectedRows(request, this.rootTable) : undefined
    const obstacles = this.look(rowIds)
    if (this.events.needsTransaction) {
      this.context.inTransaction.add(this.root)
      return undefined
    }
    if (this.hasReadEarlier) return undefined
    const free = rowIds.filter(rowId => !obstacles.rowIds.has(rowId))
    if ((obstacles.error && atomic) || free.length === 0) {
      return { kind: 'delete', deleted: 0, ...(obstacles.error && { error: obstacles.error }) }
    }
    const { stamps, ifMatch } = expected?.after(this.rootTable) ?? request
    const freeStamps = stamps?.filter((_, i) => !obstacles.rowIds.has(rowIds[i]!))
    const hookedRows = this.hooked()
    const result = send({
      ...request,
      rowIds: free,
      ...(freeStamps && { stamps: freeStamps }),
      ifMatch,
      hooked: hookedRows,
    })
    return result && obstacles.error ? { ...result, error: obstacles.error } : result
  }

  /** Runs the events that may stop the deletion. @returns rows that have to stay, and the error of the first one */
  private look(rowIds: Iterable<number>): { rowIds: Set<number>; error: ErrorData | undefined } {
    const keptIds = new Set<number>()
    let error: ErrorData | undefined
    for (const rowId of rowIds) {
      // Events of earlier entities may have deleted it.
      if (!rowExists(this.rootTable, rowId)) continue
      const { rows, failure } = this.lookAtAll({ dataClass: this.root, rowId })
      // The stamps of these rows are compared anyway.
      for (const { dataClass, rowId } of rows.values()) this.events.recorded?.forgetRow(dataClass, rowId)
      this.hasReadEarlier ||= this.hasReadDeletable()
      if (failure) {
        keptIds.add(rowId)
        error ??= failure
      } else for (const [id, row] of rows) this.willDelete(id, row)
    }
    return { rowIds: keptIds, error }
  }

  /** Runs the events of a row and of all rows deleted with it; these events may change which rows those are. */
  private lookAtAll(root: TableRow): { rows: ReadonlyMap<number, TableRow>; failure: ErrorData | undefined } {
    let knownRows: ReadonlyMap<number, TableRow> = new Map()
    for (;;) {
      const rows = withCascades([root], this.referencing)
      const newRows = [...rows].filter(([id]) => !knownRows.has(id))
      let failure: ErrorData | undefined
      for (const [, row] of newRows) failure ??= this.isGone(row) ? undefined : this.lookAt(row)
      if (failure || newRows.length === 0 || this.events.mark === undefined) return { rows, failure }
      knownRows = rows
    }
  }

  /** True if the events have deleted a row. */
  private isGone({ dataClass, rowId }: TableRow): boolean {
    return this.events.mark !== undefined && !rowExists(this.codeSession.snapshots.unrestricted.table(dataClass), rowId)
  }

  /** Expected stamps and new values, for the writer. */
  private hooked(): NonNullable<DeleteRequest['hooked']> {
    const names = new Set(this.dataClasses)
    const rows: HookedRow[] = []
    for (const row of this.deletable.values()) {
      const { dataClass, rowId } = row
      if (!names.has(dataClass) || this.isGone(row)) continue
      const { jobs = [] } = this.looked.get(identify(row)) ?? {}
      // In a transaction, any change since then was made by the events of this deletion.
      const now = this.codeSession.writes.isInTransaction
        ? this.codeSession.snapshots.unrestricted.table(dataClass).row(rowId)?.stamp
        : undefined
      const stamp = now ?? this.entity(dataClass, rowId).getStamp()
      rows.push({ dataClass: dataClass.name, rowId, seenStamp: stamp, ...(jobs.length > 0 && { jobs }) })
    }
    const unlinkedRows = new Map<number, { row: TableRow; relations: RelatedEntityAttribute[] }>()
    for (const { row, relation } of findUnlinked(this.deletable, this.referencing)) {
      if (!names.has(row.dataClass)) continue
      const entry = unlinkedRows.get(identify(row)) ?? { row, relations: [] }
      entry.relations.push(relation)
      unlinkedRows.set(identify(row), entry)
    }
    for (const { row, relations } of unlinkedRows.values()) rows.push(this.unlink(row, relations))
    return { dataClasses: this.dataClasses.map(({ name }) => name), rows, reads: this.events.recorded?.reads }
  }

  private get rootTable(): TableSnapshot {
    return this.codeSession.snapshots.unrestricted.table(this.root)
  }

  private willDelete(id: number, row: TableRow): void {
    const rowIds = this.deletableIds.get(row.dataClass) ?? new Set()
    this.deletableIds.set(row.dataClass, rowIds.add(row.rowId))
    this.deletable.set(id, row)
  }

  /** True if events have read one of the rows that are to be deleted so far, or its dataclass as a whole. */
  private hasReadDeletable(): boolean {
    return [...this.deletableIds].some(([dataClass, ids]) => this.events.recorded?.hasRead(dataClass, ids))
  }

  /** Runs afterDrop. The status depends only on whether the entity is gone. */
  tell(): void {
    for (const [id, { row, entity, failure }] of this.looked) {
      const events = this.context.classes.events(row.dataClass)!
      const isGone = !rowExists(this.codeSession.snapshots.unrestricted.table(row.dataClass), row.rowId)
      // This row stays because events of other rows prevent its deletion.
      if (!isGone && !failure && !this.deletable.has(id)) continue
      try {
        this.codeSession.scope.asEvent(() =>
          events.run('afterDrop', entity, [], { dropStatus: isGone ? 'success' : 'failed' }),
        )
      } catch (error) {
        this.context.onFault(error)
      }
    }
  }

  private lookAt(row: TableRow): ErrorData | undefined {
    const { dataClass, rowId } = row
    const events = this.context.classes.events(dataClass)
    if (!events || !this.context.classes.hasDropEvents(dataClass)) return undefined
    const id = identify(row)
    const earlierLook = this.looked.get(id)
    if (earlierLook) return earlierLook.failure
    const entity = this.entity(dataClass, rowId)
    const chain = this.events.chainTo(entity)
    if (this.context.dropping.has(id) || chain) return busyFailure('drop', dataClass.name, chain).error
    // Read now, because the key is not available after the deletion.
    const key = describe(entity.getKey())
    const look: Looked = { row, entity, failure: undefined, jobs: [] }
    this.looked.set(id, look)
    this.context.dropping.add(id)
    const consequence = WriteErrors.ENTITY_NOT_DELETED(key, dataClass.name)
    this.events.entity = entity
    look.failure = this.codeSession.writes.runEvents(this.events, () =>
      this.codeSession.scope.asEvent(() =>
        this.codeSession.writes.collecting({ jobs: look.jobs }, () => this.askEvents(events, entity, consequence)),
      ),
    )
    return look.failure
  }

  private askEvents(events: EventCode, entity: EntityBase, consequence: ProtocolError): ErrorData | undefined {
    const { dataClass } = entity[BINDING]
    const names = dataClass.attributes.map(({ name }) => name)
    try {
      for (const kind of ['validateDrop', 'dropping'] as const) {
        const refusal = events.run(kind, entity, names)
        if (refusal) return failureOf(eventFailure(refusal.error, kind === 'validateDrop', consequence), consequence)
      }
    } catch (exception) {
      if (!(exception instanceof ProtocolError || this.events.needsTransaction)) this.context.onFault(exception)
      return thrownFailure(exception, dataClass.name, consequence).error
    }
    return undefined
  }

  /** Stored calculated values of an entity that loses these relations. */
  private unlink({ dataClass, rowId }: Unlinked['row'], relations: readonly RelatedEntityAttribute[]): HookedRow {
    const entity = this.entity(dataClass, rowId)
    const entityStamp = entity.getStamp()
    for (const { foreignKey } of relations) internals.put(entity, foreignKey, null)
    const values = this.codeSession.writes.runEvents(this.events, () =>
      this.codeSession.scope.asEvent(() => this.context.calculatedValues(entity)),
    )
    this.events.recorded?.forgetRow(dataClass, rowId)
    return { dataClass: dataClass.name, rowId, seenStamp: entityStamp, values }
  }

  private entity(dataClass: DataClass, rowId: number): EntityBase {
    const look = this.looked.get(identify({ dataClass, rowId }))
    if (look) return look.entity
    // Deletion control also reaches entities that the call may not see.
    return this.codeSession.scope.run({ isUnrestricted: true }, () => {
      const entity = this.codeSession.bindings.get(dataClass)!.entity(rowId)
      internals.row(entity)
      return entity
    })
  }

  /** Finds the rows of this store that refer to a row. A database follows its own foreign keys. */
  private readonly referencing = (relation: RelatedEntityAttribute, rowId: number): number[] =>
    isByRow(relation)
      ? [...this.codeSession.snapshots.unrestricted.table(relation.dataClass).referencing(relation, rowId)]
      : []
}

const isReferenced = ({ name }: ErrorData): boolean => name === WriteErrors.STILL_REFERENCED('', '', '').name

/** Error of a stopped deletion: a mild error fails it too. */
function failureOf({ error, status }: SaveFailure, consequence: ProtocolError): ErrorData {
  if (error.entries.length > 1) return error
  return { ...new ProtocolError(error).followedBy(consequence).toData(), saveStatus: status }
}
