import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../../../engine/catalog/value.ts'
import { fold } from '../../../../engine/base/text/fold.ts'
import type { TableState } from '../../../../engine/data/record-store.ts'
import type { RowLayout } from '../../../../engine/row-format/row-layout.ts'
import { RowView } from '../../../../engine/row-format/row-view.ts'

/** Tables of one state. A transaction changes copies, so that a state that is being read stays as it is. */
export type MemoryTables = ReadonlyMap<DataClass, MemoryTable>

/** Row id of a key without an entity. */
export const NO_ENTITY = 0xefff_ffff

/** Values as they are compared: texts by their folds, a bool like the operand 0 or 1. */
export const comparable = (value: Value | true): unknown =>
  typeof value === 'string' ? fold(value) : typeof value === 'boolean' ? Number(value) : value

/** Entities of one dataclass, by row ids that are never used again. */
export class MemoryTable {
  readonly rows: Map<number, RowView>
  readonly state: TableState
  /** Values of images and blobs, by row id and attribute. */
  readonly binaries: Map<string, BinaryValue>
  /** Row ids by comparable keys. */
  private readonly ids: Map<unknown, number>

  constructor(
    readonly layout: RowLayout,
    before?: MemoryTable,
  ) {
    this.rows = new Map(before?.rows)
    this.ids = new Map(before?.ids)
    this.binaries = new Map(before?.binaries)
    this.state = before ? { ...before.state } : { nextRowId: 0, rowCount: 0, nextAutoIncrement: 1 }
  }

  idOf(key: Value): number | undefined {
    return this.ids.get(comparable(key))
  }

  keyOf(rowId: number): Value {
    return (this.rows.get(rowId)?.value(this.layout.dataClass.key) ?? null) as Value
  }

  /** Rows with a value, ascending. */
  rowsWith(attribute: StorageAttribute, value: Value): number[] {
    const wanted = comparable(value)
    return [...this.rows].flatMap(([rowId, row]) => (comparable(row.value(attribute)) === wanted ? rowId : []))
  }

  put(rowId: number, bytes: Uint8Array): void {
    this.rows.set(rowId, new RowView(this.layout, bytes, 0, bytes.length, true))
    this.ids.set(comparable(this.keyOf(rowId)), rowId)
    this.state.rowCount = this.rows.size
  }

  remove(rowId: number): void {
    this.ids.delete(comparable(this.keyOf(rowId)))
    this.rows.delete(rowId)
    this.state.rowCount = this.rows.size
  }
}

export const copyOf = (tables: MemoryTables): MemoryTables =>
  new Map([...tables].map(([dataClass, table]) => [dataClass, new MemoryTable(table.layout, table)]))
