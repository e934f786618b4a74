import type { Catalog } from '../../catalog/dataclass.ts'
import type { Needs } from '../../data/suspended.ts'
import type { Note } from '../../data/store-options.ts'
import { type Connection, Database, namesUsers, type StatementLimits } from '../database/database.ts'
import { DescribedTables } from './described-tables.ts'
import type { HeldTransaction } from '../database/held-transaction.ts'
import { OwnedTables } from '../owned/owned-tables.ts'
import type { RemoteCall, RemoteFetch } from './remote-needed.ts'
import type { Cells } from '../sql/statement.ts'

/** The databases of a model, for one thread. */
export class Databases {
  readonly tables: DescribedTables
  private readonly databases = new Map<string, Database>()
  private readonly ownedTables: OwnedTables

  /** True if statements need the name of their user. */
  readonly needUser: boolean

  /** @param timeoutMs maximum time of a statement */
  constructor(
    catalog: Catalog,
    private readonly options: {
      readonly connections: Readonly<Record<string, Connection>>
      readonly timeoutMs: number
      readonly onNote: Note
      /** Names of the connections whose entities have events: see {@link Database}. */
      readonly serializable?: readonly string[]
      /** Lets another thread create the tables; undefined if this thread creates them. */
      readonly makeTables?: (connection: string) => Promise<unknown>
    },
  ) {
    this.needUser = namesUsers(options.connections)
    this.tables = new DescribedTables(catalog, options.onNote)
    for (const [name, connection] of Object.entries(options.connections)) {
      const isSerializable = options.serializable?.includes(name)
      this.databases.set(name, new Database(name, connection, options.timeoutMs, options.onNote, isSerializable))
    }
    this.ownedTables = new OwnedTables(catalog, name => this.database(name), options.onNote)
  }

  /**
   * Creates the owned tables of a connection, or waits until another thread has created them.
   * @throws {ProtocolError} the database does not answer
   */
  async makeTables(connection: string, { deadlineAt }: StatementLimits): Promise<void> {
    await (this.options.makeTables?.(connection) ?? this.ownedTables.ready(connection, deadlineAt))
  }

  /** @param transaction open transaction; used if it is in the database of the connection */
  async run(
    { connection, statement }: RemoteCall,
    limits: StatementLimits,
    transaction?: HeldTransaction,
  ): Promise<Cells[]> {
    try {
      if (statement.isDescription) await this.makeTables(connection, limits)
      return transaction?.holding.connection === connection
        ? await transaction.query(statement)
        : await this.database(connection).query(statement, limits)
    } catch (error) {
      this.tables.handleFailure(connection, error)
      throw error
    }
  }

  /** Fetches the rows that a task needs. @returns undefined: it needs something else @throws {ProtocolError} */
  fetch(needs: Needs, limits: StatementLimits, transaction?: HeldTransaction): Promise<void> | undefined {
    return needs.kind === 'rows' ? this.answer((needs.fetch as () => RemoteFetch)(), limits, transaction) : undefined
  }

  private async answer(asking: RemoteFetch, limits: StatementLimits, transaction?: HeldTransaction): Promise<void> {
    for (let step = asking.next(); !step.done; ) step = asking.next(await this.run(step.value, limits, transaction))
  }

  database(connection: string): Database {
    return this.databases.get(connection)!
  }

  async close(): Promise<void> {
    await Promise.all([...this.databases.values()].map(database => database.close()))
  }
}
