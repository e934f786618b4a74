import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { Note } from '../data/store-options.ts'
import { RemoteNeeded } from '../query/nodes/remote-query.ts'
import { type Cells, type Connection, Database, type StatementLimits } from './database.ts'
import { readTables, tablesStatement } from './read-tables.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import type { RemoteTable } from './remote-table.ts'
import type { Statement } from './sql/statement.ts'

/** Time after which tables that did not fit are described again, in milliseconds. */
const RETRY_MS = 5_000
/** Codes of statements that fail since a table has changed: undefined column, undefined table, other type. */
const CHANGED = /\((42703|42P01|42804|42883)\)/

interface Described {
  readonly tables: ReadonlyMap<DataClass, RemoteTable | readonly string[]>
  readonly at: number
}

/** The databases of a model, for one thread. */
export class Databases {
  private readonly databases = new Map<string, Database>()
  private readonly described = new Map<string, Described>()

  /** True if statements need the name of their user. */
  readonly needUser: boolean

  /** @param timeoutMs maximum time of a statement */
  constructor(
    private readonly catalog: Catalog,
    private readonly options: {
      readonly connections: Readonly<Record<string, Connection>>
      readonly timeoutMs: number
      readonly onNote: Note
    },
  ) {
    this.needUser = Object.values(options.connections).some(({ sessionVariable }) => sessionVariable !== undefined)
    for (const [name, connection] of Object.entries(options.connections)) {
      this.databases.set(name, new Database(name, connection, options.timeoutMs, options.onNote))
    }
  }

  /**
   * The table of a remote dataclass.
   * @throws {RemoteNeeded} its database has not described it yet
   * @throws {RemoteErrors.UNUSABLE}
   */
  table(dataClass: DataClass, limits: StatementLimits): RemoteTable {
    const { connection } = dataClass.remote!
    const found = this.described.get(connection)
    const table = found?.tables.get(dataClass)
    if (table !== undefined && !Array.isArray(table)) return table as RemoteTable
    if (found && performance.now() - found.at < RETRY_MS) throw RemoteErrors.UNUSABLE(dataClass.name)
    throw new RemoteNeeded(() => this.describe(connection, limits))
  }

  async run(connection: string, statement: Statement, limits: StatementLimits): Promise<Cells[]> {
    try {
      return await this.databases.get(connection)!.query(statement, limits)
    } catch (error) {
      if (error instanceof Error && CHANGED.test(error.message)) this.described.delete(connection)
      throw error
    }
  }

  database(connection: string): Database {
    return this.databases.get(connection)!
  }

  async close(): Promise<void> {
    await Promise.all([...this.databases.values()].map(database => database.close()))
  }

  private async describe(connection: string, limits: StatementLimits): Promise<void> {
    const dataClasses = this.catalog.dataClasses.filter(({ remote }) => remote?.connection === connection)
    const rows = await this.run(connection, tablesStatement(dataClasses), limits)
    const tables = readTables(dataClasses, rows)
    this.described.set(connection, { tables, at: performance.now() })
    for (const [{ name }, problems] of tables) {
      if (Array.isArray(problems)) this.options.onNote(`${name} cannot be used: ${problems.join('; ')}`, 'warn')
    }
  }
}
