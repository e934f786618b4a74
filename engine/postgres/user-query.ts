import type pg from 'pg'
import type { Cells } from './database.ts'

/** The name of a user as a setting of the database, which policies of row security read. */
interface UserSetting {
  /** Name of the setting: `app.user`. */
  readonly variable: string
  /** Empty for a guest. */
  readonly user: string
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

/** To be prepared on each connection, before the first statement with a setting. */
export const PREPARE_SETTING = { name: 'tesser user', text: 'SELECT set_config($1, $2, true)' }

/** Runs a statement for a user. */
export type QueryAs = (
  client: pg.PoolClient,
  setting: UserSetting,
  query: Query & { readonly types: object },
) => Promise<{ rows: Cells[] }>

/**
 * Makes the function that runs a statement with a setting that lasts as long as the statement. Both are sent together, as one transaction:
 * statements up to the end of a sequence of messages are, and no other statement of the connection sees the setting. In a transaction that
 * has begun before it lasts until its end.
 * Source: PostgreSQL, 55.2.3 and 55.2.4.
 */
export function queriesAs(driver: typeof pg): QueryAs {
  class UserQuery extends (driver.Query as unknown as QueryClass) {
    setting: UserSetting | undefined
    private isSet = false

    override prepare(wire: Wire): void {
      const { variable, user } = this.setting!
      wire.bind({ portal: '', statement: PREPARE_SETTING.name, values: [variable, user], valueMapper: String })
      wire.execute({ portal: '', rows: 0 })
      super.prepare(wire)
    }

    override handleDataRow(message: object): void {
      if (this.isSet) super.handleDataRow(message)
    }

    override handleCommandComplete(message: object, wire: Wire): void {
      if (this.isSet) super.handleCommandComplete(message, wire)
      this.isSet = true
    }
  }
  return (client, setting, query) =>
    new Promise((resolve, reject) => {
      const config = { ...query, rowMode: 'array', queryMode: 'extended' }
      const submitted = new UserQuery(config, undefined, (error, result) => (error ? reject(error) : resolve(result)))
      submitted.setting = setting
      client.query(submitted as never)
    })
}
