import { mysqlType } from './mysql-types.ts'
import {
  type Cell,
  ON_DELETE,
  type SourceColumn,
  type SourceTable,
  type SourceTables,
  type SqlSource,
} from './source.ts'

/** Kinds of tables that are copied. MariaDB lists sequences as tables, too. */
const KINDS = /^(BASE TABLE|SYSTEM VERSIONED)$/

/** Reads the catalog of one database. */
export async function readMysqlTables(
  source: SqlSource,
  database: string,
  views: ReadonlySet<string>,
): Promise<SourceTables> {
  // Every byte is written in hexadecimal digits, because a name may contain any character.
  const here = `CONVERT(X'${Buffer.from(database).toString('hex')}' USING utf8mb4)`
  const of = (schema: string): string => `WHERE ${schema} = ${here}`
  const notes: string[] = []
  const tableRows = await source.query(
    `SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES ${of('TABLE_SCHEMA')} ORDER BY TABLE_NAME`,
  )
  const columns = await source.query(
    `SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, EXTRA, COLUMN_DEFAULT, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE FROM information_schema.COLUMNS ${of('TABLE_SCHEMA')} ORDER BY TABLE_NAME, ORDINAL_POSITION`,
  )
  const indexes = await source.query(
    `SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE FROM information_schema.STATISTICS ${of('TABLE_SCHEMA')} ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
  )
  const foreignKeys = await source.query(
    `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, k.REFERENCED_TABLE_SCHEMA = ${here} FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME ${of('k.TABLE_SCHEMA')} AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`,
  )
  // In this view, only MariaDB has the table of a check, which it needs to mark JSON columns; MySQL has a type for JSON.
  const checks = await source
    .query(`SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS ${of('CONSTRAINT_SCHEMA')}`)
    .catch(() => [])
  const json = new Set(
    checks.flatMap(([table, clause]) => {
      const column = /^json_valid\(`((?:[^`]|``)*)`\)$/.exec(String(clause))?.[1]
      return column === undefined ? [] : [keyOf(table!, column.replaceAll('``', '`'))]
    }),
  )
  const tables = (tableRows as string[][]).flatMap(([name, kind, engine]): SourceTable[] => {
    const isView = kind === 'VIEW'
    if (!KINDS.test(kind!) && !(isView && views.has(name!))) return []
    if (!isView && engine !== 'InnoDB')
      notes.push(
        `table ${name} uses the engine ${engine}, which has no snapshots: changes while it is read may be copied in part`,
      )
    const indexRows = indexes.filter(([table]) => table === name)
    const parts = groups(
      indexRows.filter(row => row[5] === 'BTREE' || row[5] === 'HASH'),
      row => row[1]!,
    )
    const primary = parts.find(([first]) => first![1] === 'PRIMARY')
    // An index on a prefix of a value, or on an expression, says nothing about the column.
    const wholeIndexes = parts.filter(rows => rows.every(row => row[4] === null && row[3] !== null))
    return [
      {
        name: name!,
        from: source.quote(name!),
        isView,
        columns: columns.filter(([table]) => table === name).map(row => column(row, json)),
        primaryKey: primary?.map(row => String(row[3])) ?? [],
        uniques: wholeIndexes
          .filter(rows => rows !== primary && rows[0]![2] === '0')
          .map(rows => rows.map(row => String(row[3]))),
        indexed: new Set(wholeIndexes.map(rows => String(rows[0]![3]))),
        foreignKeys: groups(
          foreignKeys.filter(row => row[0] === name && row[6] === '1'),
          row => row[1]!,
        ).map(rows => ({
          columns: rows.map(row => String(row[2])),
          table: String(rows[0]![3]),
          references: rows.map(row => String(row[4])),
          onDelete: ON_DELETE[String(rows[0]![5])] ?? 'restrict',
        })),
      },
    ]
  })
  const otherViews = (tableRows as string[][]).flatMap(([name, kind]) =>
    kind === 'VIEW' && !views.has(name!) ? [name!] : [],
  )
  return { tables, views: otherViews, notes }
}

const keyOf = (table: Cell, column: string): string => JSON.stringify([table, column])

function column(row: Cell[], json: ReadonlySet<string>): SourceColumn {
  const [table, name, type, declaredType, isNullable, extra, initial, length, precision, scale] = row as string[]
  const increments = extra!.includes('auto_increment')
  return {
    name: name!,
    declaredType: declaredType!,
    isNullable: isNullable === 'YES',
    increments,
    // MariaDB reports the default NULL as the word NULL.
    hasDefault: initial !== null && initial !== 'NULL' && !increments,
    ...mysqlType({
      type: type!.toLowerCase(),
      declaredType: declaredType!.toLowerCase().startsWith('enum') ? declaredType! : declaredType!.toLowerCase(),
      length: Number(length),
      precision: Number(precision),
      scale: Number(scale),
      isJson: json.has(keyOf(table!, name!)),
    }),
  }
}

/** Groups consecutive rows that have the same key. */
function groups(rows: Cell[][], key: (row: Cell[]) => Cell): Cell[][][] {
  const result: Cell[][][] = []
  for (const row of rows) {
    const last = result.at(-1)
    if (last && key(last[0]!) === key(row)) last.push(row)
    else result.push([row])
  }
  return result
}
