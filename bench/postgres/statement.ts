import type { EmployeeRow } from '../baseline/entities.ts'
import type { Pool } from './database.ts'

let preparedCount = 0

/** A prepared statement that runs as a separate transaction. */
export function statement<Values extends unknown[], Row = EmployeeRow>(
  pool: Pool,
  text: string,
): (...values: Values) => Promise<Row[]> {
  const name = `statement ${++preparedCount}`
  return async (...values) => (await pool.query<Row>({ name, text, values })).rows
}
