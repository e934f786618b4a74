import { randomUUID } from 'node:crypto'
import { isBinary, type StorageAttribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { RecordStore } from '../../data/record-store.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Views } from '../../permission/views.ts'
import type { Deletion, Locking } from '../../backend/backend.ts'
import type { QueryCache } from '../../query/plan/query-cache.ts'
import { REMOTE } from '../../query/source/remote.ts'
import { planPage, planSelection, runPage } from '../../query/source/select.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { convertKey } from '../../write/value/convert.ts'
import { SaveSteps } from '../../write/steps/save-steps.ts'
import { openBody, type SaveBody } from '../../write/body/parse-body.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import type {
  DeleteResult,
  ListLocksResult,
  LockResult,
  SavedEntity,
  SaveRequest,
  SaveResult,
} from '../../write/contract/requests.ts'
import { type SaveRules, saveRules } from '../../write/value/validate.ts'
import {
  bodyLimits,
  checkTransactionSize,
  isOneTransaction,
  type SaveLimits,
} from '../../write/contract/write-limits.ts'
import { deleteRows } from './remote-delete.ts'
import { applyChanges, applyPieces, leftOut, undoneOutcomes } from './apply-changes.ts'
import { DirectTransaction, isDirect, type NamedEntity, namedEntity, updateDirectly } from './direct-update.ts'
import type { Database, StatementLimits } from '../database/database.ts'
import type { Databases } from '../tables/databases.ts'
import type { HeldTransaction } from '../database/held-transaction.ts'
import { RemoteLocks } from '../locks/remote-locks.ts'
import type { RemoteRows } from '../reads/remote-rows.ts'
import type { Repeat } from '../reads/remote-bytes.ts'
import type { RemoteReads } from '../reads/remote-reads.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import { type ChangeOutcome, RemoteTransaction } from './remote-transaction.ts'
import { runUnlessSuspended, SavePieces } from './save-pieces.ts'
import { SharedLocks } from '../locks/shared-locks.ts'

/** Number of times that a save begins again because its rows have changed meanwhile. */
const MAX_STALE = 5
const SLICE_SIZE = 10_000
/** Number of new entities that are checked while the database inserts those before them. */
const PIECE_SIZE = 1_000

/** A deletion. Plain data. */
interface RemoteDeletion extends Deletion {
  /** Texts of the keys of the entities to delete, instead of a selection. Some of the entities may no longer exist. */
  readonly keys?: readonly string[]
  /** Expected stamps by the texts of the keys. */
  readonly stamps?: ReadonlyMap<string, number> | undefined
  /** Set for plugin code, to which the scope of a dataclass does not apply. */
  readonly isCode?: boolean
}

/** A lock. Plain data. */
interface RemoteLock extends Locking {
  readonly isCode?: boolean
}

/** A change made by plugin code or for the client: the results are `SaveResult`, `DeleteResult` and `LockResult`. Plain data. */
export type RemoteChange =
  | { readonly kind: 'remoteSave'; readonly request: SaveRequest }
  | { readonly kind: 'remoteDelete'; readonly deletion: RemoteDeletion }
  | { readonly kind: 'remoteLock'; readonly lock: RemoteLock }

/** Limits of a save or a deletion, and the open transaction of which it is a part, if any. */
interface WriteLimits extends StatementLimits {
  readonly transaction?: HeldTransaction | undefined
}

/** A save, with the view of its caller. */
interface Saving {
  readonly request: SaveRequest
  readonly view: View
  readonly dataClass: DataClass
  /** True for a slice of new entities that may be checked piece by piece. */
  readonly isPiecewise?: boolean
}

interface RemoteWriterOptions {
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly views: Views
  readonly databases: Databases
  readonly limits: SaveLimits
  /** True if several servers share locks. */
  readonly sharesLocks: boolean
  /** Receives the number of locks of this thread; undefined if another thread holds them. */
  readonly lockCount?: Int32Array
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Uploads and their bytes. */
  readonly records: Pick<RecordStore, 'uploads' | 'files'>
}

/** 32 upper-case hex digits. */
const newUuid = (): string => randomUUID().replaceAll('-', '').toUpperCase()

/** Saves, deletes and locks entities that are in databases, by the rules of the writer thread. */
export class RemoteWriter {
  private readonly locks: RemoteLocks
  /** Used instead of {@link locks}, which are then empty. */
  private readonly sharedLocks: SharedLocks | undefined
  private readonly rules = new Map<DataClass, SaveRules>()

  constructor(private readonly options: RemoteWriterOptions) {
    this.locks = new RemoteLocks(options.now, options.lockCount)
    const { catalog, databases, sharesLocks } = options
    const connections = new Set(catalog.dataClasses.flatMap(({ remote }) => remote?.connection ?? []))
    if (sharesLocks) this.sharedLocks = new SharedLocks(databases, [...connections])
  }

  /** @throws {ProtocolError} the request as a whole failed */
  async save(request: SaveRequest, repeat: Repeat, limits: WriteLimits): Promise<SaveResult> {
    const { views, limits: saveLimits } = this.options
    const view = views.of(request.access, request.trusted ? 'code' : 'client')
    const dataClass = this.dataClass(request.dataClass, view)
    if (dataClass.remote!.readOnly) throw RemoteErrors.READ_ONLY(dataClass.name)
    const body = openBody(request, dataClass, request.trusted ? undefined : bodyLimits(request, saveLimits))
    checkTransactionSize(request, body.length, saveLimits)
    const steps = new SaveSteps(request, dataClass, body, view, saveLimits)
    const entity = limits.transaction ? undefined : namedEntity(request, body, dataClass)
    const savedEntity = entity && (await this.updateUnread(entity, steps, { request, view, dataClass }, repeat, limits))
    if (savedEntity) return { kind: 'save', many: body.many, entities: [savedEntity], globalStamp: 0 }
    const mayHaveKeys = namesKeys(request.body)
    for (let first = 0; !steps.outcome; first += SLICE_SIZE) {
      const keys = mayHaveKeys ? keysOf(body, dataClass, first) : []
      const isPiecewise =
        keys.length === 0 && body.length - first > PIECE_SIZE && this.mayPiece(request, dataClass, limits)
      await this.step(steps, { request, view, dataClass, isPiecewise }, keys, repeat, limits)
    }
    if ('kind' in steps.outcome) return steps.outcome as SaveResult
    throw new ProtocolError(steps.outcome)
  }

  /** @throws {ProtocolError} the request as a whole failed */
  async delete(
    { read, keys, owner, isCode, stamps, ...request }: RemoteDeletion,
    queries: QueryCache,
    repeat: Repeat,
    limits: WriteLimits,
  ): Promise<DeleteResult> {
    const { views, databases, limits: saveLimits } = this.options
    const view = views.of(read.access, isCode ? 'code' : 'client')
    const dataClass = view.dataClass(read.dataClass)
    if (dataClass.remote!.readOnly) throw RemoteErrors.READ_ONLY(dataClass.name)
    const { remoteRows, rows } = await repeat(reads => {
      const { context } = reads
      const rowIds = keys
        ? keys.flatMap(key => rowOf(key, dataClass, reads))
        : REMOTE.rowIds(planSelection(read, view, queries, context!), view, context!)
      reads.fetch(dataClass, rowIds)
      const remoteRows = reads.rowsOf(dataClass)
      return { remoteRows, rows: Array.from(rowIds, rowId => ({ rowId, row: reads.row(dataClass, rowId) })) }
    })
    if (request.atomic && rows.length > saveLimits.maxTransactionEntities) {
      throw WriteErrors.TOO_MANY_AT_ONCE('a deletion with $atomic', saveLimits.maxTransactionEntities)
    }
    const existingRows = rows.filter((each): each is { rowId: number; row: RowView } => each.row !== undefined)
    if (existingRows.length === 0) {
      if (request.ifMatch) throw WriteErrors.NO_VERSION(dataClass.name)
      return { kind: 'delete', deleted: 0 }
    }
    const ids = new Map(existingRows.map(({ rowId, row }) => [row, rowId]))
    const database = databases.database(dataClass.remote!.connection)
    const deletion = {
      ...request,
      guard: await this.sharedLocks?.guard(dataClass, owner, database, limits),
      table: remoteRows.table,
      view,
      rows: existingRows.map(({ row }) => row),
      stamps,
      isLocked: (row: RowView) => this.locks.blocker(remoteRows, ids.get(row)!, owner) !== undefined,
    }
    return this.sound(database, deleteRows(limits.transaction ?? database, deletion, limits))
  }

  /** Locks the entity that a request selects, or unlocks it. @throws {ProtocolError} no entity is selected */
  async lock(
    { read, lock, holder, isCode }: RemoteLock,
    queries: QueryCache,
    repeat: Repeat,
    limits: StatementLimits,
  ): Promise<LockResult> {
    const view = this.options.views.of(read.access, isCode ? 'code' : 'client')
    const dataClass = view.dataClass(read.dataClass)
    const { rows, rowId } = await repeat(reads => {
      const { context } = reads
      const selection = planPage({ ...read, output: { form: 'entity' } }, view, queries, context!)
      const [rowId] = runPage(selection, view, context!).rowIds
      return { rows: reads.rowsOf(dataClass), rowId: rowId! }
    })
    if (this.sharedLocks) {
      const key = rows.keyOf(rowId)!
      return lock
        ? this.sharedLocks.lock(dataClass, key, holder, limits)
        : this.sharedLocks.unlock(dataClass, key, holder, limits)
    }
    const blocker = this.locks.blocker(rows, rowId, holder.owner)
    if (blocker) return { kind: 'lock', result: false, blocker: blocker.info }
    if (!lock) {
      const wasLocked = this.locks.free(rows, rowId, holder.owner)
      return { kind: 'lock', result: true, ...(!wasLocked && { wasNotLocked: true }) }
    }
    if (!this.locks.take(rows, rowId, holder)) throw WriteErrors.TOO_MANY_LOCKS()
    return { kind: 'lock', result: true }
  }

  async freeLocks(owner: string, limits: StatementLimits): Promise<void> {
    this.locks.freeAll(owner)
    await this.sharedLocks?.freeAll(owner, limits)
  }

  /** Lists the locks that several servers share. */
  async listLocks(limit: number, limits: StatementLimits): Promise<ListLocksResult> {
    return (await this.sharedLocks?.list(limit, limits)) ?? { kind: 'listLocks', count: 0, locks: [] }
  }

  private async sound<T>(database: Database, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      this.sharedLocks?.handleFailure(database, error)
      throw error
    }
  }

  /** Changes one entity with a single statement, without reading it before. @returns undefined if it has to be read */
  private async updateUnread(
    entity: NamedEntity,
    steps: SaveSteps,
    { request, dataClass }: Saving,
    repeat: Repeat,
    limits: WriteLimits,
  ): Promise<SavedEntity | undefined> {
    const { layouts, databases, records, now } = this.options
    const { changes, rows } = await repeat(reads => {
      const rows = reads.rowsOf(dataClass)
      const transaction = new DirectTransaction(dataClass, reads, layouts, records, [])
      if (isDirect(rows.table)) {
        transaction.setUnread(rows.idOf(entity.key), dataClass, entity)
        steps.step(this.stepContext(transaction, rows, new Date(now()).toISOString(), newUuid))
      }
      return { changes: transaction.changes, rows }
    })
    const [change] = changes
    if (change?.kind !== 'update') return undefined
    const database = databases.database(dataClass.remote!.connection)
    const guard = await this.sharedLocks?.guard(dataClass, request.owner, database, limits)
    const outcome = await this.sound(database, updateDirectly(database, rows, change, limits, guard))
    return outcome && { row: outcome.row.bytes, rowId: outcome.rowId }
  }

  private async step(
    steps: SaveSteps,
    saving: Saving,
    keys: readonly Parameters<RemoteReads['rowOf']>[1][],
    repeat: Repeat,
    limits: WriteLimits,
  ): Promise<void> {
    const { request, view, dataClass } = saving
    const { layouts, databases, now, records } = this.options
    const timestamp = new Date(now()).toISOString()
    const isAtomic = isOneTransaction(request)
    const uuids: string[] = []
    let outcomes: readonly ChangeOutcome[] = []
    if (saving.isPiecewise) {
      const applied = await this.savePieces(steps, saving, { timestamp, uuids }, repeat, limits)
      if (!applied) return
      outcomes = applied
    }
    /** Changes that found no row with their stamps. */
    const missedChanges = new Set<string>()
    for (let stale = 0; ; ) {
      const { transaction, accept, rows } = await repeat(reads => {
        const rows = reads.rowsOf(dataClass)
        reads.fetch(
          dataClass,
          keys.map(key => rows.idOf(key)),
        )
        const transaction = new RemoteTransaction(dataClass, reads, layouts, records, outcomes)
        let uuidCount = 0
        const uuid = () => (uuids[uuidCount++] ??= newUuid())
        const accept = steps.step(this.stepContext(transaction, rows, timestamp, uuid))
        return { transaction, accept, rows }
      })
      if (transaction.changes.length === 0) return accept(0, entity => transaction.finished(entity))
      const database = databases.database(dataClass.remote!.connection)
      const guard = await this.sharedLocks?.guard(dataClass, request.owner, database, limits)
      const place = limits.transaction ?? database
      const work = applyChanges(place, rows, transaction.changes, { isAtomic, view }, limits, guard)
      const appliedChanges = await this.sound(database, work)
      const before = outcomes
      outcomes = [...outcomes, ...appliedChanges.outcomes]
      if (!appliedChanges.isStale) {
        const areDone = appliedChanges.outcomes.every(({ kind }) => kind === 'done')
        if (!areDone || transaction.readsPending) continue
        // The work would find the same again, with the rows of the outcomes.
        return accept(0, entity => transaction.finished(entity, appliedChanges.outcomes))
      }
      const missedChange = transaction.changes[appliedChanges.outcomes.length]
      const attempt =
        !appliedChanges.isCollision &&
        missedChange?.kind === 'update' &&
        JSON.stringify([String(missedChange.key), missedChange.stamp])
      if (attempt && missedChanges.has(attempt)) {
        // The row has the stamp that was read, and still the update changes nothing.
        const refusal = leftOut(rows.table)
        outcomes = isAtomic
          ? undoneOutcomes(transaction.changes.length, appliedChanges.outcomes.length, refusal)
          : [...outcomes, refusal]
        continue
      }
      if (attempt) missedChanges.add(attempt)
      if (++stale > MAX_STALE) throw RemoteErrors.CHANGING(dataClass.name).retryAfter(1)
      if (isAtomic) outcomes = before
      // Rows that this save has changed are not read again, so that the repeated save finds its earlier outcomes.
      for (const change of transaction.changes.slice(isAtomic ? 0 : appliedChanges.outcomes.length)) {
        if (change.kind === 'update') rows.delete(rows.idOf(change.key))
      }
    }
  }

  /** True for a save whose entities have no bytes, whose sum has a limit, and which is not a part of another transaction. */
  private mayPiece(request: SaveRequest, { attributes }: DataClass, { transaction }: WriteLimits): boolean {
    const hasBytes = attributes.some(each => each.kind === 'storage' && isBinary(each.type))
    return !transaction && !hasBytes && !isOneTransaction(request)
  }

  /**
   * Saves a slice of new entities in one transaction. Its pieces are checked while the database inserts those before them.
   * @returns undefined if the entities are saved; otherwise the slice has to be checked as a whole, with these outcomes
   */
  private async savePieces(
    steps: SaveSteps,
    { request, view, dataClass }: Saving,
    { timestamp, uuids }: { readonly timestamp: string; readonly uuids: string[] },
    repeat: Repeat,
    limits: WriteLimits,
  ): Promise<readonly ChangeOutcome[] | undefined> {
    const { layouts, databases, records } = this.options
    const rows = await repeat(reads => reads.rowsOf(dataClass))
    const database = databases.database(dataClass.remote!.connection)
    await this.sharedLocks?.guard(dataClass, request.owner, database, limits)
    let uuidCount = 0
    const uuid = () => (uuids[uuidCount++] ??= newUuid())
    const pieces = new SavePieces(steps, SLICE_SIZE, () =>
      repeat(reads => {
        const transaction = new RemoteTransaction(dataClass, reads, layouts, records, [])
        const context = { ...this.stepContext(transaction, rows, timestamp, uuid), sliceSize: PIECE_SIZE }
        return runUnlessSuspended(() => ({ transaction, accept: steps.step(context) }))
      }),
    )
    const work = applyPieces(
      database,
      rows,
      outcomes => pieces.next(outcomes),
      () => !pieces.isStopped,
      { view, limits },
    )
    const { outcomes, isStale } = await this.sound(database, work)
    if (isStale || pieces.isStopped) return pieces.takeBack()
    return pieces.finish(outcomes) ? undefined : outcomes
  }

  private stepContext(
    transaction: RemoteTransaction,
    rows: RemoteRows,
    timestamp: string,
    randomUuid: () => string,
  ): Parameters<SaveSteps['step']>[0] {
    return {
      transaction,
      timestamp,
      randomUuid,
      locks: { blocker: (_, rowId, owner) => this.locks.blocker(rows, rowId, owner) },
      limits: this.options.limits,
      rules: this.rulesOf(rows.table),
      sliceSize: SLICE_SIZE,
      endsAt: Number.POSITIVE_INFINITY,
      beat: () => {},
      enqueued: () => {},
    }
  }

  /** Save rules without those that the database applies: it numbers rows and creates keys. */
  private rulesOf({ dataClass, columns }: RemoteTable): ReadonlyMap<DataClass, SaveRules> {
    if (!this.rules.has(dataClass)) {
      const { limited, autoFilled, ...others } = saveRules(dataClass)
      const keyColumns = columns.get(dataClass.key)!
      const makesKey = keyColumns.length > 1 || keyColumns[0]!.hasDefault
      this.rules.set(dataClass, {
        limited: limited.filter(attribute => !(attribute === dataClass.key ? makesKey : isNumbered(attribute))),
        autoFilled: autoFilled.filter(({ autoFill }) => autoFill !== 'increment'),
        ...others,
      })
    }
    return this.rules
  }

  private dataClass(name: string, view: View): DataClass {
    const dataClass = this.options.catalog.dataClassesByName.get(name)
    if (dataClass && view.includes(dataClass) && (view.shows(dataClass) || view.may('create', dataClass)))
      return dataClass
    throw view.unknownDataClass(name)
  }
}

/** Row id for the text of a key; empty if the text cannot be a key. */
function rowOf(text: string, dataClass: DataClass, reads: RemoteReads): number[] {
  const key = convertKey(dataClass, text)
  return key instanceof ProtocolError || key === null ? [] : [reads.rowOf(dataClass, key)]
}

/** True if the database gives the attribute a number when it has no value. */
const isNumbered = ({ autoFill, mandatory }: StorageAttribute): boolean => autoFill === 'increment' && mandatory

/** False for a body in which no member is called `__KEY`, not even with an escape. */
function namesKeys({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  return bytes.includes('__KEY') || bytes.includes('\\u')
}

/** Keys of existing entities among the elements of a slice. */
function keysOf(
  body: SaveBody,
  dataClass: DataClass,
  first: number,
): Exclude<ReturnType<typeof convertKey>, ProtocolError>[] {
  const keys: Exclude<ReturnType<typeof convertKey>, ProtocolError>[] = []
  for (let i = first; i < Math.min(first + SLICE_SIZE, body.length); i++) {
    const element = body.element(i)
    const sentKey = isJsonObject(element) ? (ownMember(element, '__KEY') ?? null) : null
    const key = sentKey === null ? undefined : convertKey(dataClass, sentKey)
    if (key !== undefined && !(key instanceof ProtocolError)) keys.push(key)
  }
  return keys
}
