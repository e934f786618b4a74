import { setImmediate } from 'node:timers/promises'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { type Change, changesBetween, DELETED, INSERTED } from '../storage/change-log.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { rowKey } from '../storage/keys.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { readGlobalStamp, readTableState } from '../storage/store-state.ts'
import { Allocator, type AllocatorState } from './allocator.ts'
import { Checkpoint, fingerprintOf } from './checkpoint.ts'
import { ROOT_GLOBAL_STAMP, ROOT_TABLES, ROOT_TEXTS } from './directory.ts'
import type { Workspace } from './pages.ts'
import { Reclaimer } from './reclaimer.ts'
import { SharedHeap } from './shared-heap.ts'
import { type Table, TableQueue } from './table-queue.ts'
import { type TableState, TableWriter } from './table-writer.ts'
import { TextTable } from './text-table.ts'

export interface MemoryWriterOptions {
  memory: WebAssembly.Memory
  environment: Environment
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
  /** Where images of the memory are kept: the folder of the store. */
  folder: string
  /** What must not happen; the memory is not used any more then. */
  onError?: (error: unknown) => void
  /** For the log: how the memory came to what it holds. */
  onNote?: (text: string) => void
}

/** What an image keeps of the writer, beside the memory itself. */
interface MemoryState {
  sequence: number
  root: number
  allocator: AllocatorState
  /** Address of their shards. */
  texts: number
  /** In the order of the catalog; null for one that does not fit. */
  tables: (TableState | null)[]
}

/** A row that a commit changed. */
export interface CommittedChange extends Change {
  /** Its bytes, where they are at hand; otherwise they are read again. */
  row?: Uint8Array
}

/** Rows between two looks at the clock. */
const ROWS_PER_STEP = 256
/** Changes between two looks at what else the thread has to do. */
const CHANGES_PER_STEP = 1_000

/**
 * Fills the shared memory and keeps it: the only mutator. Lives in the writer thread, beside the transactions, and makes
 * a version after each of them. Errors end the use of the memory, never a write: LMDB has everything.
 */
export class MemoryWriter {
  private readonly options: MemoryWriterOptions
  private readonly heap: SharedHeap
  private readonly checkpoint: Checkpoint<MemoryState>
  private space: Workspace
  private texts!: TextTable
  private readonly queue: TableQueue
  private root = 0
  private rootBorn = 0
  private globalStamp = 0
  private isOn = true
  private isMine = false
  private isLoading = false

  constructor(options: MemoryWriterOptions) {
    const { memory, environment, catalog, layouts, folder } = options
    this.options = options
    this.heap = new SharedHeap(memory)
    this.space = this.newSpace(this.heap.lastSequence)
    this.queue = new TableQueue(catalog, layouts, dataClass => this.tableState(dataClass).rowCount)
    const fingerprint = fingerprintOf(
      this.heap,
      this.tables.map(({ shape }) => shape),
    )
    this.checkpoint = new Checkpoint(environment, folder, fingerprint)
  }

  private get tables(): readonly Table[] {
    return this.queue.tables
  }

  /** True while there are dataclasses to be read: {@link build} has work. */
  get isBuilding(): boolean {
    return this.isOn && !this.isLoading && this.queue.first !== undefined
  }

  /** Takes the memory from the image of the store, if it has one that can be used. Meanwhile there may be commits. */
  async load(): Promise<void> {
    // Threads that knew it before keep views of pages which an image would bring back as they were.
    if (this.heap.lastSequence !== 0) return
    const start = performance.now()
    this.isLoading = true
    try {
      const image = await this.checkpoint.load(this.heap)
      if (!image) return
      this.restore(image.state)
      const changes = await this.catchUp(image.globalStamp)
      const milliseconds = Math.round(performance.now() - start)
      this.options.onNote?.(`the memory comes from its image, with ${changes} later changes: ${milliseconds} ms`)
    } catch (error) {
      const { onNote } = this.options
      onNote?.(
        `the image of the memory cannot be used: ${(error as Error).message}; the memory is filled from the store`,
      )
      this.reset()
    } finally {
      this.isLoading = false
    }
  }

  /** Changes of entities since the newest image: what a start with it would have to catch up with. */
  get changesSinceImage(): number {
    return this.isMine ? this.globalStamp - this.checkpoint.globalStamp : 0
  }

  /**
   * Writes an image of the memory as it is now. Meanwhile there may be commits.
   * @returns false when it cannot be now: something is still being filled or held by a reader
   * @throws {ImageGivenUp}; errors of the disk
   */
  async saveImage(bytesPerSecond: number, signal: AbortSignal): Promise<boolean> {
    const { heap, space, globalStamp } = this
    const { allocator, reclaimer } = space
    if (!this.isOn || !this.isMine || this.queue.first) return false
    reclaimer.reclaim()
    // What is waiting to be freed would be lost: it is known to this thread only.
    if (reclaimer.size > 0) return false
    await this.checkpoint.save(heap, allocator.end, { globalStamp, state: this.state }, bytesPerSecond, signal)
    return true
  }

  /**
   * Reads rows for some time. Between two calls there may be commits.
   * @param milliseconds about how long
   */
  build(milliseconds: number): void {
    this.guard(() => {
      if (!this.isMine) {
        // Somebody may still read what a writer before this one left.
        if (this.heap.pinned().length > 0) return
        this.isMine = true
        this.texts = new TextTable(this.space)
      }
      // This thread's reads are to see what it committed.
      this.options.environment.root.resetReadTxn()
      const end = performance.now() + milliseconds
      while (this.queue.first && performance.now() < end) this.buildTable(this.queue.first, end)
      if (!this.queue.first) this.heap.setBuilt()
    })
  }

  /** To be called with the changes of each durable commit, oldest first, before anyone is told of it. */
  committed(changes: readonly CommittedChange[], globalStamp: number): void {
    if (changes.length === 0 || !this.isMine) return
    this.guard(() => {
      for (const change of lastOfEach(changes)) this.apply(change)
      this.complete()
      this.publish(globalStamp)
    })
  }

  private apply(change: CommittedChange): void {
    const table = this.queue.find(change.tableNumber)
    if (!table?.writer || change.rowId >= table.next) return
    this.queue.fit(table, writer => {
      const row = change.operation === DELETED ? undefined : (change.row ?? this.row(change))
      if (row) writer.put(change.rowId, row)
      else writer.remove(change.rowId)
    })
  }

  private complete(): void {
    for (const table of this.tables) if (table.writer) this.queue.fit(table, writer => writer.complete())
  }

  // --- images

  private newSpace(lastSequence: number, state?: AllocatorState): Workspace {
    const { heap } = this
    return {
      heap,
      allocator: new Allocator(heap, state),
      reclaimer: new Reclaimer(heap),
      sequence: next(lastSequence),
    }
  }

  private get state(): MemoryState {
    return {
      sequence: this.rootBorn,
      root: this.root,
      allocator: this.space.allocator.state,
      texts: this.texts.shards,
      tables: this.tables.map(({ writer }) => writer?.state ?? null),
    }
  }

  private restore({ sequence, root, allocator, texts, tables }: MemoryState): void {
    this.space = this.newSpace(sequence, allocator)
    this.root = root
    this.rootBorn = sequence
    this.texts = new TextTable(this.space, texts)
    this.tables.forEach((table, i) => {
      const state = tables[i]!
      table.isOut = state === null
      table.keepsRows = state?.keepsRows ?? false
      table.next = Number.POSITIVE_INFINITY
      table.writer = state ? new TableWriter(this.space, table.shape, this.texts, table.keepsRows, state) : undefined
    })
    this.queue.clear()
  }

  /** As if nothing had been read. */
  private reset(): void {
    this.space = this.newSpace(this.heap.lastSequence)
    this.root = 0
    this.queue.reset()
  }

  /**
   * Brings the memory from the commit of an image to the newest one, and publishes it.
   * @returns how many changes that took
   * @throws {Error} when the change log does not reach back so far
   */
  private async catchUp(globalStamp: number): Promise<number> {
    const { environment } = this.options
    let count = 0
    for (let stamp = globalStamp; ; ) {
      // This thread's reads are to see what it committed.
      environment.root.resetReadTxn()
      const newest = readGlobalStamp(environment)
      if (newest === stamp) {
        for (const table of this.tables) table.writer?.setRowIdLimit(this.tableState(table.dataClass).nextRowId)
        this.isMine = true
        this.complete()
        this.publish(newest)
        if (!this.queue.first) this.heap.setBuilt()
        return count
      }
      const changes = changesBetween(environment, stamp, newest)
      if (!changes) throw new Error(`the store does not tell what has changed since its commit ${stamp}`)
      for (const change of changes) {
        this.apply(change)
        // Rows are read as they are now: what they were between does not matter.
        if (++count % CHANGES_PER_STEP === 0) {
          this.space.reclaimer.reclaim()
          await setImmediate()
        }
      }
      stamp = newest
    }
  }

  private buildTable(table: Table, end: number): void {
    const { environment } = this.options
    const isFitting = this.queue.fit(table, () => {
      table.writer ??= new TableWriter(this.space, table.shape, this.texts, table.keepsRows)
      const { nextRowId } = this.tableState(table.dataClass)
      const key = rowKey(table.dataClass.tableNumber, 0)
      while (table.next < nextRowId) {
        key.writeUInt32BE(table.next, 2)
        // One by one this costs half of what a cursor of lmdb-js does.
        const row = getBytes(environment.rows, key)
        if (row) table.writer.put(table.next, row)
        if (++table.next % ROWS_PER_STEP > 0) continue
        table.writer.putValues()
        if (performance.now() >= end) return
      }
      table.writer.putValues()
      table.writer.setRowIdLimit(nextRowId)
      while (table.writer.buildIndex()) if (performance.now() >= end) return
      // Rows that came between two of its indexes are still to come to their places in the first one.
      table.writer.complete()
      table.next = Number.POSITIVE_INFINITY
      this.queue.shift()
      this.publish(readGlobalStamp(environment))
    })
    if (!isFitting) this.publish(readGlobalStamp(environment))
  }

  private publish(globalStamp: number): void {
    const { heap, space } = this
    const { allocator, reclaimer, sequence } = space
    const bytes = (ROOT_TABLES + this.tables.length) * 4
    const root = allocator.allocate(bytes, 'directories')
    const at = root >>> 2
    heap.words[at] = sequence
    heap.floats[(at + ROOT_GLOBAL_STAMP) >>> 1] = globalStamp
    heap.words[at + ROOT_TEXTS] = this.texts.shards
    this.tables.forEach(({ writer, next }, i) => {
      heap.words[at + ROOT_TABLES + i] = writer && next === Number.POSITIVE_INFINITY ? writer.publish() : 0
    })
    const { root: old, rootBorn } = this
    if (old !== 0) reclaimer.retire(rootBorn, sequence, () => allocator.free(old, bytes, 'directories'))
    this.root = root
    this.rootBorn = sequence
    this.globalStamp = globalStamp
    heap.publish(root, sequence)
    // What is taken out from here on belongs to the next version.
    space.sequence = next(sequence)
    reclaimer.reclaim()
    heap.setUsed(allocator.used)
  }

  private row({ tableNumber, rowId }: Change): Uint8Array | undefined {
    const { root, rows } = this.options.environment
    // This thread's reads are to see what it has just committed.
    root.resetReadTxn()
    return getBytes(rows, rowKey(tableNumber, rowId))
  }

  private tableState({ tableNumber }: DataClass) {
    return readTableState(this.options.environment, tableNumber)
  }

  private guard(work: () => void): void {
    if (!this.isOn) return
    try {
      work()
    } catch (error) {
      this.isOn = false
      this.heap.invalidate()
      this.options.onError?.(error)
    }
  }
}

/** Sequences wrap around and are never 0. */
const next = (sequence: number): number => (sequence + 1) >>> 0 || 1

/** Only what a row is in the end counts. A row is inserted once, so that nothing has to be looked up among insertions. */
function lastOfEach(changes: readonly CommittedChange[]): Iterable<CommittedChange> {
  if (changes.every(({ operation }) => operation === INSERTED)) return changes
  // Row ids and table numbers together are below 2^48.
  return new Map(changes.map(change => [change.tableNumber * 2 ** 32 + change.rowId, change])).values()
}
