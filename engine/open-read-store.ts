import { ownCounts, type ThreadCounts } from './base/counts/thread-counts.ts'
import type { ReadStore, ReadStoreOptions } from './data/read-store.ts'
import { shareMemory } from './memory/reader/shared-store.ts'
import { openForReading } from './storage/open-for-reading.ts'

/**
 * Opens a store for reading, in any thread, with the shared memory in front of it. The writer thread has migrated it to the
 * model.
 * @param counts counters of the thread
 * @throws {Error} if the store was written for another model
 */
export function openReadStore(options: ReadStoreOptions, counts: ThreadCounts = ownCounts()): ReadStore {
  const { records, store: below, catalog, layouts, close } = openForReading(options, counts)
  const { cacheBytes, memory } = options
  const store = shareMemory({ store: below, memory, catalog, layouts, cacheBytes, counts })
  return {
    records,
    catalog,
    layouts,
    counts,
    read: work => store.read(work),
    snapshot: () => store.snapshot(),
    // A timer of lmdb-js would also release it, but does not fire in a thread that sleeps between its tasks.
    releaseSnapshot: () => records.refresh(),
    async close() {
      store.close()
      await close()
    },
  }
}
