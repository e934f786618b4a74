import { ProtocolError } from '../../base/errors.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Cancellation } from './cancellation.ts'
import { BEGIN_SERIALIZABLE, CHECK_AT_ONCE, type Command, MARK, UNMARK } from './commands-before.ts'
import {
  COMMIT,
  type Database,
  isCollision,
  isLost,
  ROLLBACK,
  type Run,
  type StatementLimits,
  type Writable,
} from './database.ts'
import { isConflict, refusalOf } from './sql-states.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** A transaction that code begins. Plain data. */
export interface Holding {
  readonly connection: string
  /** Name of the dataclass whose entities it changes. */
  readonly dataClass: string
  /** True to check deferred constraints with each change, so that each change is refused individually. */
  readonly checksAtOnce: boolean
  /** True if no other write of this server begins while the transaction is open. */
  readonly isAlone: boolean
  /** True if the transaction is repeated after a collision; no other write begins in between. */
  readonly repeats: boolean
}

/** `collided`: other transactions have changed data that it has read, or have conflicted with it, so that nothing is kept. */
export type Ended = 'kept' | 'undone' | 'collided'

const UNDO: Statement = { text: 'ROLLBACK TO SAVEPOINT held', values: [] }
/** Integrity constraint violations, which a commit finds where they are deferred. */
const VIOLATION = /^23/

/**
 * A transaction that stays open between the questions of a function thread: events of entities read in it, then the entities are written in
 * it. It is serializable, so it cannot be committed when other serializable transactions have changed data that it has read.
 */
export class HeldTransaction implements Writable {
  private isCollided = false
  /** Set when the transaction can no longer be used. */
  private failure: unknown
  /** Commands to be sent with the next statement. */
  private before: readonly Command[]
  private hasBegun = false

  private constructor(
    readonly holding: Holding,
    private readonly database: Database,
    private readonly signal: Cancellation,
    private readonly send: Run,
    private readonly release: () => void,
  ) {
    this.before = [BEGIN_SERIALIZABLE, ...(holding.checksAtOnce ? [CHECK_AT_ONCE] : []), MARK]
  }

  /** @throws {ProtocolError} the database does not answer */
  static begin(database: Database, holding: Holding, limits: StatementLimits): Promise<HeldTransaction> {
    return new Promise((resolve, reject) => {
      const work = (send: Run): Promise<void> =>
        new Promise(release => resolve(new HeldTransaction(holding, database, limits.signal, send, release)))
      database
        .session(limits, work)
        .catch(error => reject(error instanceof ProtocolError ? error : database.errorOf(error, limits.signal)))
    })
  }

  /** @throws {ProtocolError} the transaction is as it was before */
  async query(statement: Statement): Promise<Cells[]> {
    try {
      return await this.attempt(() => this.run(statement))
    } catch (error) {
      throw this.errorOf(error)
    }
  }

  write<T>(
    _: StatementLimits,
    work: (run: Run) => Promise<T>,
    { isKept }: { readonly isKept: (result: T) => boolean },
  ): Promise<T> {
    return this.attempt(async () => {
      const result = await work(this.run)
      if (isKept(result)) this.before = [UNMARK, MARK]
      else await this.run(UNDO)
      return result
    })
  }

  errorOf(cause: unknown): Error {
    return cause instanceof ProtocolError ? cause : this.database.errorOf(cause, this.signal)
  }

  /** @throws {ProtocolError} nothing is kept, unless the connection was lost with the commit */
  async end(keep: boolean): Promise<Ended> {
    try {
      if (!this.hasBegun) return keep ? 'kept' : 'undone'
      if (!keep || this.failure) {
        await this.send(ROLLBACK).catch(() => {})
        if (this.isCollided) return 'collided'
        if (keep) throw this.errorOf(this.failure)
        return 'undone'
      }
      return await this.commit()
    } finally {
      this.release()
    }
  }

  private readonly run = (statement: Statement): Promise<Cells[]> => {
    const { before } = this
    this.before = []
    this.hasBegun = true
    return this.send(statement, before)
  }

  private async commit(): Promise<Ended> {
    try {
      await this.send(COMMIT)
      return 'kept'
    } catch (error) {
      if (isCollision(error)) return 'collided'
      const { connection, dataClass } = this.holding
      const { code = '' } = error as { code?: string }
      if (isConflict(code)) throw RemoteErrors.CONFLICTING_ENTITY(dataClass, refusalOf(code)!)
      if (VIOLATION.test(code)) throw RemoteErrors.REFUSED_ENTITY(dataClass, refusalOf(code)!)
      const clientError = this.errorOf(error)
      throw isLost(error as Error, clientError) ? RemoteErrors.OUTCOME_UNKNOWN(connection) : clientError
    }
  }

  /** Runs work whose changes are all undone if it throws. */
  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    if (this.failure) throw this.failure
    try {
      return await work()
    } catch (error) {
      if (isCollision(error)) {
        this.isCollided = true
        this.failure = RemoteErrors.CHANGING(this.holding.dataClass).retryAfter(1)
        throw this.failure
      }
      await this.run(UNDO).catch(undoError => {
        this.failure = undoError
      })
      throw error
    }
  }
}
