import type pg from 'pg'
import type { Cells } from './database.ts'

/** A statement that changes a setting, prepared on each connection under its name. */
interface Setting {
  readonly name: string
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

/** The driver's query, as far as it is changed here. */
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

const NAME_USER = { name: 'tesser user', text: 'SELECT set_config($1, $2, true)' }

/** The name of a user, which policies of row security read. @param variable name of the setting: `app.user` @param user empty for a guest */
export const userSetting = (variable: string, user: string): Setting => ({ ...NAME_USER, values: [variable, user] })

/**
 * Makes the statement a serializable transaction. It comes before all other settings. `SET TRANSACTION` would be a warning in the log of the
 * database each time.
 */
export const SERIALIZABLE = {
  name: 'tesser serializable',
  text: 'SET transaction_isolation = serializable',
  values: [],
}

/** Statements to be prepared on each connection, before the first statement with a setting. @param variable see {@link userSetting} */
export const settingsToPrepare = (variable: string | undefined, isSerializable: boolean): object[] => [
  ...(variable === undefined ? [] : [{ ...NAME_USER, values: [variable, ''] }]),
  ...(isSerializable ? [SERIALIZABLE] : []),
]

/** Runs a statement with settings. */
export type QueryWithSettings = (
  client: pg.PoolClient,
  settings: readonly Setting[],
  query: Query & { readonly types: object },
) => Promise<{ rows: Cells[] }>

/**
 * Makes the function that runs a statement with settings that last as long as the statement. All are sent together, as one transaction:
 * statements up to the end of a sequence of messages are, and no other statement of the connection sees the settings. In a transaction that
 * has begun before they last until its end.
 * Source: PostgreSQL, 55.2.3 and 55.2.4.
 */
export function queriesWithSettings(driver: typeof pg): QueryWithSettings {
  class QueryAfterSettings extends (driver.Query as unknown as QueryClass) {
    settings: readonly Setting[] = []
    private done = 0

    override prepare(wire: Wire): void {
      for (const { name, values } of this.settings) {
        wire.bind({ portal: '', statement: name, values, valueMapper: String })
        wire.execute({ portal: '', rows: 0 })
      }
      super.prepare(wire)
    }

    override handleDataRow(message: object): void {
      if (this.done === this.settings.length) super.handleDataRow(message)
    }

    override handleCommandComplete(message: object, wire: Wire): void {
      if (this.done === this.settings.length) super.handleCommandComplete(message, wire)
      else this.done++
    }
  }
  return (client, settings, query) =>
    new Promise((resolve, reject) => {
      const config = { ...query, rowMode: 'array', queryMode: 'extended' }
      const submitted = new QueryAfterSettings(config, undefined, (error, result) =>
        error ? reject(error) : resolve(result),
      )
      submitted.settings = settings
      client.query(submitted as never)
    })
}
