import { type Environment, getBytes } from './environment.ts'
import { ROW_KEY_BYTES, rowKey } from './keys.ts'

const APPEND = { append: true }

/** The rows of all dataclasses, inside a write transaction. */
export class RowTable {
  private readonly key = Buffer.alloc(ROW_KEY_BYTES)

  constructor(private readonly table: Environment['rows']) {}

  /** Bytes of a row, valid until the next read from any table. */
  get(tableNumber: number, rowId: number): Uint8Array | undefined {
    return getBytes(this.table, rowKey(tableNumber, rowId, this.key))
  }

  put(tableNumber: number, rowId: number, row: Uint8Array): void {
    this.table.putSync(rowKey(tableNumber, rowId, this.key), row as Buffer)
  }

  /** Puts a row after all others ({@link isLast}), in two thirds of the time. */
  append(tableNumber: number, rowId: number, row: Uint8Array): void {
    this.table.putSync(rowKey(tableNumber, rowId, this.key), row as Buffer, APPEND)
  }

  remove(tableNumber: number, rowId: number): void {
    this.table.removeSync(rowKey(tableNumber, rowId, this.key))
  }

  /** True if there are no rows after those of a dataclass. */
  isLast(tableNumber: number): boolean {
    const [last] = this.table.getKeys({ reverse: true, limit: 1 })
    return last === undefined || last.readUInt16BE(0) <= tableNumber
  }
}
