import type { DataClass } from '../../catalog/dataclass.ts'

/** A row of a dataclass. */
export interface TableRow {
  readonly dataClass: DataClass
  readonly rowId: number
}

/** Number that identifies a row: row ids have 32 bits and table numbers 16, which fit into a double. Row ids are never reused. */
export const identify = ({ dataClass, rowId }: TableRow): number => dataClass.tableNumber * 2 ** 32 + rowId

/** Table number and row id of an identity. */
export const splitIdentity = (row: number): { readonly tableNumber: number; readonly rowId: number } => ({
  tableNumber: Math.floor(row / 2 ** 32),
  rowId: row % 2 ** 32,
})
