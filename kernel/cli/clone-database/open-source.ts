import { closeSync, openSync, readSync } from 'node:fs'
import { SourceError, type SqlSource } from './source.ts'

const SERVERS = /^(postgres(?:ql)?|mysql|mariadb):\/\//i
const SQLITE_HEADER = 'SQLite format 3\0'

/** Opens a database. @throws {SourceError} with a remedy */
export async function openSource(address: string): Promise<SqlSource> {
  const scheme = SERVERS.exec(address)?.[1]?.toLowerCase()
  if (scheme === undefined) {
    const other = /^([a-z][a-z\d+.-]+):\/\//i.exec(address)?.[1]
    if (other)
      throw new SourceError(
        `${other} is not a database that can be copied; use postgres://, mysql://, mariadb:// or a SQLite file`,
      )
    return openFile(address.replace(/^sqlite:/, ''))
  }
  let url: URL
  try {
    // The host may be missing: the parameters name a socket, or the database is on this machine.
    url = new URL(address.replace(/^([a-z]+:\/\/[^/?#]*@)(?=\/|$)/i, '$1localhost'))
  } catch {
    // The address may contain a password.
    throw new SourceError(
      `the address of the database cannot be read; it is ${scheme}://user@host/database, with special characters percent-encoded`,
    )
  }
  return scheme.startsWith('postgres')
    ? (await import('./postgres.ts')).openPostgres(url.href)
    : (await import('./mysql.ts')).openMysql(url.href)
}

async function openFile(path: string): Promise<SqlSource> {
  const header = Buffer.alloc(SQLITE_HEADER.length)
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new SourceError(`there is no file ${path}`)
    throw error
  }
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  if (header.toString('latin1') !== SQLITE_HEADER) throw new SourceError(`${path} is not a SQLite 3 database`)
  return (await import('./sqlite.ts')).openSqlite(path)
}
