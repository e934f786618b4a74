import type pg from 'pg'
import { ProtocolError } from '../../base/errors.ts'
import { loadPackage } from '../../base/load-package.ts'
import type { Note } from '../../data/store-options.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import { RemoteErrors, SILENT } from '../../data/remote-errors.ts'
import type { Cells, Statement } from '../sql/statement.ts'
import { BEGIN_SERIALIZABLE, type Command, prepareTransactions, SERIALIZE, setUser } from './commands-before.ts'
import type { Cancellation } from './cancellation.ts'
import { type Client, Clients } from './clients.ts'
import { runPrepared } from './prepared-query.ts'
import { Reachability } from './reachability.ts'
import { connectionStateOf, failureOf, isOutdated, stateOf } from './sql-states.ts'
import { WriteGate } from './write-gate.ts'

/** A database that has entities of dataclasses. Plain data. */
export interface Connection {
  /** `postgres://user@host:5432/database`. */
  readonly url: string
  /** Password; if undefined, the password in the address, if any. */
  readonly password?: string | undefined
  readonly maxConnections: number
  /** Setting that receives the name of the user of each request, for policies: `app.user`. If undefined, the name is not set. */
  readonly sessionVariable?: string | undefined
}

/** True if a database knows the users of requests. */
export const namesUsers = (connections: Readonly<Record<string, Connection>>): boolean =>
  Object.values(connections).some(({ sessionVariable }) => sessionVariable !== undefined)

/** Settings for texts in the forms that {@link ColumnForm} reads. */
const SESSION = [
  "SET datestyle = 'ISO, YMD'",
  "SET intervalstyle = 'postgres'",
  "SET timezone = 'UTC'",
  "SET bytea_output = 'hex'",
  'SET extra_float_digits = 1',
  "SET client_encoding = 'UTF8'",
  // Statements contain backslashes in string literals.
  'SET standard_conforming_strings = on',
  // Not every database with this wire protocol has these settings. Compiling the expressions of a statement takes longer than
  // running them; money is read in the number format of this server; arrays may contain null.
  `SELECT set_config(name, wanted, false) FROM pg_settings
   JOIN (VALUES ('jit', 'off'), ('lc_monetary', 'C'), ('array_nulls', 'on')) AS w (name, wanted) USING (name)`,
].join('; ')

/** Maximum number of statements that each connection keeps prepared. */
const MAX_PREPARED = 500
/** Maximum number of UTF-16 code units of a statement that is kept. */
const MAX_PREPARED_TEXT = 16_384
const NEEDED = 'a dataclass in PostgreSQL needs'
const CONNECT_MS = 5_000
const IDLE_MS = 60_000
/** Maximum time for a cancelled statement to end; after that, the connection is closed, because the database does not respond. */
const CANCEL_MS = 1_000

/** `query_canceled`: by a time limit, or by {@link Database.query}. */
const CANCELED = '57014'
/** Classes of errors of a server that is unavailable: connection exceptions, shutdowns, too few resources. */
const AWAY = /^(08|57P|53)/
/** The result of a prepared statement now has other columns, or the statement no longer exists: a new connection prepares it again. */
const OUTDATED = /^(0A000|26000)$/
/** Reason why a connection was closed. */
const HANGS = 'it does not answer a statement in time, nor its cancellation'
const RETRY_AFTER_SECONDS = 1

/** Limits of one statement. */
export interface StatementLimits {
  /** Milliseconds since 1970. */
  readonly deadlineAt: number
  /** Aborted when the answer is no longer needed. */
  readonly signal: Cancellation
  /** Name of the user for whom it runs; undefined or empty for a guest. */
  readonly user?: string | undefined
}

/** Runs a statement. @param before commands that are sent with it */
export type Run = (statement: Statement, before?: readonly Command[]) => Promise<Cells[]>

/** A target of changes: a database, or an open transaction in it. */
export interface Writable {
  /**
   * Makes changes in a transaction, or by a single statement, which is its own transaction. They are kept if `isKept` returns true.
   * @throws {ProtocolError} and unchanged errors of statements: nothing has changed
   */
  write<T>(
    limits: StatementLimits,
    work: (run: Run) => Promise<T>,
    options: { readonly isSingle: boolean; readonly isKept: (result: T) => boolean },
  ): Promise<T>
  errorOf(cause: unknown, signal?: Pick<Cancellation, 'aborted'>): Error
}

/** Connections to one database. */
export class Database implements Writable {
  /** Closed while a run of events that is repeated after a collision keeps other writes waiting. */
  readonly gate = new WriteGate()
  private opening: Promise<Clients> | undefined
  /** Set with the first connection. */
  private clients: Clients | undefined
  /** Names of prepared statements, by their texts. */
  private readonly names = new Map<string, string>()
  private readonly reachability: Reachability

  /**
   * @param timeoutMs maximum time of a statement, which the database enforces too
   * @param isSerializable true to make changes in serializable transactions: data that events have read could otherwise change unnoticed
   */
  constructor(
    readonly name: string,
    private readonly connection: Connection,
    private readonly timeoutMs: number,
    private readonly onNote: Note,
    private readonly isSerializable = false,
  ) {
    this.reachability = new Reachability(name, onNote)
  }

  /** Why the database is unavailable; undefined while it answers, and before the first statement. */
  get problem(): string | undefined {
    return this.reachability.problem
  }

  /**
   * Runs a statement. It is cancelled in the database when its time has expired or its answer is no longer needed.
   * @throws {ProtocolError}
   */
  query(statement: Statement, limits: StatementLimits): Promise<Cells[]> {
    return this.session(limits, async run => {
      if (limits.signal.aborted) throw QueryErrors.CANCELLED()
      try {
        return await run(statement)
      } catch (error) {
        throw this.errorOf(error, limits.signal)
      }
    })
  }

  /**
   * Runs statements on one connection. The running statement is cancelled when the time has expired or the signal aborts.
   * @param areSerializable true if each statement is its own serializable transaction
   * @throws errors of `work`: errors of statements are those of the database
   */
  async session<T>(
    { deadlineAt, signal, user = '' }: StatementLimits,
    work: (run: Run) => Promise<T>,
    areSerializable = false,
  ): Promise<T> {
    const client = await this.connect()
    let cancelling: Promise<unknown> | undefined
    let ending: NodeJS.Timeout | undefined
    const cancel = (): void => {
      cancelling ??= this.cancel(client.processID)
      // If a statement is running, this closes the socket.
      ending ??= setTimeout(() => void client.end(), CANCEL_MS)
    }
    const timer = setTimeout(cancel, Math.max(0, deadlineAt - Date.now()))
    signal.addEventListener('abort', cancel, { once: true })
    let isBroken = false
    const { sessionVariable: variable } = this.connection
    const settings = [
      ...(areSerializable ? [SERIALIZE] : []),
      ...(variable === undefined ? [] : [setUser(variable, user)]),
    ]
    const runNamed = (text: string, values: Statement['values'], before: readonly Command[]): Promise<Cells[]> => {
      // A failed transaction accepts only the command that ends it.
      const commands = settings.length === 0 || CONTROL.test(text) ? before : [...before, ...settings]
      return runPrepared(client, { name: this.nameOf(text), text, values }, commands)
    }
    const run: Run = async ({ text, values, isPlain }, before = []) => {
      // The cancellation may have come between two statements.
      if (cancelling) throw this.interrupted(signal)
      try {
        // Code can need a transaction where no event does, on a connection that has not prepared its commands.
        const areSent = before.length > 0 && (isPlain || !this.isSerializable)
        if (areSent) await client.query(before.map(each => each.text).join('; '))
        const rows = await (isPlain ? runPlain(client, text, values) : runNamed(text, values, areSent ? [] : before))
        this.reachability.answered()
        return rows
      } catch (error) {
        const isAnswer = isOfStatement(error as Error)
        if (isAnswer) this.reachability.answered()
        isBroken ||= !isAnswer || OUTDATED.test((error as { code: string }).code)
        throw cancelling && !isAnswer ? new Error(HANGS, { cause: error }) : error
      }
    }
    try {
      return await work(run)
    } finally {
      clearTimeout(timer)
      clearTimeout(ending)
      signal.removeEventListener('abort', cancel)
      // A late cancellation must not end the next statement of this connection.
      this.clients!.give(client, cancelling !== undefined || isBroken)
    }
  }

  async write<T>(
    limits: StatementLimits,
    work: (run: Run) => Promise<T>,
    { isSingle, isKept }: { readonly isSingle: boolean; readonly isKept: (result: T) => boolean },
  ): Promise<T> {
    const { isSerializable } = this
    if (isSerializable) await this.gate.pass()
    // True while the database may have applied the changes although no answer arrived.
    let isFinal = isSingle
    try {
      if (isSingle) return await this.session(limits, work, isSerializable)
      return await this.session(limits, async run => {
        await run({ text: isSerializable ? BEGIN_SERIALIZABLE.text : 'BEGIN', values: [] })
        try {
          const result = await work(run)
          isFinal = isKept(result)
          await run(isFinal ? COMMIT : ROLLBACK)
          return result
        } catch (error) {
          // The next statement of this connection must not be part of the transaction.
          await run(ROLLBACK).catch(() => {})
          throw error
        }
      })
    } catch (error) {
      if (error instanceof ProtocolError || isOfStatement(error as Error)) throw error
      const clientError = this.errorOf(error, limits.signal)
      throw isFinal && isLost(error as Error, clientError) ? RemoteErrors.OUTCOME_UNKNOWN(this.name) : clientError
    }
  }

  async close(): Promise<void> {
    const clients = await this.opening?.catch(() => undefined)
    await clients?.close()
  }

  private async connect(): Promise<Client> {
    try {
      if (!this.clients) {
        this.opening ??= this.open()
        this.clients = await this.opening
      }
      return await this.clients.take()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      this.reachability.failed(error as Error)
      const state = connectionStateOf((error as { code?: string }).code ?? '') ?? SILENT
      throw RemoteErrors.AWAY(this.name, state).retryAfter(RETRY_AFTER_SECONDS)
    }
  }

  private async open(): Promise<Clients> {
    const driver = await this.driver()
    const { maxConnections, sessionVariable } = this.connection
    const pool = new driver.Pool({
      connectionString: addressOf(this.connection),
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      application_name: 'tesser',
      keepAlive: true,
      ...((sessionVariable !== undefined || this.isSerializable) && {
        onConnect: async client => {
          if (sessionVariable !== undefined) await client.query(setUser(sessionVariable, '') as never)
          if (this.isSerializable) await prepareTransactions(client)
        },
      }),
    })
    // A lost connection fails the running statement; without a listener it would end the process.
    pool.on('error', () => {})
    pool.on('connect', client => {
      client.on('error', () => {})
      // The next statement of this connection waits for these settings.
      client.query(`${SESSION}; SET statement_timeout = ${this.timeoutMs}`).catch(() => {})
    })
    const refuse = (): Error => RemoteErrors.BUSY(this.name, CONNECT_MS / 1000).retryAfter(RETRY_AFTER_SECONDS)
    return new Clients(pool, maxConnections, CONNECT_MS, refuse)
  }

  private async cancel(processId: number): Promise<void> {
    const { Client } = await this.driver()
    const client = new Client({
      connectionString: addressOf(this.connection),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      application_name: 'tesser cancel',
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('SELECT pg_cancel_backend($1)', [processId])
    } catch {
      // The database ends the statement at its own time limit.
    } finally {
      await client.end().catch(() => {})
    }
  }

  private driver(): Promise<typeof pg> {
    return loadPackage<typeof pg>('pg', NEEDED)
  }

  private nameOf(text: string): string | undefined {
    if (text.length > MAX_PREPARED_TEXT) return undefined
    const knownName = this.names.get(text)
    if (knownName !== undefined || this.names.size >= MAX_PREPARED) return knownName
    const name = `tesser ${this.names.size + 1}`
    this.names.set(text, name)
    return name
  }

  private interrupted(signal: Pick<Cancellation, 'aborted'> | undefined): Error {
    return signal?.aborted ? QueryErrors.CANCELLED() : QueryErrors.TIMEOUT(this.timeoutMs)
  }

  /** The error for the client; the log gets the reason, which may show what the client may not see. */
  errorOf(cause: unknown, signal?: Pick<Cancellation, 'aborted'>): Error {
    const error = cause as Error & { code?: string }
    if (error.name.startsWith('QUERY.')) return error
    if (error.code === CANCELED) return this.interrupted(signal)
    if (isOfStatement(error)) {
      this.onNote(`database ${this.name}: ${error.code}: ${error.message}`, 'warn')
      return this.errorOfStatement(error.code!)
    }
    if (FAILED.test(error.code ?? '')) this.reachability.lacks(error)
    else this.reachability.failed(error)
    return RemoteErrors.AWAY(this.name, stateOf(error.code ?? '') ?? SILENT).retryAfter(RETRY_AFTER_SECONDS)
  }

  private errorOfStatement(code: string): Error {
    if (isOutdated(code)) return RemoteErrors.OUTDATED(this.name).retryAfter(RETRY_AFTER_SECONDS)
    const state = stateOf(code)
    return state === undefined
      ? RemoteErrors.REFUSED(this.name, failureOf(code))
      : RemoteErrors.AWAY(this.name, state).retryAfter(RETRY_AFTER_SECONDS)
  }
}

/** Runs a statement that may consist of several, which prepared statements do not. */
async function runPlain(client: Client, text: string, values: Statement['values']): Promise<Cells[]> {
  const query = { text, values, rowMode: 'array', types: AS_TEXTS }
  return ((await client.query(query as never)) as unknown as { rows: Cells[] }).rows
}

/** Statements that control a transaction and read no row. */
const CONTROL = /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)\b/

export const COMMIT: Statement = { text: 'COMMIT', values: [] }
export const ROLLBACK: Statement = { text: 'ROLLBACK', values: [] }

/** Address with the password: the driver treats parts that an address leaves out as empty, whatever its other options say. */
function addressOf({ url, password }: Connection): string {
  if (password === undefined) return url
  const address = new URL(url)
  address.searchParams.set('password', password)
  return address.href
}

/** Type parsers that leave all values as the texts that the server sends. */
const AS_TEXTS = { getTypeParser: () => (value: unknown) => value }

/**
 * True for an error of a statement, after which the connection can be used. System errors, such as `EPIPE`, have an error number as well.
 */
export const isOfStatement = ({ code, errno }: Error & { code?: string; errno?: number }): boolean =>
  code !== undefined && errno === undefined && /^[0-9A-Z]{5}$/.test(code) && !AWAY.test(code)

/** Errors that the database itself reports, after which nothing of a statement remains: too few resources. */
const FAILED = /^53/

/** True for the error of a statement that was cancelled, or whose time has expired. */
export const isCancelled = (error: unknown): boolean => (error as { code?: string }).code === CANCELED

/** True if a connection was lost, so that it is unknown whether its last statement was executed. */
export const isLost = ({ code }: Error & { code?: string }, { name }: Error): boolean =>
  name === 'REMOTE.AWAY' && !FAILED.test(code ?? '')

/** Codes of collisions with another transaction: serialization failure, deadlock. */
const COLLISION = /^40(001|P01)$/

/** True for an error of a transaction that can succeed when it is repeated. */
export const isCollision = (error: unknown): boolean => COLLISION.test((error as { code?: string }).code ?? '')
