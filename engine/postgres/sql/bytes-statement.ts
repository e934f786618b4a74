import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { quoteName } from './quote.ts'
import type { RemoteTable } from './remote-table.ts'
import { PredicateSql } from './predicate-sql.ts'
import { NO_SCOPE, rowOf } from './statements.ts'
import type { Statement } from './statement.ts'

/**
 * Statement of the row with a key, as other statements have it, followed by: size of all bytes of a column, those from `start` to before
 * `end`, and for a table without stamps a digest of all of them, otherwise null.
 */
export function bytesStatement(
  table: RemoteTable,
  attribute: StorageAttribute,
  key: Value,
  start: number,
  end: number,
): Statement {
  const sql = new PredicateSql(NO_SCOPE)
  const from = sql.from(table)
  const column = `${from.alias}.${quoteName(table.columns.get(attribute)![0]!.name)}`
  const { add } = sql.parameters
  const part = `substring(${column} FROM ${add(String(start + 1), 'int4')} FOR ${add(String(end - start), 'int4')})`
  const digest = table.hasStamps ? 'NULL' : `md5(${column})`
  return sql.parameters.statement(
    `SELECT ${rowOf(from)}, octet_length(${column}), ${part}, ${digest} FROM ${from.source} WHERE ${sql.among(table.dataClass.key, [key], from)}`,
  )
}
