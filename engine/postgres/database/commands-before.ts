import type pg from 'pg'
import type { Cells } from '../sql/statement.ts'

/** A statement without a result, prepared on each connection under its name. */
export interface Command {
  readonly name: string
  readonly text: string
  readonly values: readonly string[]
}

interface Query {
  readonly text: string
  readonly values: readonly unknown[]
  readonly name: string | undefined
}

/** Part of the driver's connection that writes messages of the extended protocol. */
interface Wire {
  bind(message: object): void
  execute(message: object): void
}

/** The part of the driver's query object that this module overrides. */
interface DriverQuery {
  prepare(wire: Wire): void
  handleDataRow(message: object): void
  handleCommandComplete(message: object, wire: Wire): void
}
type QueryClass = new (
  config: object,
  values: undefined,
  callback: (error: Error | null, result: { rows: Cells[] }) => void,
) => DriverQuery

const command = (name: string, text: string): Command => ({ name: `tesser ${name}`, text, values: [] })

/**
 * Sets the name of a user, which policies of row security read, until the end of the transaction: a setting of the connection would last to
 * the next request, or to another client of a pooler.
 * @param variable name of the setting: `app.user`
 * @param user empty for a guest
 */
export const setUser = (variable: string, user: string): Command => ({
  ...command('user', 'SELECT set_config($1, $2, true)'),
  values: [variable, user],
})

/** Makes a single statement a serializable transaction. `SET TRANSACTION` would write a warning to the log of the database each time. */
export const SERIALIZE = command('serializable', 'SET transaction_isolation = serializable')
export const BEGIN_SERIALIZABLE = command('begin', 'BEGIN ISOLATION LEVEL SERIALIZABLE')
/** Makes the database check deferred constraints with each change from now on. */
export const CHECK_AT_ONCE = command('check', 'SET CONSTRAINTS ALL IMMEDIATE')
export const MARK = command('mark', 'SAVEPOINT held')
export const UNMARK = command('unmark', 'RELEASE SAVEPOINT held')

/** Commands in an order in which a connection can run them, which prepares them. */
const FOR_TRANSACTIONS = [SERIALIZE, BEGIN_SERIALIZABLE, CHECK_AT_ONCE, MARK, UNMARK]

/**
 * Prepares the commands of serializable transactions, if the database supports these: a standby does not, and accepts no changes either.
 */
export async function prepareTransactions(client: pg.ClientBase): Promise<void> {
  try {
    for (const each of FOR_TRANSACTIONS) await client.query(each as never)
    await client.query('COMMIT')
  } catch {}
}

/** Runs a statement after commands. */
export type QueryAfter = (
  client: pg.PoolClient,
  commands: readonly Command[],
  query: Query & { readonly types: object },
) => Promise<{ rows: Cells[] }>

/**
 * Creates the function that runs a statement after commands, in one round trip. Outside of an open transaction, they form a single
 * transaction, as all statements up to the end of a sequence of messages do, so that settings last as long as the statement. Source:
 * PostgreSQL, 55.2.3 and 55.2.4.
 */
export function queriesAfter(driver: typeof pg): QueryAfter {
  class QueryAfterCommands extends (driver.Query as unknown as QueryClass) {
    commands: readonly Command[] = []
    private doneCount = 0

    override prepare(wire: Wire): void {
      for (const { name, values } of this.commands) {
        wire.bind({ portal: '', statement: name, values, valueMapper: String })
        wire.execute({ portal: '', rows: 0 })
      }
      super.prepare(wire)
    }

    override handleDataRow(message: object): void {
      if (this.doneCount === this.commands.length) super.handleDataRow(message)
    }

    override handleCommandComplete(message: object, wire: Wire): void {
      if (this.doneCount === this.commands.length) super.handleCommandComplete(message, wire)
      else this.doneCount++
    }
  }
  return (client, commands, query) =>
    new Promise((resolve, reject) => {
      const config = { ...query, rowMode: 'array', queryMode: 'extended' }
      const submittedQuery = new QueryAfterCommands(config, undefined, (error, result) =>
        error ? reject(error) : resolve(result),
      )
      submittedQuery.commands = commands
      client.query(submittedQuery as never)
    })
}
