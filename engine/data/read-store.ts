import type { ThreadCounts } from '../base/counts/thread-counts.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RecordStore } from './record-store.ts'
import type { Snapshot } from './snapshot.ts'
import type { ReadingOptions } from './store-options.ts'

/** Plain data, so that it can be sent to the thread that is to read. */
export interface ReadStoreOptions extends ReadingOptions {
  /** Names of dataclasses of which code says what may be seen: threads without it do not read them. */
  restricted?: ReadonlySet<string>
  /** Memory that the writer thread keeps for all readers; undefined: there is none. */
  memory?: WebAssembly.Memory | undefined
}

/** A store as one thread reads it. */
export interface ReadStore {
  /** State, changes and further tables of the store. */
  readonly records: RecordStore
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Counters of the thread. */
  readonly counts: ThreadCounts
  /** Does something with the state after the newest commit. Not inside of itself: one snapshot at a time is open. */
  read<T>(work: (snapshot: Snapshot) => T): T
  /**
   * The same to hold on to, until it is released: for work with effects, which {@link read} might do twice.
   * @throws {AssertionError} when the one before has not been released
   */
  snapshot(): Snapshot
  /** Gives up the state that the last snapshot was of, so that the writer may use its pages again. Called after each task. */
  releaseSnapshot(): void
  close(): Promise<void>
}
