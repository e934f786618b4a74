import type { Snapshot } from './snapshot.ts'

/** The snapshots of a store, in one thread. */
export interface Store {
  /**
   * The state after the newest commit. Reads are synchronous, so a thread has at most one open snapshot.
   * @throws {AssertionError} when the previous one has not been released
   */
  snapshot(): Snapshot
  /**
   * Runs `work` on a state that includes the last commit that this thread knows to be durable.
   * `work` must not have side effects: it may be run a second time on a newer state.
   */
  read<T>(work: (snapshot: Snapshot) => T): T
  /** Frees derived memory. The underlying store stays open. */
  close(): void
}
