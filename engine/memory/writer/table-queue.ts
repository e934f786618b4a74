import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { MemoryFull } from '../heap/allocator.ts'
import { type TableShape, tableShape } from '../heap/directory.ts'
import type { TableWriter } from './table-writer.ts'

/** A dataclass on its way into memory. */
export interface QueuedTable {
  readonly dataClass: DataClass
  readonly shape: TableShape
  /** Undefined while the dataclass is not in memory and nothing of it either. */
  writer: TableWriter | undefined
  /** Rows below it have been read; Infinity when all have. */
  next: number
  keepsRows: boolean
  /** It does not fit, not even without its rows. */
  doesNotFit: boolean
}

/** The dataclasses: which of them are still to be read into memory, and what gives way when there is no room. */
export class TableQueue {
  /** In the order of the catalog. */
  readonly tables: readonly QueuedTable[]
  private readonly byNumber: ReadonlyMap<number, QueuedTable>
  private waiting: QueuedTable[]

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
    this.waiting = this.smallestFirst()
  }

  /** Table that is read now; undefined when all are. */
  get first(): QueuedTable | undefined {
    return this.waiting[0]
  }

  find(tableNumber: number): QueuedTable | undefined {
    return this.byNumber.get(tableNumber)
  }

  /** The first has been read. */
  shift(): void {
    this.waiting.shift()
  }

  /** Nothing is to be read: it came from an image. */
  clear(): void {
    this.waiting = []
  }

  /** As if nothing had been read. */
  reset(): void {
    for (const table of this.tables) {
      Object.assign(table, { writer: undefined, next: 0, keepsRows: true, doesNotFit: false })
    }
    this.waiting = this.smallestFirst()
  }

  /**
   * Runs `work`. When there is no room for it, the dataclass is taken out, and read again with less of it or of others:
   * what is freed can be used after the next version.
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
        const others = this.tables.filter(({ writer }) => writer?.keepsRows)
        const largest = others.sort((a, b) => b.writer!.rowBytes - a.writer!.rowBytes)[0]
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
    const position = this.waiting.indexOf(table)
    if (position >= 0) this.waiting.splice(position, 1)
    if (!table.doesNotFit) this.waiting.push(table)
  }

  /** Smallest first, so that as many as possible fit. */
  private smallestFirst(): QueuedTable[] {
    const sizes = new Map(this.tables.map(table => [table, this.rowCount(table.dataClass)]))
    return [...this.tables].sort((a, b) => sizes.get(a)! - sizes.get(b)!)
  }
}
