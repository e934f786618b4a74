import type { RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { ScalarType } from '../../catalog/value-type.ts'
import { FIRST_TASK_ROW } from '../../query/plan/nodes/remote-query.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import { keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { AttributeValues } from '../../write/value/attribute-values.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import type { ColumnForm } from '../sql/column-form.ts'
import { readIsoTime } from '../sql/read-text.ts'
import { Unfit } from '../sql/unfit.ts'
import type { Cells } from '../sql/statement.ts'

/** Called with each value that is treated as null, and the key of its row as the database writes it. */
type OnUnfit = (table: RemoteTable, attribute: StorageAttribute, key: string | null, unfit: Unfit) => void

/** Time of an entity whose table does not contain it. */
const NO_TIME = '1970-01-01T00:00:00.000Z'
/** Text of a reference, which encoders of references do not need. */
const NO_REFERENCES: readonly undefined[] = []

/** Row ids of keys that are not whole numbers, of several dataclasses. No row id is assigned twice until all have been used. */
export class RowNumbers {
  private readonly ids = new Map<DataClass, Map<string, number>>()
  private readonly keys = new Map<number, Value>()

  /** @param next returns the next number */
  constructor(private readonly next = counter()) {}

  idOf(dataClass: DataClass, text: string, key: Value): number {
    const ids = this.ids.get(dataClass) ?? new Map<string, number>()
    this.ids.set(dataClass, ids)
    let id = ids.get(text)
    if (id === undefined) {
      id = this.next()
      ids.set(text, id)
      this.keys.set(id, key)
    }
    return id
  }

  keyOf(rowId: number): Value | undefined {
    return this.keys.get(rowId)
  }
}

/** Counts row ids of tasks. */
export function counter(): () => number {
  let last = FIRST_TASK_ROW - 1
  return () => {
    last = last >= LAST_ROW ? FIRST_TASK_ROW : last + 1
    return last
  }
}

const LAST_ROW = 0xffff_fffe

/** Entities of one remote dataclass that a task has read, in the form of rows of the store. */
export class RemoteRows {
  /** Undefined for an entity that does not exist. */
  private readonly rows = new Map<number, RowView | undefined>()
  private readonly readers: readonly { readonly attribute: StorageAttribute; readonly read: ColumnForm['read'] }[]

  private lastTime = { text: '', iso: NO_TIME }
  /** Index of the key in a row of the database. */
  private readonly keyAt: number

  constructor(
    readonly table: RemoteTable,
    readonly layout: RowLayout,
    private readonly onUnfit: OnUnfit,
    private readonly numbers = new RowNumbers(),
  ) {
    const { columns, forms, dataClass } = table
    this.keyAt = [...columns.keys()].indexOf(dataClass.key)
    this.readers = Array.from(columns.keys(), attribute => ({ attribute, read: forms.get(attribute)!.read }))
  }

  /** Row id of a key, whether or not there is such an entity. */
  idOf(key: Value): number {
    const { dataClass } = this.table
    // Operands for a bool key are 0 and 1.
    const keyValue = dataClass.key.type === 'bool' ? Boolean(key) : key
    if (typeof keyValue === 'number' && Number.isInteger(keyValue) && keyValue >= 0 && keyValue < FIRST_TASK_ROW)
      return keyValue
    return this.numbers.idOf(dataClass, keyText(this.layout, keyValue), keyValue)
  }

  /**
   * Row id of the entity of a row of the database. @param at index of its key, by default the index in a whole row @throws
   * {RemoteErrors.VALUE}
   */
  keyIdOf(cells: Cells, at = this.keyAt): number {
    const { dataClass, forms } = this.table
    return this.idOf(this.key(forms.get(dataClass.key)!.read(cells[at]!)))
  }

  /** @returns undefined if the number belongs to another task */
  keyOf(rowId: number): Value | undefined {
    return rowId < FIRST_TASK_ROW ? rowId : this.numbers.keyOf(rowId)
  }

  /** Forgets a row that has changed. */
  delete(rowId: number): void {
    this.rows.delete(rowId)
  }

  has(rowId: number): boolean {
    return this.rows.has(rowId)
  }

  get(rowId: number): RowView | undefined {
    return this.rows.get(rowId)
  }

  /** Rows that have been read; undefined for those that do not exist. */
  loadedRows(): Iterable<RowView | undefined> {
    return this.rows.values()
  }

  /** Remembers that entities do not exist. */
  addMissing(rowIds: Iterable<number>): void {
    for (const rowId of rowIds) if (!this.rows.has(rowId)) this.rows.set(rowId, undefined)
  }

  /** Adds a row of the database. @returns its row id @throws {RemoteErrors.VALUE} */
  add(cells: Cells): number {
    const { rowId, row } = this.encode(cells)
    this.rows.set(rowId, row)
    return rowId
  }

  /**
   * Encodes a row of the database: values of the attributes in the order of the table, stamp, time.
   * @throws {RemoteErrors.VALUE}
   */
  encode(cells: Cells): { readonly rowId: number; readonly row: RowView } {
    const { dataClass } = this.table
    const values = new AttributeValues<RowAttribute>()
    let at = 0
    for (const { attribute, read } of this.readers) {
      const cell = cells[at++]!
      const value = cell === null ? null : read(cell)
      if (value instanceof Unfit) this.onUnfit(this.table, attribute, cells[this.keyAt] ?? null, value)
      values.set(attribute, value instanceof Unfit ? null : value)
    }
    const key = this.key(values.get(dataClass.key)!)
    for (const relation of this.layout.references) {
      const relatedKey = values.get(relation.foreignKey) ?? null
      const { key: targetKey } = relation.target
      values.set(
        relation,
        relatedKey === null
          ? null
          : TYPES[targetKey.type as ScalarType].keyText(relatedKey, targetKey, this.layout.wire),
      )
    }
    const rowId = this.idOf(key)
    const stamp = Number(cells[at] ?? 1) >>> 0
    const changeTime = cells[at + 1]
    const bytes = encodeRow(this.layout, {
      key: keyText(this.layout, key),
      stamp,
      globalStamp: stamp,
      timestamp: changeTime == null ? NO_TIME : this.timeOf(changeTime),
      values,
      references: NO_REFERENCES,
    })
    return { rowId, row: new RowView(this.layout, bytes, 0, bytes.length, true) }
  }

  /** Rows that were written together have the same time. */
  private timeOf(text: string): string {
    if (text !== this.lastTime.text) this.lastTime = { text, iso: isoTime(text) }
    return this.lastTime.iso
  }

  /** The key of a row, without which it has no address. @throws {RemoteErrors.VALUE} */
  private key(value: Value | Unfit): Value {
    if (value !== null && !(value instanceof Unfit)) return value
    throw RemoteErrors.VALUE(this.table.dataClass.name)
  }
}

/** ISO 8601 text with milliseconds for a time of the database. */
function isoTime(text: string): string {
  try {
    return readIsoTime(text)
  } catch {
    // The value is infinity.
    return NO_TIME
  }
}
