import assert from 'node:assert/strict'
import { Suspended } from '../../data/suspended.ts'
import { threadId } from 'node:worker_threads'
import type { ThreadCounts } from '../../base/counts/thread-counts.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { SimdSegmentKernels } from '../../simd/segment-kernels.ts'
import { ColumnCache } from '../../columns/column-cache.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import type { Store } from '../../data/store.ts'
import { type Address, addressAt, NO_ADDRESS, wordAt } from '../heap/address.ts'
import { globalStampIndex, ROOT_SEQUENCE, ROOT_TABLES, ROOT_TEXTS, tableShape } from '../heap/directory.ts'
import { PAGE_BITS, PAGE_VALUES } from '../heap/pages.ts'
import { SCRATCH_BYTES, SharedHeap } from '../heap/shared-heap.ts'
import { SharedTable, TableCache } from './shared-table.ts'
import { SharedTexts, TEXT_LAYOUT } from '../text/text-pool.ts'
import { VECTOR_LAYOUT } from '../heap/vector-heap.ts'

interface SharedStoreOptions {
  /** The store in LMDB, which the writer fills the memory from. */
  store: Store
  memory: WebAssembly.Memory
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
  /** Memory of this thread for parsed objects. */
  cacheBytes: number
  /** Counters of this thread. */
  counts?: ThreadCounts | undefined
}

/** The store with the shared memory in front of it, if that exists and has a slot for this thread. */
export function shareMemory({
  memory,
  ...options
}: Omit<SharedStoreOptions, 'memory'> & { memory: WebAssembly.Memory | undefined }): Store {
  const slot = memory && new SharedHeap(memory).claimSlot(threadId)
  return slot === undefined ? options.store : new SharedStore({ ...options, memory: memory! }, slot)
}

/** Maximum time for which a reader waits for the version of a commit that it sees in LMDB. */
const VERSION_TIMEOUT_MS = 100

/** Reads from shared memory, and other data from LMDB, in the state after the same commit. */
export class SharedStore implements Store {
  readonly heap: SharedHeap
  readonly texts: SharedTexts
  private readonly caches: ReadonlyMap<DataClass, TableCache>
  private readonly positions: ReadonlyMap<DataClass, number>
  private readonly objects: ColumnCache
  private open: SharedSnapshot | undefined

  /** @param slot slot that only this reader uses */
  constructor(
    private readonly options: SharedStoreOptions,
    private readonly slot: number,
  ) {
    const { memory, catalog, layouts, cacheBytes, counts } = options
    this.heap = new SharedHeap(memory)
    this.texts = new SharedTexts(this.heap, NO_ADDRESS)
    this.objects = new ColumnCache(cacheBytes, counts)
    const layout = { present: PAGE_BITS, values: PAGE_VALUES, ...TEXT_LAYOUT, ...VECTOR_LAYOUT }
    const kernels = SimdSegmentKernels.open(memory, layout, this.heap.scratch(slot), SCRATCH_BYTES)
    this.positions = new Map(catalog.dataClasses.map((dataClass, i) => [dataClass, i]))
    this.caches = new Map(
      catalog.dataClasses.map(dataClass => {
        const shape = tableShape(layouts.get(dataClass)!)
        return [dataClass, new TableCache(this.heap, this.texts, shape, this.objects, kernels)]
      }),
    )
  }

  read<T>(work: (snapshot: Snapshot) => T): T {
    const snapshot = this.pin()
    if (snapshot) {
      try {
        const result = work(snapshot)
        if (!snapshot.isInterrupted) return result
      } catch (error) {
        if (!snapshot.isInterrupted) throw error
      } finally {
        snapshot.release()
      }
    }
    // The work needs LMDB, which has advanced meanwhile: run it again, with LMDB first.
    const both = this.snapshot()
    try {
      return work(both)
    } finally {
      both.release()
    }
  }

  snapshot(): Snapshot {
    const below = this.options.store.snapshot()
    for (const start = performance.now(); ; ) {
      const snapshot = this.pin(below)
      if (snapshot?.globalStamp === below.globalStamp) return snapshot
      snapshot?.close()
      const elapsedMs = performance.now() - start
      // A version follows its commit soon, unless the commit is large.
      const isComing = snapshot !== undefined && snapshot.globalStamp < below.globalStamp
      if (!isComing || elapsedMs > VERSION_TIMEOUT_MS) return below
      this.heap.waitForVersion(snapshot.sequence, VERSION_TIMEOUT_MS - elapsedMs)
    }
  }

  close(): void {
    this.objects.clear()
    this.heap.freeSlot(this.slot)
    this.options.store.close()
  }

  /** @param below the state in LMDB, if it is already open */
  private pin(below?: Snapshot): SharedSnapshot | undefined {
    assert(!this.open, 'a snapshot is still open in this thread')
    const { store } = this.options
    const { heap, slot } = this
    const root = heap.pin(slot)
    if (root === 0) return undefined
    this.texts.shards = addressAt(heap.words, root, ROOT_TEXTS)
    this.open = new SharedSnapshot(
      wordAt(heap.words, root, ROOT_SEQUENCE),
      heap.floats[globalStampIndex(root)]!,
      (dataClass, snapshot) => this.table(root, dataClass, snapshot),
      () => store.snapshot(),
      below,
      () => {
        heap.unpin(slot)
        this.open = undefined
      },
    )
    return this.open
  }

  private table(root: Address, dataClass: DataClass, snapshot: SharedSnapshot): TableSnapshot {
    if (!dataClass.place.isStore) throw new Suspended({ kind: 'entities', dataClass: dataClass.name })
    const directory = addressAt(this.heap.words, root, ROOT_TABLES + this.positions.get(dataClass)!)
    const below = () => snapshot.below().table(dataClass)
    if (directory === 0) return below()
    return new SharedTable(this.caches.get(dataClass)!, directory, below)
  }
}

class SharedSnapshot implements Snapshot {
  /** Tables by number. */
  private readonly tables: (TableSnapshot | undefined)[] = []
  private isOther = false
  /** Set when the work needed LMDB after it had advanced: the work must be repeated, even if it has continued. */
  isInterrupted = false
  private isClosed = false

  constructor(
    readonly sequence: number,
    readonly globalStamp: number,
    private readonly openTable: (dataClass: DataClass, snapshot: SharedSnapshot) => TableSnapshot,
    private readonly openBelow: () => Snapshot,
    /** The same state in LMDB, if it is already open. */
    private lmdb: Snapshot | undefined,
    private readonly unpin: () => void,
  ) {}

  table(dataClass: DataClass): TableSnapshot {
    const { tableNumber } = dataClass
    this.tables[tableNumber] ??= this.openTable(dataClass, this)
    return this.tables[tableNumber]
  }

  /** The same state in LMDB. @throws {Error} when LMDB has advanced: the work is interrupted then */
  below(): Snapshot {
    const below = this.belowIfSame()
    if (below) return below
    this.isInterrupted = true
    throw new Error('LMDB has gone on to another commit than the version of the memory that is being read')
  }

  belowIfSame(): Snapshot | undefined {
    if (this.lmdb || this.isOther) return this.lmdb
    const lmdb = this.openBelow()
    if (lmdb.globalStamp === this.globalStamp) this.lmdb = lmdb
    else {
      lmdb.release()
      this.isOther = true
    }
    return this.lmdb
  }

  release(): void {
    this.lmdb?.release()
    this.close()
  }

  /** Leaves LMDB open. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.unpin()
  }
}
