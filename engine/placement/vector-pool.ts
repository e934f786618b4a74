import type { Catalog } from '../catalog/dataclass.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ReadStoreOptions } from '../data/read-store.ts'
import { decodeFound, type Searched, type VectorSearch } from '../vector/index/searched-indexes.ts'
import { ThreadGate } from '../vector/index/thread-gate.ts'
import { IndexStatus } from '../data/vector-index.ts'
import type { Caller } from '../caller/caller.ts'
import { type PoolEvents, type PoolOptions, QueryPool } from './query-pool.ts'
import type { VectorIndexOptions } from './tasks.ts'

/** The one thread that has the indexes of vectors, with a queue like that of the queries. */
export class VectorPool extends QueryPool<VectorSearch> {
  /** Which of the indexes can be used now. */
  readonly indexes: IndexStatus
  private readonly gate: ThreadGate

  constructor(
    catalog: Catalog,
    options: PoolOptions,
    store: ReadStoreOptions,
    limits: QueryLimits,
    index: VectorIndexOptions,
    events: PoolEvents,
    /** See {@link IndexStatus}; shared with all threads. */
    indexStatus: Int32Array,
  ) {
    const indexes = new IndexStatus(catalog, indexStatus)
    const gate = ThreadGate.allocate()
    const onThreadEnd = () => {
      indexes.clear()
      events.onThreadEnd?.()
    }
    const entry = {
      file: 'engine/threads/vector-thread.js',
      role: 'vector' as const,
      data: { index, indexStatus, gate },
    }
    super({ ...options, threads: 1 }, store, limits, { ...events, onThreadEnd }, entry)
    this.indexes = indexes
    this.gate = new ThreadGate(gate)
  }

  /** @throws {ProtocolError} as {@link run} */
  async search(search: VectorSearch, caller: Caller | undefined, deadlineAt: number): Promise<Searched> {
    return { ...search, found: decodeFound((await this.run(search, caller, deadlineAt)) as Uint8Array) }
  }

  override async close(): Promise<void> {
    await this.gate.close()
    await super.close()
  }
}
