import type { Catalog } from '../../catalog/dataclass.ts'
import type { VectorSearch } from '../../data/vector-index.ts'
import { decodeFound, type Searched } from '../../vector/index/searched-indexes.ts'
import { ThreadGate } from '../../vector/index/thread-gate.ts'
import { IndexStatus } from '../../data/vector-index.ts'
import type { Caller } from '../../caller/caller.ts'
import { QueryPool, type QueryPoolOptions } from './query-pool.ts'
import type { VectorIndexOptions } from './messages.ts'

interface VectorPoolOptions extends Omit<QueryPoolOptions, 'threads' | 'entry' | 'answers' | 'counts'> {
  readonly catalog: Catalog
  readonly index: VectorIndexOptions
  /** See {@link IndexStatus}; shared with all threads. */
  readonly indexStatus: Int32Array
}

/** The single thread that has the indexes of vectors, with a queue like the query pool's. */
export class VectorPool extends QueryPool<VectorSearch> {
  /** Status of the indexes: whether each can be used now. */
  readonly indexes: IndexStatus
  private readonly gate: ThreadGate

  constructor({ catalog, index, indexStatus, events, ...options }: VectorPoolOptions) {
    const indexes = new IndexStatus(catalog, indexStatus)
    const gate = ThreadGate.allocate()
    const onThreadEnd = () => {
      indexes.clear()
      events?.onThreadEnd?.()
    }
    const entry = {
      file: 'engine/threads/vector-thread.js',
      role: 'vector' as const,
      data: { index, indexStatus, gate },
    }
    super({ ...options, threads: 1, events: { ...events, onThreadEnd }, entry })
    this.indexes = indexes
    this.gate = new ThreadGate(gate)
  }

  /** Runs a search. @throws {ProtocolError} as {@link run} */
  async search(search: VectorSearch, caller: Caller | undefined, deadlineAt: number): Promise<Searched> {
    return { ...search, found: decodeFound((await this.run(search, caller, deadlineAt)) as Uint8Array) }
  }

  override async close(): Promise<void> {
    await this.gate.close()
    await super.close()
  }
}
