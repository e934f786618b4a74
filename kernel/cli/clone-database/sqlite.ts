import type Libsql from 'libsql'
import { quoteName } from '../../../engine/command-line.ts'
import { driver } from './drivers.ts'
import { readSqliteTables } from './sqlite-catalog.ts'
import { type Cell, SourceError, type SourceTables, type SqlSource } from './source.ts'

const PART_ROWS = 4_096
const PART_BYTES = 1 * 2 ** 20

/** Common interface of the two drivers. */
interface Database {
  exec(sql: string): unknown
  /** Rows as arrays, with integers as bigints. */
  rows(sql: string): Iterable<Cell[]>
  /** @throws {SourceError} {@link rows} would not return all characters of a string */
  checkTexts?(sql: string): void
  close(): unknown
}

/** @throws {SourceError} the file is not a database, or cannot be read */
export async function openSqlite(path: string): Promise<SqlSource> {
  try {
    const database = (await openBuiltIn(path)) ?? (await openPackage(path))
    database.exec('BEGIN')
    // The snapshot begins with the first read.
    Array.from(database.rows('SELECT count(*) FROM sqlite_schema'))
    return new Sqlite(database, path)
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw new SourceError(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** Opens the file with the SQLite module of Node.js, which exists from version 22.13. */
async function openBuiltIn(path: string): Promise<Database | undefined> {
  if (!process.getBuiltinModule?.('node:sqlite')) return undefined
  // The types of the oldest supported version lack this module.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (path: string, options: object) => BuiltIn
  }
  const database = new DatabaseSync(path, { readOnly: true })
  return {
    exec: sql => database.exec(sql),
    *rows(sql) {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      for (const row of statement.iterate()) yield Object.values(row)
    },
    close: () => database.close(),
  }
}

interface BuiltIn {
  exec(sql: string): void
  prepare(sql: string): { setReadBigInts(isOn: boolean): void; iterate(): Iterable<Record<string, Cell>> }
  close(): void
}

async function openPackage(path: string): Promise<Database> {
  const Package = await driver<typeof Libsql>('libsql', 'reading SQLite needs Node.js 22.13 or later, or')
  const database = new Package(path, { readonly: true, fileMustExist: true })
  return {
    exec: sql => database.exec(sql),
    rows: sql => database.prepare(sql).raw().safeIntegers().iterate() as Iterable<Cell[]>,
    checkTexts(sql) {
      const columns = database.prepare(sql).columns()
      const quotedNames = columns.map(({ name }) => quoteName(name))
      const isCut = quotedNames.map(name => `(typeof(${name}) = 'text' AND instr(${name}, char(0)) > 0)`).join(' OR ')
      if (database.prepare(`SELECT 1 FROM (${sql}) WHERE ${isCut} LIMIT 1`).get() === undefined) return
      throw new SourceError(
        `${path} has text with a NUL character, which the package libsql reads only up to that character; use Node.js 22.13 or later`,
      )
    },
    close: () => database.close(),
  }
}

class Sqlite implements SqlSource {
  readonly quote = quoteName

  constructor(
    private readonly database: Database,
    readonly address: string,
  ) {}

  tables(views: ReadonlySet<string>): Promise<SourceTables> {
    return readSqliteTables(this, views)
  }

  async query(sql: string): Promise<Cell[][]> {
    return [...this.database.rows(sql)]
  }

  async *stream(sql: string): AsyncGenerator<Cell[][]> {
    this.database.checkTexts?.(sql)
    let part: Cell[][] = []
    let bytes = 0
    for (const row of this.database.rows(sql)) {
      part.push(row)
      for (const cell of row) if (typeof cell === 'string' || cell instanceof Uint8Array) bytes += cell.length
      if (part.length < PART_ROWS && bytes < PART_BYTES) continue
      yield part
      part = []
      bytes = 0
    }
    if (part.length > 0) yield part
  }

  /** Does nothing: reading stops at the end of a part, when no statement is running. */
  async cancel(): Promise<void> {}

  async close(): Promise<void> {
    this.database.close()
  }
}
