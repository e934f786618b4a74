import type { Snapshot } from './snapshot.ts'

/** The snapshots of a store, in one thread. */
export interface Store {
  /**
   * The state after the newest commit. Reads are synchronous, so one snapshot at a time is open in a thread.
   * @throws {AssertionError} when the one before has not been released
   */
  snapshot(): Snapshot
  /**
   * Runs `work` on the state after a commit that is not older than the last one that this thread knows to be durable.
   * `work` must not have effects outside: it may be run a second time on a newer state.
   */
  read<T>(work: (snapshot: Snapshot) => T): T
  /** Frees the derived memory. What it was opened over stays open. */
  close(): void
}
