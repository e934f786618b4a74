import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type Database from 'better-sqlite3'
import { MODEL } from './model.ts'
import type { World } from './world.ts'

/** Stamps and times are stored as our server stores them, so that both send the same values. */
const SCHEMA = `
  CREATE TABLE Company (
    ID INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, city TEXT, country TEXT, sector TEXT, revenues REAL, founded TEXT,
    active INTEGER, phone TEXT, website TEXT, stamp INTEGER NOT NULL DEFAULT 1, timestamp TEXT NOT NULL
  );
  CREATE TABLE Employee (
    ID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT COLLATE NOCASE, salary REAL, birthDate TEXT, hired TEXT,
    woman INTEGER, department TEXT, email TEXT, notes TEXT, employerID INTEGER REFERENCES Company (ID),
    stamp INTEGER NOT NULL DEFAULT 1, timestamp TEXT NOT NULL
  );
`
/** The same indexes as in our model. */
const INDEXES = `
  CREATE INDEX CompanyName ON Company (name);
  CREATE INDEX EmployeeLastName ON Employee (lastName);
  CREATE INDEX EmployeeDepartment ON Employee (department);
  CREATE INDEX EmployeeEmployer ON Employee (employerID);
  ANALYZE;
`

/** Opens the database of a world: WAL, every commit synced, ample memory for pages. */
export function openDatabase(folder: string): Database.Database {
  // Installed by `node bench`, in a separate folder.
  const Sqlite = createRequire(`${resolve('bench')}/`)('better-sqlite3') as typeof Database
  const database = new Sqlite(join(folder, 'bench.sqlite'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('cache_size = -524288')
  database.pragma('mmap_size = 8589934592')
  database.pragma('temp_store = MEMORY')
  return database
}

/** Creates the tables. @returns a function that creates the indexes, to be called when the tables have been filled */
export function createTables(database: Database.Database): () => void {
  database.exec(SCHEMA)
  return () => void database.exec(INDEXES)
}

export const storageNames = (dataClass: keyof typeof MODEL.dataClasses): string[] =>
  Object.entries(MODEL.dataClasses[dataClass].attributes).flatMap(
    ([name, { kind = 'storage' }]: [string, { kind?: string }]) => (kind === 'storage' ? [name] : []),
  )

export function makeSqliteDatabase(folder: string, world: World, onProgress: (rows: number) => void): void {
  const database = openDatabase(folder)
  // Nothing to lose yet.
  database.pragma('synchronous = OFF')
  const createIndexes = createTables(database)
  const timestamp = new Date().toISOString()
  const insert = (dataClass: keyof typeof MODEL.dataClasses, count: number, entity: (row: number) => object) => {
    const names = storageNames(dataClass)
    const statement = database.prepare(
      `INSERT INTO ${dataClass} (${names.join(', ')}, timestamp) VALUES (${names.map(() => '?').join(', ')}, ?)`,
    )
    for (let row = 0; row < count; row++) {
      const values = entity(row) as Record<string, unknown>
      statement.run(...names.map(name => toSqlite(values[name])), timestamp)
      if (row % 10_000 === 0) onProgress(row)
    }
  }
  database.transaction(() => {
    insert('Company', world.companies, row => world.company(row))
    insert('Employee', world.employees, row => world.employee(row))
  })()
  createIndexes()
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

export const toSqlite = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value)
