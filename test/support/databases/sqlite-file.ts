import Sqlite from 'libsql'

/** Makes a file of SQLite. */
export function sqliteFile(path: string, sql: string): string {
  const database = new Sqlite(path)
  database.pragma('foreign_keys = off')
  database.exec(sql)
  database.close()
  return path
}
