import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { Note } from '../../data/store-options.ts'
import { ProtocolError } from '../../base/errors.ts'
import { type Database, isOfStatement } from '../database/database.ts'
import { arrayText } from '../sql/parameters.ts'
import type { Statement } from '../sql/statement.ts'
import { makeTables } from './make-tables.ts'
import { markOf } from './table-spec.ts'

/** Maximum time for which a request waits for tables to be created, in milliseconds. Then it continues without the missing ones. */
const WAIT_MS = 10_000
/** Maximum time of all statements that create tables. */
const MAX_MS = 86_400_000
/** Minimum time between failed attempts, in milliseconds, and as a multiple of the duration of the last one. */
const RETRY_MS = 4_000
const RETRY_FACTOR = 10

interface Attempt {
  readonly outcome: Promise<boolean>
  /** Time before which no other attempt begins; undefined while this one runs. Infinity once it has succeeded. */
  nextAt: number | undefined
}

/** Statement of the names of dataclasses with the comments of their tables. */
const marksStatement = (dataClasses: readonly DataClass[]): Statement => ({
  text: `SELECT w.class, obj_description(c.oid, 'pg_class') FROM unnest($1::text[], $2::text[], $3::text[]) AS w (class, schema, name)
JOIN pg_namespace n ON n.nspname = w.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name`,
  values: [
    arrayText(dataClasses.map(({ name }) => name)),
    arrayText(dataClasses.map(({ remote }) => remote!.schema)),
    arrayText(dataClasses.map(({ remote }) => remote!.table)),
  ],
})

/**
 * Creates and changes the owned tables of a model, once for each connection: later changes by a server with another model are not undone.
 */
export class OwnedTables {
  private readonly attempts = new Map<string, Attempt>()
  /** Logged problems, by dataclass. */
  private readonly noted = new Map<string, string>()

  constructor(
    private readonly catalog: Catalog,
    private readonly database: (connection: string) => Database,
    private readonly onNote: Note,
  ) {}

  /**
   * Resolves when the owned tables of a connection fit the model, cannot be changed to fit it, or take too long: then the work continues
   * without its caller. The log has the reasons.
   * @throws {ProtocolError} the database does not answer
   */
  async ready(connection: string, deadlineAt: number): Promise<void> {
    const ownedClasses = this.catalog.dataClasses.filter(
      ({ remote }) => remote?.ownedStorage && remote.connection === connection,
    )
    if (ownedClasses.length === 0) return
    const last = this.attempts.get(connection)
    if (last?.nextAt !== undefined && performance.now() < last.nextAt) return
    const attempt = last && last.nextAt === undefined ? last : this.begin(connection, ownedClasses)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(resolve, Math.min(WAIT_MS, Math.max(0, deadlineAt - Date.now())))
    })
    await Promise.race([attempt.outcome, timeout])
    clearTimeout(timer)
  }

  private begin(connection: string, ownedClasses: readonly DataClass[]): Attempt {
    const begunAt = performance.now()
    const outcome = this.attempt(connection, ownedClasses)
    const attempt: Attempt = { outcome, nextAt: undefined }
    this.attempts.set(connection, attempt)
    outcome.then(
      isDone => {
        const now = performance.now()
        attempt.nextAt = isDone ? Number.POSITIVE_INFINITY : now + Math.max(RETRY_MS, (now - begunAt) * RETRY_FACTOR)
      },
      () => this.attempts.delete(connection),
    )
    return attempt
  }

  /** @returns true if all tables fit */
  private async attempt(connection: string, ownedClasses: readonly DataClass[]): Promise<boolean> {
    const database = this.database(connection)
    const limits = { deadlineAt: Date.now() + MAX_MS, signal: new AbortController().signal }
    try {
      return await database.session(limits, async run => {
        const marks = new Map((await run(marksStatement(ownedClasses))).map(([name, mark]) => [name, mark]))
        const outdatedClasses = ownedClasses.filter(dataClass => marks.get(dataClass.name) !== markOf(dataClass))
        if (outdatedClasses.length === 0) return true
        const problems = await makeTables(this.catalog, outdatedClasses, run, this.onNote)
        for (const { name } of outdatedClasses) this.note(name, problems.get(name)?.join('; '))
        return problems.size === 0
      })
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const clientError = database.errorOf(error, limits.signal)
      if (!isOfStatement(error as Error)) throw clientError
      return false
    }
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
