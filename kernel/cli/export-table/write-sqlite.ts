import { writeFileSync } from 'node:fs'
import type Libsql from 'libsql'
import { quoteName } from '../../../engine/command-line.ts'
import { driver } from '../clone-database/drivers.ts'
import type { ColumnKind, ExportColumn } from './export-column.ts'
import { isoDay, type TableRows } from './table-rows.ts'

type SqlValue = string | number | bigint

/** Common interface of the two drivers. */
interface Database {
  exec(sql: string): unknown
  prepare(sql: string): { run(...values: (SqlValue | null)[]): unknown }
  close(): unknown
}

/**
 * Writes an SQLite database with one table, in one transaction.
 * @throws {Error} there is no driver
 */
export async function writeSqlite(path: string, { dataClass, columns, parts }: TableRows): Promise<void> {
  writeFileSync(path, '', { mode: 0o600 })
  const database = await open(path)
  try {
    // An incomplete file is useless, so SQLite need not protect it.
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    database.exec(`CREATE TABLE ${quoteName(dataClass)} (${columns.map(definition).join(', ')}); BEGIN`)
    const insert = database.prepare(`INSERT INTO ${quoteName(dataClass)} VALUES (${columns.map(() => '?').join(', ')})`)
    const values = columns.map(({ kind }) => VALUES[kind])
    for await (const rows of parts)
      for (const cells of rows) insert.run(...cells.map((text, i) => (text === null ? null : values[i]!(text))))
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

async function open(path: string): Promise<Database> {
  const builtIn = process.getBuiltinModule?.('node:sqlite') as unknown as
    | { DatabaseSync: new (path: string) => Database }
    | undefined
  if (builtIn) return new builtIn.DatabaseSync(path)
  const Package = await driver<typeof Libsql>('libsql', 'writing SQLite needs Node.js 22.13 or later, or')
  return new Package(path) as unknown as Database
}

/** Declared types that `tesser clone` recognises; `TEXT` in a type keeps SQLite from reading digits as a number. */
const TYPES: Readonly<Record<ColumnKind, (column: ExportColumn) => string>> = {
  text: () => 'TEXT',
  bool: () => 'BOOLEAN',
  integer: () => 'INTEGER',
  long64: () => 'INTEGER',
  number: () => 'REAL',
  decimal: ({ scale }) => `DECIMAL_TEXT(18,${scale})`,
  date: () => 'DATETIME',
  day: () => 'DATE',
  duration: () => 'TIME_MS',
  uuid: () => 'UUID_TEXT',
  json: () => 'JSON_TEXT',
  vector: ({ dimension }) => `VECTOR_TEXT(${dimension})`,
}

const definition = (column: ExportColumn): string =>
  `${quoteName(column.name)} ${TYPES[column.kind](column)}${column.isKey ? ' PRIMARY KEY NOT NULL' : ''}`

const same = (text: string): string => text

const VALUES: Readonly<Record<ColumnKind, (text: string) => SqlValue>> = {
  text: same,
  bool: text => (text === 'true' ? 1 : 0),
  integer: Number,
  long64: BigInt,
  number: Number,
  decimal: same,
  date: same,
  day: isoDay,
  duration: Number,
  uuid: same,
  json: same,
  vector: same,
}
