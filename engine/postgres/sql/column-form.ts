import type { Value } from '../../catalog/value.ts'

/** How the values of an attribute are read from its column. */
export interface ColumnForm {
  /** SQL of the value as {@link read} takes it. @param column quoted, perhaps with the table */
  select(column: string): string
  /** Value of a text that the database has sent. @throws {Error} with the reason why the attribute cannot have it */
  read(text: string): Value
}
