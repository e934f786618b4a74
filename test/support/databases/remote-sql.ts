import pg from 'pg'
import type { DataClass } from '../../../engine/catalog/dataclass.ts'
import { loadModel } from '../../../engine/catalog/load-model.ts'
import { publicView } from '../../../engine/catalog/view.ts'
import { readTables, tablesStatement } from '../../../engine/postgres/tables/read-tables.ts'
import type { RemoteTable } from '../../../engine/postgres/sql/remote-table.ts'
import type { SqlScope } from '../../../engine/postgres/sql/predicate-sql.ts'
import type { Statement } from '../../../engine/postgres/sql/statement.ts'
import { bindFilter } from '../../../engine/query/bind/bind-filter.ts'
import { bindOrderBy, type SortKey } from '../../../engine/query/bind/bind-order-by.ts'
import type { Predicate } from '../../../engine/query/bind/predicate.ts'
import { parseOrderBy } from '../../../engine/query/parse/parse-order-by.ts'
import { toParams } from '../../../engine/query/parse/parse-params.ts'
import { parseQuery } from '../../../engine/query/parse/parse-query.ts'
import { optimizePredicate } from '../../../engine/query/plan/optimize.ts'
import type { SqlServer } from './sql-servers.ts'

type Cells = readonly (string | null)[]

/** The dataclasses of a model whose tables are in one database, with statements run as the engine runs them. */
export interface RemoteSql {
  readonly scope: SqlScope
  dataClass(name: string): DataClass
  table(name: string): RemoteTable
  /** An optimized predicate. @param params values of placeholders */
  predicate(dataClass: string, filter: string, params?: unknown): Predicate
  orderBy(dataClass: string, text: string): SortKey[]
  run(statement: Statement): Promise<Cells[]>
  /** Another connection in the same form. */
  close(): Promise<void>
}

const SESSION =
  "SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET timezone = 'UTC'; SET extra_float_digits = 1; SET jit = off"
const AS_TEXTS = { getTypeParser: () => (text: string) => text }

export async function openRemoteSql(server: SqlServer, model: object): Promise<RemoteSql> {
  const catalog = loadModel(model)
  const view = publicView(catalog)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(SESSION)
  const run = async ({ text, values }: Statement): Promise<Cells[]> => {
    const query = { text, values: [...values], rowMode: 'array', types: AS_TEXTS }
    return ((await client.query(query as never)) as unknown as { rows: Cells[] }).rows
  }
  const remote = catalog.dataClasses.filter(each => each.remote)
  const tables = readTables(remote, await run(tablesStatement(remote)))
  const find = (dataClass: DataClass): RemoteTable | undefined => {
    const found = tables.get(dataClass)
    if (found && !('from' in found)) throw new Error(found.join('; '))
    return found
  }
  const dataClass = (name: string): DataClass => catalog.dataClassesByName.get(name)!
  return {
    scope: { tables: { find }, keysWhere: () => [], valuesWhere: () => [] },
    dataClass,
    table: name => find(dataClass(name))!,
    predicate(name, filter, params) {
      const { condition } = parseQuery(filter)
      const parsed = params === undefined ? undefined : toParams(params)
      return optimizePredicate(bindFilter(condition!, dataClass(name), parsed, view))
    },
    orderBy: (name, text) => bindOrderBy(parseOrderBy(text), dataClass(name), view),
    run,
    close: () => client.end(),
  }
}
