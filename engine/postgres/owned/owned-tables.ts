import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { Note } from '../../data/store-options.ts'
import type { Database } from '../database.ts'
import { makeTables } from './make-tables.ts'
import { markOf } from './table-spec.ts'
import { marksStatement } from './table-state.ts'

/** Maximum time for which a request waits for tables to be made, in milliseconds. It goes on without those that are not. */
const WAIT_MS = 10_000
/** Maximum time of all statements that make tables. */
const MAX_MS = 86_400_000
/** Minimum time between attempts that fail, in milliseconds, and as a multiple of the time that the last one took. */
const RETRY_MS = 4_000
const RETRY_FACTOR = 20

interface Attempt {
  readonly ended: Promise<void>
  /** Undefined while it runs. */
  nextAt?: number
}

/** Makes and changes the owned tables of the connections of one thread, as their models want them. */
export class OwnedTables {
  private readonly attempts = new Map<string, Attempt>()
  private readonly closing = new AbortController()
  /** Problems in the log, by dataclass. */
  private readonly noted = new Map<string, string>()

  constructor(
    private readonly catalog: Catalog,
    private readonly database: (connection: string) => Database,
    private readonly onNote: Note,
  ) {}

  /** Names of connections with owned tables. */
  get connections(): Set<string> {
    return new Set(this.catalog.dataClasses.flatMap(({ remote }) => (remote?.owned ? [remote.connection] : [])))
  }

  /**
   * Resolves when the owned tables of a connection fit the model, or could not be made to, or take too long: then it goes on without
   * its caller. Never rejects; the log has the reasons.
   */
  async ready(connection: string, deadlineAt: number): Promise<void> {
    const owned = this.catalog.dataClasses.filter(({ remote }) => remote?.owned && remote.connection === connection)
    if (owned.length === 0 || this.closing.signal.aborted) return
    const last = this.attempts.get(connection)
    if (last?.nextAt !== undefined && performance.now() < last.nextAt) return
    const attempt = last && last.nextAt === undefined ? last : this.begin(connection, owned)
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise<void>(resolve => {
      timer = setTimeout(resolve, Math.min(WAIT_MS, Math.max(0, deadlineAt - Date.now())))
    })
    await Promise.race([attempt.ended, waited])
    clearTimeout(timer)
  }

  /** Cancels what is under way. */
  close(): void {
    this.closing.abort()
  }

  private begin(connection: string, owned: readonly DataClass[]): Attempt {
    const attempt: Attempt = { ended: this.attempt(connection, owned) }
    const begunAt = performance.now()
    this.attempts.set(connection, attempt)
    void attempt.ended.then(() => {
      const ms = performance.now() - begunAt
      if (this.attempts.get(connection) === attempt)
        attempt.nextAt = begunAt + ms + Math.max(RETRY_MS, ms * RETRY_FACTOR)
    })
    return attempt
  }

  private async attempt(connection: string, owned: readonly DataClass[]): Promise<void> {
    const database = this.database(connection)
    const limits = { deadlineAt: Date.now() + MAX_MS, signal: this.closing.signal }
    try {
      const rows = await database.query(marksStatement(owned), limits)
      const marks = new Map(rows.map(([name, mark]) => [name, mark]))
      const others = owned.filter(dataClass => marks.get(dataClass.name) !== markOf(dataClass))
      if (others.length === 0) {
        this.attempts.delete(connection)
        return
      }
      const problems = await database.session(limits, run => makeTables(this.catalog, others, run, this.onNote))
      for (const { name } of others) this.note(name, problems.get(name)?.join('; '))
      if (problems.size === 0) this.attempts.delete(connection)
    } catch (error) {
      if (!this.closing.signal.aborted) this.failed(database, error)
    }
  }

  private failed(database: Database, error: unknown): void {
    // A request sees the same, and a server that is away logs why.
    database.errorOf(error)
  }

  /** Logs a problem when it is new. */
  private note(dataClass: string, problem: string | undefined): void {
    if (problem === undefined) this.noted.delete(dataClass)
    else if (this.noted.get(dataClass) !== problem) {
      this.noted.set(dataClass, problem)
      this.onNote(`the table of ${dataClass} cannot be made as its model says: ${problem}`, 'warn')
    }
  }
}
