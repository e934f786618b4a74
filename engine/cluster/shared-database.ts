import { ProtocolError } from '../base/errors.ts'
import { RemoteErrors, SILENT } from '../data/remote-errors.ts'
import type { Note } from '../data/store-options.ts'
import { type Connection, Database } from '../postgres/database/database.ts'
import type { Cells, Statement } from '../postgres/sql/statement.ts'
import { SharedErrors } from './shared-errors.ts'
import { FIND_SETTINGS, FIND_VERSION, MAKE_TABLES, SHARED_VERSION, SWEEP_LOCK } from './shared-schema.ts'

/**
 * Connections of one server, separate from the connections for entities, where a slow statement would hold up every request of a session.
 */
const CONNECTIONS = 4
/** Maximum time of a statement. */
const STATEMENT_MS = 5_000
/** Time after a failure during which no query is sent, so that requests do not queue for an unavailable database. */
const PAUSE_MS = 500

type Run = (statement: Statement) => Promise<Cells[]>

/** The database in which several servers keep their shared data: the schema `tesser`, created on demand. */
export class SharedDatabase {
  private readonly database: Database
  private readonly never = new AbortController()
  private setup: Promise<void> | undefined
  private awayUntil = 0

  constructor(
    readonly name: string,
    connection: Connection,
    private readonly onNote: Note,
  ) {
    const ownConnection = { ...connection, maxConnections: CONNECTIONS }
    this.database = new Database(name, ownConnection, STATEMENT_MS, onNote)
  }

  /** @throws {ProtocolError} 503 if the database is unavailable */
  async query(text: string, ...values: (string | null)[]): Promise<Cells[]> {
    return this.attempt(() => this.database.query({ text, values }, this.limits()))
  }

  /**
   * Runs statements in one transaction, which is rolled back if `work` throws.
   * @throws {ProtocolError} 503 if the database is unavailable
   */
  async transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.attempt(() => this.inTransaction(work))
  }

  /** Runs work unless another server is running it. @returns undefined if another server is */
  async alone<T>(work: (run: Run) => Promise<T>): Promise<T | undefined> {
    return this.transaction(async run => {
      const [cells] = await run(statement(`SELECT pg_try_advisory_xact_lock(${SWEEP_LOCK})`))
      return cells?.[0] === 't' ? work(run) : undefined
    })
  }

  close(): Promise<void> {
    return this.database.close()
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    if (Date.now() < this.awayUntil) throw RemoteErrors.AWAY(this.name, SILENT).retryAfter(1)
    try {
      this.setup ??= this.make()
      await this.setup
      return await work()
    } catch (error) {
      // The tables may have been dropped.
      this.setup = undefined
      const { name } = error as Error
      if (name === 'REMOTE.AWAY' || name === 'REMOTE.BUSY') this.awayUntil = Date.now() + PAUSE_MS
      throw error
    }
  }

  private async make(): Promise<void> {
    const [settings] = await this.database.query(FIND_SETTINGS, this.limits())
    if (settings?.[0] !== 't') {
      await this.inTransaction(async run => {
        for (const each of MAKE_TABLES) await run(each)
      })
      this.onNote(`the tables of the schema "tesser" in the database ${this.name} were made`)
    }
    const [version] = await this.database.query(FIND_VERSION, this.limits())
    if (Number(version?.[0] ?? 0) > SHARED_VERSION) throw SharedErrors.NEWER(this.name)
  }

  private async inTransaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const limits = this.limits()
    try {
      return await this.database.session(limits, async run => {
        await run(statement('BEGIN'))
        try {
          const result = await work(run)
          await run(statement('COMMIT'))
          return result
        } catch (error) {
          await run(statement('ROLLBACK')).catch(() => {})
          throw error
        }
      })
    } catch (error) {
      throw error instanceof ProtocolError ? error : this.database.errorOf(error, limits.signal)
    }
  }

  private limits() {
    return { deadlineAt: Date.now() + STATEMENT_MS, signal: this.never.signal }
  }
}

const statement = (text: string): Statement => ({ text, values: [] })
