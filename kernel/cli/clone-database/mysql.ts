import type mysql from 'mysql2'
import { driver } from './drivers.ts'
import { readMysqlTables } from './mysql-catalog.ts'
import { withPassword } from './password.ts'
import { withoutPassword } from './postgres.ts'
import { type Cell, SourceError, type SourceTables, type SqlSource, type StreamedColumn } from './source.ts'

type Connection = mysql.Connection

/**
 * Settings that keep the server from ending the long transaction, however long the client waits between rows. Each of the last two exists
 * in only one of the two servers.
 */
const SETTINGS = [
  "SESSION sql_mode = ''",
  "SESSION time_zone = '+00:00'",
  'SESSION net_write_timeout = 86400',
  'SESSION wait_timeout = 86400',
  'SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
]
const SETTINGS_OF_ONE = ['SESSION max_statement_time = 0', 'SESSION max_execution_time = 0']
const PART_BYTES = 1 * 2 ** 20
const PART_ROWS = 4_096
/** Rows that the driver reads ahead. */
const AHEAD_ROWS = 256

/** @throws {SourceError} {@link Error} of the server */
export async function openMysql(address: string): Promise<SqlSource> {
  const { createConnection } = await driver<typeof mysql>('mysql2', 'reading MariaDB and MySQL needs')
  const url = new URL(address)
  const database = decodeURIComponent(url.pathname.slice(1))
  if (database === '')
    throw new SourceError(
      `${withoutPassword(address)} names no database; write it after the host: ${url.protocol}//host/database`,
    )
  const inEnvironment = process.env.MYSQL_PWD
  let password = url.password ? decodeURIComponent(url.password) : inEnvironment
  const socketPath = url.searchParams.get('socket') ?? undefined
  const connect = async (): Promise<Connection> => {
    const connection = createConnection({
      ...(socketPath ? { socketPath } : { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 3306) }),
      user: decodeURIComponent(url.username) || process.env.USER || 'root',
      ...(password !== undefined && { password }),
      database,
      charset: 'utf8mb4',
      ...(/^(1|true|required)$/i.test(url.searchParams.get('ssl') ?? '') && { ssl: {} }),
      // Returns plain bytes, which this file converts to strings.
      typeCast: field => field.buffer(),
      rowsAsArray: true,
    })
    // A lost connection fails the running query; without a listener it would end the process.
    connection.on('error', () => {})
    await connection.promise().connect()
    return connection
  }
  const connection = await withPassword(
    answer => {
      password ??= answer
      return connect()
    },
    error => (error as NodeJS.ErrnoException).code === 'ER_ACCESS_DENIED_ERROR',
    password !== undefined,
  ).catch(error => {
    throw new SourceError(
      `${url.protocol.slice(0, -1)}: ${(error as Error).message || (error as NodeJS.ErrnoException).code}`,
      { cause: error },
    )
  })
  const source = new Mysql(connection, withoutPassword(address), database, connect)
  await source.begin()
  return source
}

class Mysql implements SqlSource {
  private connectionId = ''
  constructor(
    private readonly connection: Connection,
    readonly address: string,
    private readonly database: string,
    private readonly connect: () => Promise<Connection>,
  ) {}

  async begin(): Promise<void> {
    for (const setting of SETTINGS) await this.connection.promise().query(`SET ${setting}`)
    for (const setting of SETTINGS_OF_ONE)
      await this.connection
        .promise()
        .query(`SET ${setting}`)
        .catch(() => {})
    await this.connection.promise().query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    this.connectionId = String((await this.query('SELECT CONNECTION_ID()'))[0]![0])
  }

  tables(views: ReadonlySet<string>): Promise<SourceTables> {
    return readMysqlTables(this, this.database, views)
  }

  quote(...name: readonly string[]): string {
    return name.map(part => `\`${part.replaceAll('`', '``')}\``).join('.')
  }

  async query(sql: string): Promise<Cell[][]> {
    const [rows] = await this.connection.promise().query(sql)
    return (rows as (Buffer | null)[][]).map(row => row.map(cell => (cell === null ? null : cell.toString())))
  }

  async *stream(sql: string, columns: readonly StreamedColumn[]): AsyncGenerator<Cell[][]> {
    const isBinary = columns.map(column => column.isBinary === true)
    const rows = this.connection.query(sql).stream({ highWaterMark: AHEAD_ROWS })
    let part: Cell[][] = []
    let bytes = 0
    for await (const row of rows as AsyncIterable<(Buffer | null)[]>) {
      part.push(
        row.map((cell, i) => {
          bytes += cell?.length ?? 0
          return cell === null || isBinary[i] ? cell : cell.toString()
        }),
      )
      if (part.length < PART_ROWS && bytes < PART_BYTES) continue
      yield part
      part = []
      bytes = 0
    }
    if (part.length > 0) yield part
  }

  async cancel(): Promise<void> {
    const other = await this.connect()
    await other
      .promise()
      .query(`KILL QUERY ${this.connectionId}`)
      .finally(() => other.destroy())
  }

  async close(): Promise<void> {
    this.connection.destroy()
  }
}
