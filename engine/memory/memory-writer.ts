import { setImmediate } from 'node:timers/promises'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { type Change, changesBetween, DELETED, INSERTED } from '../storage/change-log.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { rowKey } from '../storage/keys.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { readGlobalStamp, readTableState } from '../storage/store-state.ts'
import { Allocator, type AllocatorState, MemoryFull } from './allocator.ts'
import { Checkpoint, fingerprintOf } from './checkpoint.ts'
import { ROOT_GLOBAL_STAMP, ROOT_TABLES, ROOT_TEXTS, type TableShape, tableShape } from './directory.ts'
import type { Workspace } from './pages.ts'
import { Reclaimer } from './reclaimer.ts'
import { SharedHeap } from './shared-heap.ts'
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

/** A dataclass on its way into memory. */
interface Table {
  readonly dataClass: DataClass
  readonly shape: TableShape
  /** Undefined while the dataclass is not in memory and nothing of it either. */
  writer: TableWriter | undefined
  /** Rows below it have been read; Infinity when all have. */
  next: number
  keepsRows: boolean
  /** It does not fit, not even without its rows. */
  isOut: boolean
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
  /** In the order of the catalog. */
  private readonly tables: readonly Table[]
  private readonly byNumber: ReadonlyMap<number, Table>
  private queue: Table[]
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
    this.tables = catalog.dataClasses.map(dataClass => ({
      dataClass,
      shape: tableShape(layouts.get(dataClass)!),
      writer: undefined,
      next: 0,
      keepsRows: true,
      isOut: false,
    }))
    const fingerprint = fingerprintOf(
      this.heap,
      this.tables.map(({ shape }) => shape),
    )
    this.checkpoint = new Checkpoint(environment, folder, fingerprint)
    this.byNumber = new Map(this.tables.map(table => [table.dataClass.tableNumber, table]))
    this.queue = this.smallestFirst()
  }

  /** True while there are dataclasses to be read: {@link build} has work. */
  get isBuilding(): boolean {
    return this.isOn && !this.isLoading && this.queue.length > 0
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
    if (!this.isOn || !this.isMine || this.queue.length > 0) return false
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
      while (this.queue.length > 0 && performance.now() < end) this.buildTable(this.queue[0]!, end)
      if (this.queue.length === 0) this.heap.setBuilt()
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
    const table = this.byNumber.get(change.tableNumber)
    if (!table?.writer || change.rowId >= table.next) return
    this.fit(table, writer => {
      const row = change.operation === DELETED ? undefined : (change.row ?? this.row(change))
      if (row) writer.put(change.rowId, row)
      else writer.remove(change.rowId)
    })
  }

  private complete(): void {
    for (const table of this.tables) if (table.writer) this.fit(table, writer => writer.complete())
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
    this.queue = []
  }

  /** As if nothing had been read. */
  private reset(): void {
    this.space = this.newSpace(this.heap.lastSequence)
    this.root = 0
    for (const table of this.tables) {
      Object.assign(table, { writer: undefined, next: 0, keepsRows: true, isOut: false })
    }
    this.queue = this.smallestFirst()
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
        for (const table of this.tables) table.writer?.setRowIdLimit(this.tableState(table).nextRowId)
        this.isMine = true
        this.complete()
        this.publish(newest)
        if (this.queue.length === 0) this.heap.setBuilt()
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

  /** That many more fit. */
  private smallestFirst(): Table[] {
    const sizes = new Map(this.tables.map(table => [table, this.tableState(table).rowCount]))
    return [...this.tables].sort((a, b) => sizes.get(a)! - sizes.get(b)!)
  }

  private buildTable(table: Table, end: number): void {
    const { environment } = this.options
    const isFitting = this.fit(table, () => {
      table.writer ??= new TableWriter(this.space, table.shape, this.texts, table.keepsRows)
      const { nextRowId } = this.tableState(table)
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

  /**
   * Runs `work`. When there is no room for it, the dataclass is taken out, and read again with less of it or of others:
   * what is freed can be used after the next version.
   */
  private fit(table: Table, work: (writer: TableWriter) => void): boolean {
    try {
      work(table.writer!)
      return true
    } catch (error) {
      if (!(error instanceof MemoryFull)) throw error
      this.takeOut(table)
      if (table.keepsRows) table.keepsRows = false
      else {
        const others = this.tables.filter(({ writer }) => writer?.keepsRows)
        const largest = others.sort((a, b) => b.writer!.rowBytes - a.writer!.rowBytes)[0]
        if (largest) {
          largest.keepsRows = false
          this.takeOut(largest)
          this.enqueue(largest)
        } else table.isOut = true
      }
      this.enqueue(table)
      return false
    }
  }

  private takeOut(table: Table): void {
    table.writer?.clear()
    table.writer = undefined
    table.next = 0
  }

  private enqueue(table: Table): void {
    const position = this.queue.indexOf(table)
    if (position >= 0) this.queue.splice(position, 1)
    if (!table.isOut) this.queue.push(table)
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

  private tableState({ dataClass }: Table) {
    return readTableState(this.options.environment, dataClass.tableNumber)
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
