import { sqliteType } from './sqlite-types.ts'
import {
  type Cell,
  ON_DELETE,
  type SourceForeignKey,
  type SourceTable,
  type SourceTables,
  type SqlSource,
} from './source.ts'

export async function readSqliteTables(source: SqlSource, views: ReadonlySet<string>): Promise<SourceTables> {
  const notes: string[] = []
  const tables: SourceTable[] = []
  const otherViews: string[] = []
  const tableRows = await source.query(
    `SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
  )
  for (const [name, type, isWithoutRowId] of tableRows as [string, string, Cell][]) {
    if (type === 'virtual') notes.push(`table ${name} is left out: it is virtual`)
    if (type === 'view' && !views.has(name)) otherViews.push(name)
    if (type === 'table' || (type === 'view' && views.has(name)))
      tables.push(await readTable(source, name, type === 'view', Boolean(Number(isWithoutRowId))))
  }
  return { tables: tables.map(table => withExactNames(table, tables)), views: otherViews, notes }
}

async function readTable(
  source: SqlSource,
  name: string,
  isView: boolean,
  isWithoutRowId: boolean,
): Promise<SourceTable> {
  const pragma = (what: string, columns: string, of = name): Promise<Cell[][]> =>
    source.query(`SELECT ${columns} FROM pragma_${what}('${of.replaceAll("'", "''")}')`)
  const rows = await pragma('table_xinfo', 'name, type, "notnull", dflt_value, pk, hidden')
  const primaryKey = rows
    .filter(row => Number(row[4]) > 0)
    .sort((a, b) => Number(a[4]) - Number(b[4]))
    .map(row => String(row[0]))
  const columns = rows.map(([column, declaredType, notNull, initial, key]) => {
    const isRowId =
      Number(key) > 0 && primaryKey.length === 1 && !isWithoutRowId && String(declaredType).toUpperCase() === 'INTEGER'
    return {
      name: String(column),
      declaredType: String(declaredType),
      isNullable: !Number(notNull),
      increments: isRowId,
      hasDefault: initial !== null,
      ...sqliteType(String(declaredType)),
    }
  })
  const indexes: { columns: string[]; isUnique: boolean; isOfKey: boolean }[] = []
  for (const [index, isUnique, origin, isPartial] of await pragma('index_list', 'name, "unique", origin, partial')) {
    const names = (await pragma('index_info', 'name', String(index))).map(([column]) => column)
    // An expression has no name.
    if (Number(isPartial) || names.includes(null)) continue
    indexes.push({ columns: names.map(String), isUnique: Boolean(Number(isUnique)), isOfKey: origin === 'pk' })
  }
  const names = new Set(columns.map(column => column.name.toLowerCase()))
  const rowId = ['rowid', '_rowid_', 'oid'].find(word => !names.has(word))
  return {
    name,
    from: source.quote(name),
    isView,
    columns,
    primaryKey,
    uniques: indexes.filter(index => index.isUnique && !index.isOfKey).map(index => index.columns),
    indexed: new Set(indexes.map(index => index.columns[0]!)),
    foreignKeys: await foreignKeys(pragma),
    rowNumber: isView || isWithoutRowId ? undefined : rowId,
  }
}

async function foreignKeys(pragma: (what: string, columns: string) => Promise<Cell[][]>): Promise<SourceForeignKey[]> {
  const keysById = new Map<
    Cell,
    { columns: string[]; table: string; references: string[]; onDelete: SourceForeignKey['onDelete'] }
  >()
  for (const [id, table, from, to, onDelete] of await pragma(
    'foreign_key_list',
    'id, "table", "from", "to", on_delete',
  )) {
    const key = keysById.get(id!) ?? {
      columns: [],
      table: String(table),
      references: [],
      onDelete: ON_DELETE[String(onDelete)] ?? 'restrict',
    }
    key.columns.push(String(from))
    if (to !== null) key.references.push(String(to))
    keysById.set(id!, key)
  }
  return [...keysById.values()]
}

/** Corrects the names of foreign keys, which may be spelled in another case; without columns, a foreign key refers to the primary key. */
function withExactNames(table: SourceTable, tables: readonly SourceTable[]): SourceTable {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const foreignKeys = table.foreignKeys.map((key): SourceForeignKey => {
    const other = tables.find(({ name }) => same(name, key.table))
    if (!other) return key
    const exact = (names: readonly string[], { columns }: SourceTable): string[] =>
      names.map(name => columns.find(column => same(column.name, name))?.name ?? name)
    const references = key.references.length > 0 ? exact(key.references, other) : other.primaryKey
    return { ...key, columns: exact(key.columns, table), table: other.name, references }
  })
  return { ...table, foreignKeys }
}
