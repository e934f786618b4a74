import type { ThreadCounts } from '../base/counts/thread-counts.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RecordStore } from './record-store.ts'
import type { Snapshot } from './snapshot.ts'
import type { ReadingOptions } from './store-options.ts'

/** Options of a {@link ReadStore}. Plain data, so that it can be sent to the thread that reads. */
export interface ReadStoreOptions extends ReadingOptions {
  /** Names of dataclasses with restrict events: threads without plugin code do not read them. */
  restricted?: ReadonlySet<string>
  /** Memory that the writer thread maintains for all readers; undefined if not used. */
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
  /** Runs `work` on the state after the newest commit. Not reentrant: only one snapshot is open at a time. */
  read<T>(work: (snapshot: Snapshot) => T): T
  /**
   * A snapshot that stays open until it is released: for work with side effects, which {@link read} might run twice.
   * @throws {AssertionError} when the previous one has not been released
   */
  snapshot(): Snapshot
  /** Releases the state of the last snapshot, so that the writer can reuse its pages. Called after each task. */
  releaseSnapshot(): void
  close(): Promise<void>
}
