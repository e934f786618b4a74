import { buildCatalog } from '../catalog/build-catalog.ts'
import type { Catalog, DataClass, WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'
import type { TableNumbers } from '../catalog/table-numbers.ts'
import { shareMemory } from './shared-store.ts'
import { type Environment, openEnvironment } from '../storage/environment.ts'
import { loadLayouts } from '../storage/layouts.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import type { Snapshot } from '../storage/snapshot.ts'
import { openStore } from '../storage/store.ts'

/** Plain data, so that it can be sent to the thread that is to read. */
export interface ReadStoreOptions {
  /** Folder of the store. */
  path: string
  mapSizeBytes: number
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Memory for column segments of this thread. */
  cacheBytes: number
  /** Names of dataclasses of which code says what may be seen: threads without it do not read them. */
  restricted?: ReadonlySet<string>
  /** What the writer thread keeps for all readers; undefined: there is none. */
  memory?: WebAssembly.Memory | undefined
}

/** A store as one thread reads it. */
export interface ReadStore {
  readonly environment: Environment
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Does something with the state after the newest commit. Not inside of itself: one snapshot at a time is open. */
  read<T>(work: (snapshot: Snapshot) => T): T
  /**
   * The same to hold on to, until it is released: for work with effects, which {@link read} might do twice.
   * @throws {AssertionError} when the one before has not been released
   */
  snapshot(): Snapshot
  /**
   * Gives up the state that the last snapshot was of, so that the writer may use its pages again. Otherwise a timer of
   * lmdb-js does, which does not come in a thread that sleeps between its tasks.
   */
  rest(): void
  close(): Promise<void>
}

/**
 * Opens a store for reading, in the kernel thread and in every thread of the pool alike. The writer thread has brought it
 * to the model before.
 * @throws {Error} when the store was written for another model
 */
export function openReadStore(options: ReadStoreOptions): ReadStore {
  const environment = openEnvironment(options)
  // Checked before the writer was started, and loading the checker again would take each thread 0.1 s.
  const catalog = buildCatalog(options.model as Model, environment.meta.get('numbers') as TableNumbers)
  const layouts = loadLayouts(environment, catalog, options.wire)
  const { cacheBytes, memory } = options
  const store = shareMemory({
    store: openStore({ environment, catalog, layouts, cacheBytes }),
    memory,
    catalog,
    layouts,
    cacheBytes,
  })
  return {
    environment,
    catalog,
    layouts,
    read: work => store.read(work),
    snapshot: () => store.snapshot(),
    rest: () => environment.root.resetReadTxn(),
    async close() {
      store.close()
      await environment.close()
    },
  }
}
