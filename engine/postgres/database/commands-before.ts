import type pg from 'pg'

/** A statement without a result, prepared on each connection under its name. */
export interface Command {
  readonly name: string
  readonly text: string
  readonly values: readonly string[]
}

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
