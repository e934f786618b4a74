import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import type { Reads } from './reads.ts'
import type { Snapshot, TableSnapshot } from './snapshot.ts'

/** Maximum number of single rows that are recorded for one table; above it, the whole table is treated as read. */
const MAX_ROWS = 100

/** Members of a table that read no data. */
const NOT_DATA: ReadonlySet<string | symbol> = new Set([
  'isRestricted',
  'rowsOnly',
  'fetch',
  'fetchReference',
  'fetchReferencing',
])

/**
 * A snapshot that records what is read from it: single rows where rows are read one by one, otherwise the whole table. Tables of databases,
 * which guard their own reads, are not recorded.
 */
export class RecordedSnapshot implements Snapshot {
  private readonly recorded = new Map<DataClass, TableSnapshot>()
  private readonly tables = new Set<number>()
  /** Global stamps by row id, for each table number. */
  private readonly rows = new Map<number, Map<number, number>>()

  constructor(private readonly snapshot: Snapshot) {}

  get globalStamp(): number {
    return this.snapshot.globalStamp
  }

  get vectorIndexes(): Snapshot['vectorIndexes'] {
    return this.snapshot.vectorIndexes
  }

  table(dataClass: DataClass): TableSnapshot {
    let table = this.recorded.get(dataClass)
    if (!table) {
      const baseTable = this.snapshot.table(dataClass)
      table = baseTable.rowsOnly ? baseTable : this.record(baseTable)
      this.recorded.set(dataClass, table)
    }
    return table
  }

  release(): void {
    this.snapshot.release()
  }

  /** Records a row that was read from another snapshot. */
  sawRow({ tableNumber }: DataClass, rowId: number, globalStamp: number): void {
    if (this.tables.has(tableNumber)) return
    const rows = this.rows.get(tableNumber)
    if (!rows) this.rows.set(tableNumber, new Map([[rowId, globalStamp]]))
    // Only the first read of a row counts.
    else if (!rows.has(rowId)) rows.set(rowId, globalStamp)
    if (rows?.size === MAX_ROWS) this.sawTable(tableNumber)
  }

  forgetRow({ tableNumber }: DataClass, rowId: number): void {
    this.rows.get(tableNumber)?.delete(rowId)
  }

  /** True if one of these rows has been read, or the table as a whole. */
  hasRead({ tableNumber }: DataClass, rowIds: ReadonlySet<number>): boolean {
    if (this.tables.has(tableNumber)) return true
    return [...(this.rows.get(tableNumber)?.keys() ?? [])].some(rowId => rowIds.has(rowId))
  }

  /** @returns undefined: nothing has been read */
  get reads(): Reads | undefined {
    const { globalStamp, tables } = this
    const rows = [...this.rows].flatMap(([table, stamps]) =>
      [...stamps].flatMap(([rowId, stamp]) => [table, rowId, stamp]),
    )
    return tables.size > 0 || rows.length > 0 ? { globalStamp, tables: [...tables], rows } : undefined
  }

  private sawTable(tableNumber: number): void {
    this.tables.add(tableNumber)
    this.rows.delete(tableNumber)
  }

  private record(table: TableSnapshot): TableSnapshot {
    const { dataClass } = table
    const { tableNumber } = dataClass
    const row: TableSnapshot['row'] = rowId => {
      const rowView = table.row(rowId)
      // A missing row may have been deleted or not created yet: any change of the table could concern it.
      if (rowView) this.sawRow(dataClass, rowId, rowView.globalStamp)
      else this.sawTable(tableNumber)
      return rowView
    }
    const findKey = (key: Value): number | undefined => {
      const rowId = table.findKey(key)
      // The key of a row never changes.
      if (rowId === undefined) this.sawTable(tableNumber)
      else row(rowId)
      return rowId
    }
    const overrides: Partial<TableSnapshot> = { dataClass, row, findKey }
    return new Proxy(table, {
      get: (_, name) => {
        if (name in overrides) return overrides[name as keyof TableSnapshot]
        if (NOT_DATA.has(name)) return Reflect.get(table, name) as unknown
        this.sawTable(tableNumber)
        const member: unknown = Reflect.get(table, name)
        return typeof member === 'function' ? member.bind(table) : member
      },
    })
  }
}
