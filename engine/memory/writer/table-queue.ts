import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { MemoryFull } from '../heap/allocator.ts'
import { type TableShape, tableShape } from '../heap/directory.ts'
import type { TableWriter } from './table-writer.ts'

/** A dataclass that is being read into memory. */
export interface QueuedTable {
  readonly dataClass: DataClass
  readonly shape: TableShape
  /** Undefined while nothing of the dataclass is in memory. */
  writer: TableWriter | undefined
  /** Rows below it have been read; Infinity when all have. */
  next: number
  keepsRows: boolean
  /** True if the dataclass does not fit, not even without its rows. */
  doesNotFit: boolean
}

/** Queue of the dataclasses still to be read into memory; decides what is dropped when there is no room. */
export class TableQueue {
  /** In the order of the catalog. */
  readonly tables: readonly QueuedTable[]
  private readonly byNumber: ReadonlyMap<number, QueuedTable>
  private waitingTables: QueuedTable[]
  private readonly reported = new Set<QueuedTable>()

  constructor(
    catalog: Catalog,
    layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly rowCount: (dataClass: DataClass) => number,
  ) {
    this.tables = catalog.dataClasses.map(dataClass => ({
      dataClass,
      shape: tableShape(layouts.get(dataClass)!),
      writer: undefined,
      next: 0,
      keepsRows: true,
      doesNotFit: false,
    }))
    this.byNumber = new Map(this.tables.map(table => [table.dataClass.tableNumber, table]))
    this.waitingTables = this.smallestFirst()
  }

  /** Table that is being read; undefined when all have been. */
  get first(): QueuedTable | undefined {
    return this.waitingTables[0]
  }

  /** Rows of the dataclasses that have not been read completely. */
  get waitingRows(): number {
    return this.waitingTables.reduce((sum, { dataClass }) => sum + this.rowCount(dataClass), 0)
  }

  /** @returns names of the dataclasses that do not fit, each only the first time */
  newlyExcluded(): string[] {
    const found = this.tables.filter(table => table.doesNotFit && !this.reported.has(table))
    for (const table of found) this.reported.add(table)
    return found.map(({ dataClass }) => dataClass.name)
  }

  find(tableNumber: number): QueuedTable | undefined {
    return this.byNumber.get(tableNumber)
  }

  /** Removes the first table, which has been read. */
  shift(): void {
    this.waitingTables.shift()
  }

  /** Empties the queue, because an image contained all dataclasses. */
  clear(): void {
    this.waitingTables = []
  }

  /** Returns to the state in which nothing has been read. */
  reset(): void {
    for (const table of this.tables) {
      Object.assign(table, { writer: undefined, next: 0, keepsRows: true, doesNotFit: false })
    }
    this.waitingTables = this.smallestFirst()
  }

  /**
   * Runs `work`. If the memory is full, the dataclass is removed and read again later, without its rows or without the rows of another
   * dataclass: freed memory can be used after the next version.
   * @returns false if the memory was full
   */
  fit(table: QueuedTable, work: (writer: TableWriter) => void): boolean {
    try {
      work(table.writer!)
      return true
    } catch (error) {
      if (!(error instanceof MemoryFull)) throw error
      this.takeOut(table)
      if (table.keepsRows) table.keepsRows = false
      else {
        const candidates = this.tables.filter(({ writer }) => writer?.keepsRows)
        const largest = candidates.sort((a, b) => b.writer!.rowBytes - a.writer!.rowBytes)[0]
        if (largest) {
          largest.keepsRows = false
          this.takeOut(largest)
          this.enqueue(largest)
        } else table.doesNotFit = true
      }
      this.enqueue(table)
      return false
    }
  }

  private takeOut(table: QueuedTable): void {
    table.writer?.clear()
    table.writer = undefined
    table.next = 0
  }

  private enqueue(table: QueuedTable): void {
    const position = this.waitingTables.indexOf(table)
    if (position >= 0) this.waitingTables.splice(position, 1)
    if (!table.doesNotFit) this.waitingTables.push(table)
  }

  /** Smallest first, so that as many as possible fit. */
  private smallestFirst(): QueuedTable[] {
    const sizes = new Map(this.tables.map(table => [table, this.rowCount(table.dataClass)]))
    return [...this.tables].sort((a, b) => sizes.get(a)! - sizes.get(b)!)
  }
}
