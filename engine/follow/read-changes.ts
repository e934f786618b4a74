import { createHash } from 'node:crypto'
import type { DataClass } from '../catalog/dataclass.ts'
import { ProtocolError } from '../base/errors.ts'
import { Overlay } from '../columns/overlay.ts'
import { type Change, DELETED, INSERTED, UPDATED } from '../data/change.ts'
import type { ReadStore } from '../data/read-store.ts'
import type { Snapshot } from '../data/snapshot.ts'
import { type FollowedRecord, followLog, LogGapError, type LogPlace } from '../log/follow-log.ts'
import { decodeRecord } from '../log/record.ts'
import { planTask } from '../query/tasks/task-kind.ts'
import type { TaskScope } from '../query/tasks/task-kind.ts'
import type { ChangeBatch, ChangeKind, ChangePlace, ChangesRequest, EntityChange } from '../query/contract/changes.ts'
import type { QueryBudget } from '../query/scan/query-budget.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import { RowView } from '../row-format/row-view.ts'
import { readOf } from './bind-changes.ts'

/** Bytes of records that one batch reads, so that a thread of the pool is free again soon. */
const READ_BYTES = 8 * 2 ** 20
/** Maximum number of changes that are read on one state and filtered by one query. */
const RUN_CHANGES = 256

const KINDS: Readonly<Record<number, ChangeKind>> = {
  [INSERTED]: 'created',
  [UPDATED]: 'updated',
  [DELETED]: 'deleted',
}

type Row = Change & { readonly row: Uint8Array }

/** A change whose row was found. */
interface Candidate {
  readonly change: Row
  readonly place: ChangePlace
  readonly id: string
  readonly time: number
}

interface Reading {
  readonly store: Pick<ReadStore, 'records' | 'read'>
  readonly scope: TaskScope
  readonly budget: QueryBudget
}

/**
 * Reads changes from the records after a place. An entity is read as its record contains it, whatever came later; related entities, and
 * entities from records before a change of the model, are read in their current state.
 * @throws {ProtocolError} the selection no longer fits
 */
export function readChanges(request: ChangesRequest, { store, scope, budget }: Reading): ChangeBatch {
  const { records, read } = store
  records.refresh()
  const end = records.logEnd()
  if (!end) throw new Error('the store has no log')
  try {
    return read(snapshot => new ChangeReader(request, scope, budget, snapshot).read(end))
  } catch (error) {
    if (!(error instanceof LogGapError)) throw error
    const next = error.next ?? end
    const gap = { from: request.after.sequence + 1, to: next.sequence }
    return { changes: [], next: changePlace(next, 0), last: end.sequence, gap, unknown: 0 }
  }
}

class ChangeReader {
  private readonly changes: EntityChange[] = []
  private bytes = 0
  private unknown = 0
  /** Changes that are read together: each entity once. */
  private run = new Map<number, Candidate>()
  private readonly dataClass: DataClass
  private readonly layout: RowLayout

  constructor(
    private readonly request: ChangesRequest,
    private readonly scope: TaskScope,
    private readonly budget: QueryBudget,
    private readonly snapshot: Snapshot,
  ) {
    this.dataClass = scope.views.of(undefined).dataClass(request.selection.dataClass)
    this.layout = scope.layouts.get(this.dataClass)!
  }

  read({ folder, sequence: last }: { folder: string; sequence: number }): ChangeBatch {
    const { after } = this.request
    let next = after
    let recordBytes = 0
    for (const entry of followLog(folder, logPlace(after), last)) {
      next = this.readRecord(entry, entry.after.sequence === after.sequence + 1 ? after.index : 0)
      recordBytes += entry.record.length
      if (this.isFull || recordBytes > READ_BYTES) break
    }
    next = this.flush() ?? next
    return { changes: this.changes, next, last, unknown: this.unknown }
  }

  private get isFull(): boolean {
    const { maxBytes, maxChanges } = this.request
    return this.bytes >= maxBytes || this.changes.length + this.run.size >= maxChanges
  }

  /** @returns the place after the part that was read */
  private readRecord({ before, after, record }: FollowedRecord, start: number): ChangePlace {
    const { selection } = this.request
    const { tableNumber } = this.dataClass
    const { effects, time } = decodeRecord(record)
    for (let index = start; index < effects.length; index++) {
      const effect = effects[index]!
      if (effect.kind !== 'row' || effect.change.tableNumber !== tableNumber) continue
      const { change } = effect
      if (!selection.kinds.includes(KINDS[change.operation]!)) continue
      if (!change.row || (change.operation === DELETED && !this.isReadable(change.row))) {
        this.unknown++
        continue
      }
      const flushedPlace = this.run.has(change.rowId) || this.run.size >= RUN_CHANGES ? this.flush() : undefined
      if (flushedPlace) return flushedPlace
      if (this.isFull) return changePlace(before, index)
      const id = idOf(after.hash, index)
      this.run.set(change.rowId, { change: change as Row, place: changePlace(before, index), id, time })
    }
    return changePlace(after, 0)
  }

  /** Reads the entities of the run. @returns the place of the first that has no room in the batch */
  private flush(): ChangePlace | undefined {
    const candidates = [...this.run.values()]
    this.run = new Map()
    if (candidates.length === 0) return undefined
    const { dataClass } = this
    const overlay = this.overlay(candidates)
    const passing = this.passing(candidates, overlay)
    for (const candidate of candidates) {
      const { change, place, id, time } = candidate
      const decision = passing.get(change.rowId)
      // An entity that predates a change of the model and no longer exists: its deletion follows.
      const row = decision && overlay.table(dataClass).row(change.rowId)
      if (!row) continue
      if (this.isFull) return place
      const read = decision === true ? this.entity(change.rowId, overlay) : { entity: undefined, problem: decision }
      this.changes.push({ place, id, kind: KINDS[change.operation]!, key: row.key, time, ...read })
      this.bytes += (read.entity?.length ?? 0) + row.key.length
    }
    return undefined
  }

  /** False for a row from before a change of the model. */
  private isReadable(row: Uint8Array): boolean {
    return new RowView(this.layout, row).layoutVersion === this.layout.version
  }

  private overlay(candidates: readonly Candidate[]): Overlay {
    const overlay = new Overlay(this.snapshot, this.scope.layouts)
    const readable = candidates.flatMap(({ change }) => (this.isReadable(change.row) ? [change] : []))
    overlay.add(readable.map(change => ({ ...change, operation: UPDATED })))
    return overlay
  }

  /** Row ids that pass the filter, each with true, or with the reason why the filter cannot be evaluated. */
  private passing(candidates: readonly Candidate[], overlay: Overlay): Map<number, true | string> {
    const rowIds = candidates.map(({ change }) => change.rowId)
    if (this.request.selection.filter === undefined) return new Map(rowIds.map(rowId => [rowId, true]))
    try {
      return new Map(this.select(rowIds, overlay).map(rowId => [rowId, true]))
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      // One of the entities costs too much to select, so each is decided separately.
      return new Map(rowIds.flatMap(rowId => this.decide(rowId, overlay)))
    }
  }

  private decide(rowId: number, overlay: Overlay): [number, true | string][] {
    try {
      return this.select([rowId], overlay).map(each => [each, true])
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return [[rowId, `the filter cannot be decided: ${error.message}`]]
    }
  }

  private select(rowIds: readonly number[], overlay: Overlay): number[] {
    const request = this.requestFor(rowIds)
    const plannedTask = planTask(
      { kind: 'rowIds', request, args: { of: 'selection' } },
      this.scope,
      this.context(overlay),
    )
    const bytes = plannedTask.run().slice()
    return [...new Uint32Array(bytes.buffer)]
  }

  private entity(rowId: number, overlay: Overlay): { entity: string | undefined; problem?: string } {
    const { filter: _, ...request } = this.requestFor([rowId])
    try {
      const plannedTask = planTask({ kind: 'read', request }, this.scope, this.context(overlay))
      return { entity: Buffer.from(plannedTask.run()).toString('utf8') }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return { entity: undefined, problem: error.message }
    }
  }

  private requestFor(rowIds: readonly number[]) {
    const { views, limits } = this.scope
    const request = readOf(this.request.selection, { view: views.of(undefined), limits })
    return { ...request, source: { ...request.source, rowIds: Uint32Array.from(rowIds), ordered: true } }
  }

  private context(snapshot: Snapshot) {
    return { snapshot, budget: this.budget }
  }
}

/** 24 characters that depend on the record, all records before it, and the place in it. */
const idOf = (hash: Uint8Array, index: number): string =>
  createHash('sha256').update(hash).update(`/${index}`).digest().subarray(0, 18).toString('base64url')

const changePlace = ({ sequence, hash, segment, offset }: LogPlace, index: number): ChangePlace => ({
  sequence,
  hash: Buffer.from(hash).toString('hex'),
  index,
  segment,
  offset,
})

const logPlace = ({ hash, ...place }: ChangePlace): LogPlace => ({ ...place, hash: Buffer.from(hash, 'hex') })
