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
 * Port to the place of entities, for plugin code, which waits for each change: this store, or databases. See `Backend` for the kernel
 * thread.
 */
export interface Changes {
  /** True if events of entities may save and drop others, which then is part of the change. */
  readonly mayEventsWrite: boolean
  /** True if a change can be sent without waiting for it. */
  readonly mayGoOn: boolean
  /** True if the events that run have read from a transaction that is kept open for them. */
  readonly hasBegun: boolean
  save(request: SaveRequest, dataClass: DataClass): SaveResult
  drop(request: Omit<DeleteRequest, 'kind'>, dataClass: DataClass): DeleteResult
  lock(dataClass: DataClass, rowId: number, lock: boolean, holder: LockHolder): LockResult
  /** State of the data that the events of a run read. @param open that of the call */
  eventSnapshot(run: EventRun, open: Snapshot): Snapshot
  /**
   * Runs events beside the changes of others, and the change after them.
   * @param isAtomic true for one change of all or nothing
   * @param work reads nothing of before
   * @returns undefined: others have changed what was read, or were in the way, so that nothing is kept
   */
  beside<T>(
    dataClass: DataClass,
    isAtomic: boolean,
    work: () => T,
    isKept: (result: T) => boolean,
  ): { readonly result: T } | undefined
  /**
   * Runs events and changes while no other client changes what they read.
   * @param runs number of runs that have failed before
   * @param work may run several times; returns whether all that it has done is to be kept
   * @param moment time of automatic values
   * @returns what it returned; undefined: others were in the way each time
   */
  alone(
    dataClass: DataClass,
    isAtomic: boolean,
    runs: number,
    work: () => boolean,
    moment?: number,
  ): boolean | undefined
  /** Does work when a change is committed: now, unless it is part of a transaction that is kept open. */
  afterChange(work: () => void): void
}
