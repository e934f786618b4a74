import type { Note } from '../../data/store-options.ts'

/** Minimum time between two warnings about a database that is unavailable: requests fail all the time meanwhile. */
const NOTE_PAUSE_MS = 10_000

/** Whether a database answers, as its statements find out. The log has a line for each change. */
export class Reachability {
  /** Why the database is unavailable; undefined while it answers, and before the first statement. */
  problem: string | undefined
  private notedAt = Number.NEGATIVE_INFINITY
  private shortageNotedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly name: string,
    private readonly onNote: Note,
  ) {}

  /** A statement has been answered, if only with an error. */
  answered(): void {
    if (this.problem === undefined) return
    this.problem = undefined
    this.onNote(`database ${this.name} is available again`, undefined, this.subject, 'available')
  }

  /** It could not be connected to, or the connection of a statement was lost. */
  failed(error: Error): void {
    this.problem = reasonOf(error)
    const now = performance.now()
    if (now - this.notedAt < NOTE_PAUSE_MS) return
    this.notedAt = now
    this.onNote(
      `database ${this.name} is unavailable: ${this.problem}; requests that need it get 503 until it is back, and each of them tries again`,
      'warn',
      this.subject,
      'unavailable',
    )
  }

  /** It answers, but has too few resources for a statement. */
  lacks({ code, message }: Error & { code?: string }): void {
    const now = performance.now()
    if (now - this.shortageNotedAt < NOTE_PAUSE_MS) return
    this.shortageNotedAt = now
    this.onNote(`database ${this.name}: ${code}: ${message}`, 'warn')
  }

  private get subject(): string {
    return `database ${this.name}`
  }
}

/** The message of the driver for a server that accepts connections and sends nothing. */
const SILENT_CONNECTION = /^Connection terminated due to connection timeout/

/** The message of the driver if it has no password to send. */
export const MISSING_PASSWORD = /client password must be a string/

/** Reasons of an error, since several addresses of a host may all refuse. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  if (SILENT_CONNECTION.test(error.message)) return 'it does not answer a connection in time'
  return MISSING_PASSWORD.test(error.message)
    ? 'it asks for a password, and neither the connection, PGPASSWORD nor .pgpass has one'
    : error.message
}
