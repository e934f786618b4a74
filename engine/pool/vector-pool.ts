import type { Catalog } from '../catalog/dataclass.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import type { ReadStoreOptions } from '../memory/open-read-store.ts'
import { decodeFound, type Searched, type VectorSearch } from '../vector/searched-indexes.ts'
import { ThreadGate } from '../vector/thread-gate.ts'
import { IndexStatus } from '../vector/vector-index.ts'
import { type Caller, type PoolEvents, type PoolOptions, QueryPool } from './query-pool.ts'
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
    /** Of {@link IndexStatus}, shared with all threads. */
    indexStatus: Int32Array,
  ) {
    const indexes = new IndexStatus(catalog, indexStatus)
    const gate = ThreadGate.allocate()
    const onThreadEnd = () => {
      indexes.clear()
      events.onThreadEnd?.()
    }
    const entry = { file: 'engine/pool/vector-thread.js', data: { index, indexStatus, gate } }
    super({ ...options, threads: 1 }, store, limits, { ...events, onThreadEnd }, entry)
    this.indexes = indexes
    this.gate = new ThreadGate(gate)
  }

  /** @throws {ProtocolError} as {@link run} */
  async search(search: VectorSearch, caller: Caller | undefined, deadlineAt: number): Promise<Searched> {
    return { ...search, found: decodeFound(await this.run(search, caller, deadlineAt)) }
  }

  override async close(): Promise<void> {
    await this.gate.close()
    await super.close()
  }
}
