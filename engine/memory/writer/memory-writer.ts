import { setImmediate } from 'node:timers/promises'
import type { DataClass } from '../../catalog/dataclass.ts'
import { type Change, DELETED } from '../../data/change.ts'
import type { WritableStore } from '../../data/writable-store.ts'
import { Allocator, type AllocatorState } from '../heap/allocator.ts'
import { fingerprintOf, StoredImage } from '../image/stored-image.ts'
import { type Address, NO_ADDRESS, wordIndex } from '../heap/address.ts'
import { globalStampIndex, ROOT_SEQUENCE, ROOT_TABLES, ROOT_TEXTS } from '../heap/directory.ts'
import type { Workspace } from '../heap/pages.ts'
import { Reclaimer } from '../heap/reclaimer.ts'
import { SharedHeap } from '../heap/shared-heap.ts'
import { type QueuedTable, TableQueue } from './table-queue.ts'
import { type TableState, TableWriter } from './table-writer.ts'
import { TextTable } from '../text/text-table.ts'

interface MemoryWriterOptions {
  memory: WebAssembly.Memory
  store: Omit<WritableStore, 'transaction'>
  /** Folder of the store, in which images of the memory are kept. */
  folder: string
  /** Called with internal failures; the memory is not used afterwards. */
  onError?: (error: unknown) => void
  /** Receives notes for the log about how the memory was filled. */
  onNote?: (text: string, level?: 'warn') => void
  /** Minimum number of rows for which the log says that they are being read. Default: 300,000. */
  notedRows?: number
}

/** State of the writer saved in an image, beside the memory itself. */
interface MemoryState {
  sequence: number
  root: Address
  allocator: AllocatorState
  /** Address of the shards of texts. */
  texts: Address
  /** States of the tables, in the order of the catalog; null for a table that does not fit. */
  tables: (TableState | null)[]
}

/** A row that a commit changed. */
interface CommittedChange extends Change {
  /** Bytes of the row, if available; otherwise they are read again. */
  row?: Uint8Array
}

/** Memory that is provided at a time, in less than half a millisecond, and in advance. */
const PROVIDED_BYTES = 2 ** 17
const MAX_PROVIDED_BYTES = 2 ** 24
/** Rows between two checks of the clock. */
const ROWS_PER_STEP = 256
/** Reading this many rows takes a second or two. */
const NOTED_ROWS = 300_000
/** Changes applied before the thread yields to other work. */
const CHANGES_PER_STEP = 1_000

/**
 * Fills the shared memory and keeps it up to date: the only mutator. Runs in the writer thread, alongside the transactions, and creates a
 * version after each of them. Errors end the use of the memory, never a write: LMDB has everything.
 */
export class MemoryWriter {
  private readonly options: MemoryWriterOptions
  private readonly heap: SharedHeap
  private readonly image: StoredImage<MemoryState>
  private space: Workspace
  private texts!: TextTable
  private readonly queue: TableQueue
  private root = NO_ADDRESS
  private rootBorn = 0
  private globalStamp = 0
  private isEnabled = true
  private ownsMemory = false
  private isRestoring = false
  /** End of the memory that has been used or {@link provide}d, and of the memory that the next commit may use. */
  private providedEnd = 0
  private wantedEnd = 0
  /** Undefined while no rows are being read. */
  private fill: { rows: number; start: number } | undefined

  constructor(options: MemoryWriterOptions) {
    const { memory, store, folder } = options
    this.options = options
    this.heap = new SharedHeap(memory)
    this.space = this.newSpace(this.heap.lastSequence)
    this.queue = new TableQueue(store.catalog, store.layouts, dataClass => this.tableState(dataClass).rowCount)
    const fingerprint = fingerprintOf(
      store.formatVersion,
      this.heap,
      this.tables.map(({ shape }) => shape),
    )
    this.image = new StoredImage(store, folder, fingerprint)
  }

  private get tables(): readonly QueuedTable[] {
    return this.queue.tables
  }

  /** True while there are dataclasses to be read: {@link build} has work. */
  get isBuilding(): boolean {
    return this.isEnabled && !this.isRestoring && this.queue.first !== undefined
  }

  /** Restores the memory from the image of the store, if there is a usable one. Commits may run meanwhile. */
  async load(): Promise<void> {
    // Threads that have already used the memory hold views of pages, which an image would revert to an earlier state.
    if (this.heap.lastSequence !== 0) return
    const start = performance.now()
    this.isRestoring = true
    try {
      const image = await this.image.load(this.heap)
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
      this.isRestoring = false
    }
  }

  /** Number of entity changes since the newest image, with which a start from it would have to catch up. */
  get changesSinceImage(): number {
    return this.ownsMemory ? this.globalStamp - this.image.globalStamp : 0
  }

  /**
   * Writes an image of the memory as it is now. Commits may run meanwhile.
   * @returns false when that is impossible now: something is still being filled or held by a reader
   * @throws {ImageGivenUp} and errors of the disk
   */
  async saveImage(bytesPerSecond: number, signal: AbortSignal): Promise<boolean> {
    const { heap, space, globalStamp } = this
    const { allocator, reclaimer } = space
    if (!this.isEnabled || !this.ownsMemory || this.queue.first) return false
    reclaimer.reclaim()
    // Memory that waits to be freed would be lost: only this thread has the list.
    if (reclaimer.size > 0) return false
    await this.image.save(heap, allocator.end, { globalStamp, state: this.state }, bytesPerSecond, signal)
    return true
  }

  /**
   * Reads rows for some time. Commits may run between calls.
   * @param milliseconds approximate duration
   */
  build(milliseconds: number): void {
    this.guard(() => {
      if (!this.ownsMemory) {
        // A reader may still use memory that an earlier writer left.
        if (this.heap.pinned().length > 0) return
        this.ownsMemory = true
        this.texts = new TextTable(this.space)
      }
      // Lets this thread's reads see its own commits.
      this.options.store.records.refresh()
      this.fill ??= this.beginFill()
      const end = performance.now() + milliseconds
      while (this.queue.first && performance.now() < end) this.buildTable(this.queue.first, end)
      if (this.queue.first) return
      this.heap.setBuilt()
      this.endFill(this.fill)
    })
  }

  private beginFill(): { rows: number; start: number } {
    const { onNote, notedRows = NOTED_ROWS } = this.options
    const rows = this.queue.waitingRows
    if (rows >= notedRows)
      onNote?.(`reading ${rows.toLocaleString('en')} rows into memory: queries are slower until this is done`)
    return { rows, start: performance.now() }
  }

  private endFill({ rows, start }: { rows: number; start: number }): void {
    const { onNote, notedRows = NOTED_ROWS } = this.options
    this.fill = undefined
    if (rows >= notedRows)
      onNote?.(`${rows.toLocaleString('en')} rows were read into memory: ${Math.round(performance.now() - start)} ms`)
    const names = this.queue.newlyExcluded()
    if (names.length > 0)
      onNote?.(
        `there is no room in memory for ${names.join(', ')}: their queries read the disk; raise storage.memoryBytes`,
        'warn',
      )
  }

  /** Called with the changes of each durable commit, oldest first, before any caller is answered. */
  committed(changes: readonly CommittedChange[], globalStamp: number): void {
    if (changes.length === 0 || !this.ownsMemory) return
    const { end } = this.space.allocator
    this.guard(() => {
      for (const change of changes) this.apply(change)
      this.complete()
      this.publish(globalStamp)
    })
    const { allocator } = this.space
    this.providedEnd = Math.max(this.providedEnd, allocator.end)
    // Without the bound, a full memory would never have enough.
    this.wantedEnd = Math.min(allocator.end + Math.min(MAX_PROVIDED_BYTES, allocator.end - end), this.heap.size)
  }

  /** True if the last commit was large, and memory for another one is not ready yet. */
  get isShort(): boolean {
    return this.isEnabled && this.wantedEnd - this.providedEnd >= PROVIDED_BYTES
  }

  /**
   * Prepares some memory for the next large commit while this thread has nothing else to do: the first use of a page can take longer than
   * everything that is written to it.
   */
  provide(): void {
    this.heap.provide(this.providedEnd as Address, PROVIDED_BYTES)
    this.providedEnd += PROVIDED_BYTES
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
      table.doesNotFit = state === null
      table.keepsRows = state?.keepsRows ?? false
      table.next = Number.POSITIVE_INFINITY
      table.writer = state ? new TableWriter(this.space, table.shape, this.texts, table.keepsRows, state) : undefined
    })
    this.queue.clear()
  }

  /** Returns to the state in which nothing has been read. */
  private reset(): void {
    this.space = this.newSpace(this.heap.lastSequence)
    this.root = NO_ADDRESS
    this.queue.reset()
  }

  /**
   * Brings the memory from the commit of an image to the newest one, and publishes it.
   * @returns number of changes
   * @throws {Error} when the change log does not reach back far enough
   */
  private async catchUp(globalStamp: number): Promise<number> {
    const { records } = this.options.store
    let count = 0
    for (let stamp = globalStamp; ; ) {
      // Lets this thread's reads see its own commits.
      records.refresh()
      const newest = records.globalStamp()
      if (newest === stamp) {
        for (const table of this.tables) table.writer?.setRowIdLimit(this.tableState(table.dataClass).nextRowId)
        this.ownsMemory = true
        this.complete()
        this.publish(newest)
        if (!this.queue.first) this.heap.setBuilt()
        return count
      }
      const changes = records.changesBetween(stamp, newest)
      if (!changes) throw new Error(`the store does not tell what has changed since its commit ${stamp}`)
      for (const change of changes) {
        this.apply(change)
        // Rows are read in their current state: intermediate states do not matter.
        if (++count % CHANGES_PER_STEP === 0) {
          this.space.reclaimer.reclaim()
          await setImmediate()
        }
      }
      stamp = newest
    }
  }

  private buildTable(table: QueuedTable, end: number): void {
    const { records } = this.options.store
    const isFitting = this.queue.fit(table, () => {
      table.writer ??= new TableWriter(this.space, table.shape, this.texts, table.keepsRows)
      const { nextRowId } = this.tableState(table.dataClass)
      const bytesOf = records.rowReader(table.dataClass.tableNumber)
      while (table.next < nextRowId) {
        const row = bytesOf(table.next)
        if (row) table.writer.put(table.next, row)
        if (++table.next % ROWS_PER_STEP > 0) continue
        table.writer.putValues()
        if (performance.now() >= end) return
      }
      table.writer.putValues()
      table.writer.setRowIdLimit(nextRowId)
      while (table.writer.buildIndex()) if (performance.now() >= end) return
      // Rows that arrived while indexes were built are still to be inserted into the earlier ones.
      table.writer.complete()
      table.next = Number.POSITIVE_INFINITY
      this.queue.shift()
      this.publish(records.globalStamp())
    })
    if (!isFitting) this.publish(records.globalStamp())
  }

  private publish(globalStamp: number): void {
    const { heap, space } = this
    const { allocator, reclaimer, sequence } = space
    const bytes = (ROOT_TABLES + this.tables.length) * 4
    const root = allocator.allocate(bytes, 'directories')
    heap.words[wordIndex(root, ROOT_SEQUENCE)] = sequence
    heap.floats[globalStampIndex(root)] = globalStamp
    heap.words[wordIndex(root, ROOT_TEXTS)] = this.texts.shards
    this.tables.forEach(({ writer, next }, i) => {
      const isWhole = writer && next === Number.POSITIVE_INFINITY
      heap.words[wordIndex(root, ROOT_TABLES + i)] = isWhole ? writer.publish() : NO_ADDRESS
    })
    const { root: old, rootBorn } = this
    if (old !== 0) reclaimer.retire(rootBorn, sequence, () => allocator.free(old, bytes, 'directories'))
    this.root = root
    this.rootBorn = sequence
    this.globalStamp = globalStamp
    heap.publish(root, sequence)
    // Memory retired from here on belongs to the next version.
    space.sequence = next(sequence)
    reclaimer.reclaim()
    heap.setUsed(allocator.bytesByPart)
  }

  private row({ tableNumber, rowId }: Change): Uint8Array | undefined {
    const { records } = this.options.store
    // Lets this thread's reads see its own commits.
    records.refresh()
    return records.rowReader(tableNumber)(rowId)
  }

  private tableState({ tableNumber }: DataClass) {
    return this.options.store.records.tableState(tableNumber)
  }

  private guard(work: () => void): void {
    if (!this.isEnabled) return
    try {
      work()
    } catch (error) {
      this.isEnabled = false
      this.heap.invalidate()
      this.options.onError?.(error)
    }
  }
}

/** Sequences wrap around and are never 0. */
const next = (sequence: number): number => (sequence + 1) >>> 0 || 1
