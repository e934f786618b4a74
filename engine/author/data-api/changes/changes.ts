import type { DataClass } from '../../../catalog/dataclass.ts'
import type { LockHolder } from '../../../caller/lock-holder.ts'
import type { Snapshot } from '../../../data/snapshot.ts'
import type {
  DeleteRequest,
  DeleteResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../../write/contract/requests.ts'
import type { EventRun } from '../event-run.ts'

/**
 * Port to the place where entities are stored, this store or databases, for plugin code, which waits for each change. See `Backend` for the
 * kernel thread.
 */
export interface Changes {
  /** True if events of entities may save and drop other entities, as part of the change. */
  readonly mayEventsWrite: boolean
  /** True if a change can be sent without waiting for it. */
  readonly mayGoOn: boolean
  /** True if the events that run have read from a transaction that is kept open for them. */
  readonly hasBegun: boolean
  save(request: SaveRequest, dataClass: DataClass): SaveResult
  drop(request: Omit<DeleteRequest, 'kind'>, dataClass: DataClass): DeleteResult
  lock(dataClass: DataClass, rowId: number, lock: boolean, holder: LockHolder): LockResult
  /** State of the data that the events of a run read. @param open snapshot of the call */
  eventSnapshot(run: EventRun, open: Snapshot): Snapshot
  /**
   * Runs events, and then the change, concurrently with the changes of others.
   * @param isAtomic true if the change must be kept as a whole or not at all
   * @param work uses nothing that was read before
   * @returns undefined if nothing is kept, because others have changed what was read or were in the way
   */
  beside<T>(
    dataClass: DataClass,
    isAtomic: boolean,
    work: () => T,
    isKept: (result: T) => boolean,
  ): { readonly result: T } | undefined
  /**
   * Runs events and changes while no other client changes what they read.
   * @param runs number of earlier runs, which failed
   * @param work may run several times; returns whether everything that it has done is to be kept
   * @param moment time of automatic values
   * @returns the result of `work`; undefined if others were in the way each time
   */
  alone(
    dataClass: DataClass,
    isAtomic: boolean,
    runs: number,
    work: () => boolean,
    moment?: number,
  ): boolean | undefined
  /** Runs `work` when a change is committed: immediately, unless the change is part of a transaction that is kept open. */
  afterChange(work: () => void): void
}
