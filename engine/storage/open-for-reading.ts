import type { ThreadCounts } from '../base/counts/thread-counts.ts'
import { buildCatalog } from '../catalog/build-catalog.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'
import type { TableNumbers } from '../catalog/table-numbers.ts'
import type { RecordStore } from '../data/record-store.ts'
import type { Store } from '../data/store.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import { openEnvironment } from './environment.ts'
import { loadLayouts } from './layouts.ts'
import { LmdbRecords } from './lmdb-records.ts'
import { openStore } from './store.ts'
import type { ReadingOptions } from '../data/store-options.ts'

/** A store that a thread has opened for reading. */
interface OpenedForReading {
  readonly records: RecordStore
  readonly store: Store
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  close(): Promise<void>
}

/**
 * Opens a store after its writer has brought it to the model.
 * @throws {Error} when the store was written for another model
 */
export function openForReading(
  { model, wire, cacheBytes, ...location }: ReadingOptions,
  counts: ThreadCounts,
): OpenedForReading {
  const environment = openEnvironment(location)
  // The model was checked before the writer was started; loading the checker again would take each thread 0.1 s.
  const catalog = buildCatalog(model as Model, environment.meta.get('numbers') as TableNumbers, wire)
  const layouts = loadLayouts(environment, catalog, wire)
  const store = openStore({ environment, catalog, layouts, cacheBytes, counts })
  return {
    records: new LmdbRecords(environment),
    store,
    catalog,
    layouts,
    async close() {
      store.close()
      await environment.close()
    },
  }
}
