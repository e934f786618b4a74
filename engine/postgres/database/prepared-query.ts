import type pg from 'pg'
import type { Cells } from '../sql/statement.ts'

/** One execution of a statement. */
interface Execution {
  /** Name of the prepared statement; undefined for a statement that is not kept. */
  readonly name: string | undefined
  /** Values as texts. */
  readonly values: readonly (string | null)[]
}

/** The part of the driver's connection that is used here. */
interface Wire {
  readonly stream: { readonly writable: boolean; cork(): void; uncork(): void; write(bytes: Uint8Array): void }
  /** Texts of prepared statements by name, and of those whose preparation has been sent. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>
  readonly submittedNamedStatements: Record<string, string | undefined>
  parse(message: { readonly text: string; readonly name: string | undefined }): void
}

/**
 * Runs a statement after commands, in one round trip. Outside of an open transaction, they form a single transaction, as all statements up
 * to the end of a sequence of messages do, so that settings last as long as the statement. Source: PostgreSQL, 55.2.3 and 55.2.4.
 * @param commands prepared on the connection
 * @throws error of the driver
 */
export const runPrepared = (
  client: pg.ClientBase,
  statement: Execution & { readonly text: string },
  commands: readonly Execution[],
): Promise<Cells[]> =>
  new Promise((resolve, reject) => {
    const query = new PreparedQuery(statement, commands, (error, rows) => (error ? reject(error) : resolve(rows)))
    client.query(query as never)
  })

/**
 * A query of the driver. Unlike those that the driver makes, it does not request a description of the columns with each execution, since
 * all values are texts, and it sends all messages of an execution at once.
 */
class PreparedQuery {
  private readonly rows: Cells[] = []
  /** Number of commands that are done. */
  private doneCount = 0

  /** @param callback called with the first error, or when the connection can run the next statement */
  constructor(
    private readonly statement: Execution & { readonly text: string },
    private readonly commands: readonly Execution[],
    readonly callback: (error: Error | null, rows: Cells[]) => void,
  ) {}

  /** The driver remembers prepared statements by name and text. */
  get name(): string | undefined {
    return this.statement.name
  }

  get text(): string {
    return this.statement.text
  }

  submit(wire: Wire): null {
    const { commands, statement } = this
    const { name, text } = statement
    // A closed connection fails the query with an event.
    if (!wire.stream.writable) return null
    if (name !== undefined && (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined) {
      wire.stream.write(messagesOf([...commands, statement], true))
      return null
    }
    wire.stream.cork()
    // Statements are analysed with a snapshot, which must not precede the beginning of a transaction.
    if (commands.length > 0) wire.stream.write(messagesOf(commands, false))
    wire.parse({ text, name })
    if (name !== undefined) wire.submittedNamedStatements[name] = text
    wire.stream.write(messagesOf([statement], true))
    wire.stream.uncork()
    return null
  }

  handleDataRow({ fields }: { readonly fields: Cells }): void {
    if (this.doneCount === this.commands.length) this.rows.push(fields)
  }

  handleCommandComplete(): void {
    this.doneCount++
  }

  handleReadyForQuery(): void {
    this.callback(null, this.rows)
  }

  handleError(error: Error): void {
    this.callback(error, [])
  }

  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

const [BIND, EXECUTE, SYNC] = ['B', 'E', 'S'].map(letter => letter.charCodeAt(0)) as [number, number, number]
const EXECUTE_LENGTH = 10
const SYNC_LENGTH = 5
/** Bytes of a Bind message besides the name and the values: type, length, two ends of names, three counts. */
const BIND_LENGTH = 13
const NULL_LENGTH = -1

/** Messages that run statements with values as texts, one after the other. @param isEnd true to end the sequence. Source: PostgreSQL, 55.7. */
function messagesOf(executions: readonly Execution[], isEnd: boolean): Buffer {
  let size = isEnd ? SYNC_LENGTH : 0
  for (const { name = '', values } of executions) {
    size += BIND_LENGTH + Buffer.byteLength(name) + EXECUTE_LENGTH + 4 * values.length
    for (const value of values) if (value !== null) size += Buffer.byteLength(value)
  }
  const buffer = Buffer.allocUnsafe(size)
  let at = 0
  for (const { name = '', values } of executions) {
    const start = at + 1
    at = buffer.writeUInt8(BIND, at) + 4
    at = buffer.writeUInt8(0, at)
    at += buffer.write(name, at)
    at = buffer.writeUInt8(0, at)
    at = buffer.writeUInt16BE(0, at)
    at = buffer.writeUInt16BE(values.length, at)
    for (const value of values) {
      const length = value === null ? NULL_LENGTH : buffer.write(value, at + 4)
      buffer.writeInt32BE(length, at)
      at += 4 + Math.max(0, length)
    }
    at = buffer.writeUInt16BE(0, at)
    buffer.writeInt32BE(at - start, start)
    at = buffer.writeUInt8(EXECUTE, at)
    at = buffer.writeInt32BE(EXECUTE_LENGTH - 1, at)
    at = buffer.writeUInt8(0, at)
    at = buffer.writeInt32BE(0, at)
  }
  if (!isEnd) return buffer
  at = buffer.writeUInt8(SYNC, at)
  buffer.writeInt32BE(SYNC_LENGTH - 1, at)
  return buffer
}
