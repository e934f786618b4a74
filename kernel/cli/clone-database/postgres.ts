import type pg from 'pg'
import { MISSING_PASSWORD, quoteName } from '../../../engine/command-line.ts'
import { driver } from './drivers.ts'
import { withPassword } from './password.ts'
import { readPostgresTables } from './postgres-catalog.ts'
import { type Cell, SourceError, type SourceTables, type SqlSource, type StreamedColumn } from './source.ts'

/** Settings for the text formats that the readers expect, and against timeouts that would end the long transaction. */
const SETTINGS = [
  'statement_timeout = 0',
  'lock_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
  "datestyle = 'ISO, YMD'",
  "intervalstyle = 'postgres'",
  "timezone = 'UTC'",
  "client_encoding = 'UTF8'",
  'extra_float_digits = 1',
  // A table of which this user sees only a part causes an error instead of being copied in part.
  'row_security = off',
]
const FETCH_CHARACTERS = 4 * 2 ** 20
const MAX_FETCH_ROWS = 8_192
/** Maximum number of rows per fetch where one row may be very large. */
const MAX_FETCH_BLOBS = 64
const NO_PASSWORD = /password|SASL/i

type Client = InstanceType<typeof pg.Client>

/** @throws {SourceError} {@link Error} of the server */
export async function openPostgres(address: string): Promise<SqlSource> {
  const { Client } = await driver<typeof pg>('pg', 'reading PostgreSQL needs')
  const url = new URL(address)
  const isInAddress = url.password !== '' || url.searchParams.has('password')
  let password: string | undefined
  const connect = async (): Promise<Client> => {
    const client = new Client({
      connectionString: address,
      ...(password !== undefined && { password }),
      application_name: 'tesser',
      // All values remain strings, as sent by the server.
      types: { getTypeParser: () => (value: unknown) => value } as never,
    })
    // A lost connection fails the running query; without a listener it would end the process.
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    return client
  }
  const client = await withPassword(
    answer => {
      password = answer
      return connect()
    },
    error => NO_PASSWORD.test((error as Error).message),
    isInAddress,
  ).catch(error => {
    throw new SourceError(`PostgreSQL: ${messageOf(error)}`, { cause: error })
  })
  const source = new Postgres(client, withoutPassword(address), isInAddress || password !== undefined, connect)
  await source.begin()
  return source
}

export function withoutPassword(address: string): string {
  const url = new URL(address)
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}

/** Message of an error; a host may have several addresses that all refuse. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  const { message } = error as Error
  return MISSING_PASSWORD.test(message)
    ? 'the database asks for a password, and there is none in the address, in PGPASSWORD or in .pgpass'
    : message
}

class Postgres implements SqlSource {
  readonly quote = quoteName
  private processId = ''
  constructor(
    private readonly client: Client,
    readonly address: string,
    readonly hasPassword: boolean,
    private readonly connect: () => Promise<Client>,
  ) {}

  async begin(): Promise<void> {
    for (const setting of SETTINGS) await this.client.query(`SET ${setting}`)
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    this.processId = String((await this.query('SELECT pg_backend_pid()'))[0]![0])
  }

  tables(views: ReadonlySet<string>): Promise<SourceTables> {
    return readPostgresTables(this, views)
  }

  async query(sql: string): Promise<Cell[][]> {
    return (await this.client.query({ text: sql, rowMode: 'array' })).rows as Cell[][]
  }

  async *stream(sql: string, columns: readonly StreamedColumn[]): AsyncGenerator<Cell[][]> {
    await this.query(`DECLARE tesser_rows NO SCROLL CURSOR FOR ${sql}`)
    const most = columns.some(({ isBinary }) => isBinary) ? MAX_FETCH_BLOBS : MAX_FETCH_ROWS
    try {
      for (let count = 1; ; ) {
        const rows = await this.query(`FETCH FORWARD ${count} FROM tesser_rows`)
        if (rows.length > 0) yield rows
        if (rows.length < count) return
        const size = rows.reduce(
          (sum, row) => sum + row.reduce<number>((all, cell) => all + String(cell ?? '').length, 0),
          0,
        )
        count = Math.max(1, Math.min(most, count * 4, Math.floor((FETCH_CHARACTERS * count) / size)))
      }
    } finally {
      // Fails after an error, because the error has already closed the cursor.
      await this.query('CLOSE tesser_rows').catch(() => {})
    }
  }

  async cancel(): Promise<void> {
    const other = await this.connect()
    await other.query(`SELECT pg_cancel_backend(${this.processId})`).finally(() => other.end())
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => {})
  }
}
