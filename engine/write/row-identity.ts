import type { DataClass } from '../catalog/dataclass.ts'

/** A row of a dataclass. */
export interface TableRow {
  readonly dataClass: DataClass
  readonly rowId: number
}

/** Row ids have 32 bits and table numbers 16: together they are a number that a double holds. They are never used again. */
export const identify = ({ dataClass, rowId }: TableRow): number => dataClass.tableNumber * 2 ** 32 + rowId

/** The table number and the row id in an identity. */
export const identified = (row: number): { readonly tableNumber: number; readonly rowId: number } => ({
  tableNumber: Math.floor(row / 2 ** 32),
  rowId: row % 2 ** 32,
})
