import { ALL_TABLES, type CatalogColumn, type CatalogTable, placeOf, readTable } from '../../../engine/command-line.ts'
import { postgresType } from './postgres-types.ts'
import {
  ON_DELETE,
  type SourceColumn,
  type SourcePlace,
  type SourceTable,
  type SourceTables,
  type SqlSource,
} from './source.ts'

const KINDS: Readonly<Record<string, SourcePlace['kind']>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
}

export async function readPostgresTables(source: SqlSource, views: ReadonlySet<string>): Promise<SourceTables> {
  const notes: string[] = []
  const otherViews: string[] = []
  const catalogTables = (await source.query(ALL_TABLES)).flatMap(row => readTable(row as string[]) ?? [])
  const uses = new Map<string, number>()
  for (const { name } of catalogTables) uses.set(name, (uses.get(name) ?? 0) + 1)
  /** Names by place. */
  const names = new Map<string, string>()
  const chosenTables = catalogTables.filter(table => {
    const { schema, name, kind, mayRead } = table
    // The schema is part of a name only if the name would otherwise be ambiguous.
    const isAlone = schema === 'public' || uses.get(name) === 1
    const ownName = isAlone ? name : `${schema}.${name}`
    if (!isTable(kind) && !views.has(ownName)) {
      if (mayRead) otherViews.push(ownName)
    } else if (!mayRead) notes.push(`table ${ownName} is left out: this user may not read it`)
    else names.set(placeOf(schema, name), ownName)
    return names.has(placeOf(schema, name))
  })
  return { tables: chosenTables.map(table => sourceTable(table, names, source)), views: otherViews, notes }
}

const isTable = (kind: string): boolean => kind === 'r' || kind === 'p'

function sourceTable(
  { schema, name, kind, columns, indexes, foreignKeys, hasHeirs, mayWrite }: CatalogTable,
  names: ReadonlyMap<string, string>,
  source: SqlSource,
): SourceTable {
  const wholeIndexes = indexes.filter(({ hasCondition }) => !hasCondition)
  return {
    name: names.get(placeOf(schema, name))!,
    // Rows of tables that inherit from this one are in those tables.
    from: `${kind === 'r' ? 'ONLY ' : ''}${source.quote(schema, name)}`,
    isView: !isTable(kind),
    place: { schema, table: name, kind: KINDS[kind]!, hasHeirs: kind !== 'p' && hasHeirs, mayWrite },
    columns: [...columns.values()].map(sourceColumn),
    primaryKey: indexes.find(({ isPrimary }) => isPrimary)?.columns.map(String) ?? [],
    // The catalog lists no column for an index on an expression.
    uniques: wholeIndexes.flatMap(each =>
      each.isUnique && !each.isPrimary && !each.columns.includes(null) ? [each.columns.map(String)] : [],
    ),
    indexed: new Set(wholeIndexes.map(each => each.columns[0] ?? '')),
    foreignKeys: foreignKeys.flatMap(({ columns, target, onDelete }) => {
      const table = names.get(placeOf(target.schema, target.table))
      if (table === undefined) return []
      return { columns, table, references: target.columns, onDelete: ON_DELETE[onDelete] ?? 'restrict' }
    }),
  }
}

function sourceColumn(column: CatalogColumn): SourceColumn {
  const initial = column.initial ?? column.domainInitial
  const isNumbered = initial?.startsWith('nextval(') === true
  return {
    name: column.name,
    declaredType: column.sqlType,
    isNullable: column.isNullable && !column.isMandatoryDomain,
    increments: column.identity !== '' || isNumbered,
    hasDefault: initial !== null && !isNumbered,
    isGenerated: column.isGenerated || column.identity === 'a',
    ...postgresType(column),
  }
}
