import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { type Change, DELETED } from '../storage/change-log.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { rowKey } from '../storage/keys.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { readGlobalStamp, readTableState } from '../storage/store-state.ts'
import { Allocator, MemoryFull } from './allocator.ts'
import { ROOT_GLOBAL_STAMP, ROOT_TABLES, ROOT_TEXTS, type TableShape, tableShape } from './directory.ts'
import type { Workspace } from './pages.ts'
import { Reclaimer } from './reclaimer.ts'
import { SharedHeap } from './shared-heap.ts'
import { TableWriter } from './table-writer.ts'
import { TextTable } from './text-pool.ts'

export interface MemoryWriterOptions {
  memory: WebAssembly.Memory
  environment: Environment
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
  /** What must not happen; the memory is not used any more then. */
  onError?: (error: unknown) => void
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

/**
 * Fills the shared memory and keeps it: the only mutator. Lives in the writer thread, beside the transactions, and makes
 * a version after each of them. Errors end the use of the memory, never a write: LMDB has everything.
 */
export class MemoryWriter {
  private readonly options: MemoryWriterOptions
  private readonly heap: SharedHeap
  private readonly space: Workspace
  private texts!: TextTable
  /** In the order of the catalog. */
  private readonly tables: readonly Table[]
  private readonly byNumber: ReadonlyMap<number, Table>
  private readonly queue: Table[]
  private root = 0
  private rootBorn = 0
  private isOn = true
  private isMine = false

  constructor(options: MemoryWriterOptions) {
    const { memory, catalog, layouts } = options
    this.options = options
    this.heap = new SharedHeap(memory)
    const allocator = new Allocator(this.heap)
    this.space = {
      heap: this.heap,
      allocator,
      reclaimer: new Reclaimer(this.heap),
      sequence: next(this.heap.lastSequence),
    }
    this.tables = catalog.dataClasses.map(dataClass => ({
      dataClass,
      shape: tableShape(layouts.get(dataClass)!),
      writer: undefined,
      next: 0,
      keepsRows: true,
      isOut: false,
    }))
    this.byNumber = new Map(this.tables.map(table => [table.dataClass.tableNumber, table]))
    // Small ones first: that many more fit.
    const sizes = new Map(this.tables.map(table => [table, this.state(table).rowCount]))
    this.queue = [...this.tables].sort((a, b) => sizes.get(a)! - sizes.get(b)!)
  }

  /** True while there are dataclasses to be read: {@link build} has work. */
  get isBuilding(): boolean {
    return this.isOn && this.queue.length > 0
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
        this.texts = new TextTable(this.heap, this.space.allocator, this.space.reclaimer)
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
      // Only what a row is in the end counts. Row ids and table numbers together are below 2^48.
      const last = new Map(changes.map(change => [change.tableNumber * 2 ** 32 + change.rowId, change]))
      for (const change of last.values()) {
        const table = this.byNumber.get(change.tableNumber)
        if (!table?.writer || change.rowId >= table.next) continue
        this.fit(table, writer => {
          const row = change.operation === DELETED ? undefined : (change.row ?? this.row(change))
          if (row) writer.put(change.rowId, row)
          else writer.remove(change.rowId)
        })
      }
      this.publish(globalStamp)
    })
  }

  private buildTable(table: Table, end: number): void {
    const { environment } = this.options
    const isFitting = this.fit(table, () => {
      table.writer ??= new TableWriter(this.space, table.shape, this.texts, table.keepsRows)
      const { nextRowId } = this.state(table)
      const key = rowKey(table.dataClass.tableNumber, 0)
      while (table.next < nextRowId) {
        key.writeUInt32BE(table.next, 2)
        // One by one this costs half of what a cursor of lmdb-js does.
        const row = getBytes(environment.rows, key)
        if (row) table.writer.put(table.next, row)
        if (++table.next % ROWS_PER_STEP === 0 && performance.now() >= end) return
      }
      table.writer.setRowIdLimit(nextRowId)
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
    const root = allocator.allocate(bytes, true)
    const at = root >>> 2
    heap.words[at] = sequence
    heap.floats[(at + ROOT_GLOBAL_STAMP) >>> 1] = globalStamp
    heap.words[at + ROOT_TEXTS] = this.texts.table
    this.tables.forEach(({ writer, next }, i) => {
      heap.words[at + ROOT_TABLES + i] = writer && next === Number.POSITIVE_INFINITY ? writer.publish() : 0
    })
    const { root: old, rootBorn } = this
    if (old !== 0) reclaimer.retire(rootBorn, sequence, () => allocator.free(old, bytes))
    this.root = root
    this.rootBorn = sequence
    heap.publish(root, sequence)
    // What is taken out from here on belongs to the next version.
    space.sequence = next(sequence)
    reclaimer.reclaim()
    heap.setUsed(allocator.usedBytes)
  }

  private row({ tableNumber, rowId }: Change): Uint8Array | undefined {
    const { root, rows } = this.options.environment
    // This thread's reads are to see what it has just committed.
    root.resetReadTxn()
    return getBytes(rows, rowKey(tableNumber, rowId))
  }

  private state({ dataClass }: Table) {
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
