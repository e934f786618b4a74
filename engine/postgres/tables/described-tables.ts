import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Note } from '../../data/store-options.ts'
import { KnownCounts } from './known-counts.ts'
import { quoteName } from '../sql/quote.ts'
import { readTables, tablesStatement } from './read-tables.ts'
import type { Need, RemoteFetch } from './remote-needed.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import type { Unfit } from '../sql/unfit.ts'

/** Time after which tables that did not fit are described again, in milliseconds. */
const RETRY_MS = 5_000

interface Described {
  readonly tables: ReadonlyMap<DataClass, RemoteTable | readonly string[]>
  readonly at: number
}

/** The tables of remote dataclasses as their databases describe them, for one thread. */
export class DescribedTables {
  private readonly descriptions = new Map<string, Described>()
  private readonly counts = new Map<string, KnownCounts>()
  private readonly unfit = new Set<StorageAttribute>()
  readonly notes: TableNotes

  constructor(
    private readonly catalog: Catalog,
    readonly onNote: Note,
  ) {
    this.notes = new TableNotes(onNote)
  }

  /** Logs the first unfit value of each attribute, which is shown as null. @param key of its row, as the database writes it */
  readonly onUnfit = (table: RemoteTable, attribute: StorageAttribute, key: string | null, { reason }: Unfit): void => {
    if (this.unfit.has(attribute)) return
    this.unfit.add(attribute)
    const { dataClass, from, columns } = table
    const name = `${dataClass.name}.${attribute.name}`
    const column = columns.get(attribute)!.map(({ name }) => quoteName(name))
    this.onNote(
      `${name} is null where the value of the column ${from}.${column} cannot be shown as a ${attribute.type}; the first is that of the row with the key ${key}: ${reason}`,
      'warn',
      name,
    )
  }

  /** The table of a remote dataclass. @throws {RemoteErrors.UNUSABLE} and the errors of `need` */
  of(dataClass: DataClass, need: Need): RemoteTable {
    const { connection } = dataClass.remote!
    const description = this.descriptions.get(connection)
    const table = description?.tables.get(dataClass)
    if (table !== undefined && !Array.isArray(table)) return table as RemoteTable
    if (description && performance.now() - description.at < RETRY_MS)
      throw RemoteErrors.UNUSABLE(dataClass.name).retryAfter(RETRY_MS / 1000)
    need(() => this.describe(connection))
    return this.of(dataClass, need)
  }

  /** Describes the tables of a connection again if a statement has failed because they have changed. */
  handleFailure(connection: string, error: unknown): void {
    if (error instanceof Error && error.name === 'REMOTE.OUTDATED') this.descriptions.delete(connection)
  }

  countsOf(connection: string): KnownCounts {
    const counts = this.counts.get(connection) ?? new KnownCounts()
    this.counts.set(connection, counts)
    return counts
  }

  private *describe(connection: string): RemoteFetch {
    const dataClasses = this.classesOf(connection)
    const rows = yield { connection, statement: tablesStatement(dataClasses) }
    const tables = readTables(dataClasses, rows)
    this.descriptions.set(connection, { tables, at: performance.now() })
    this.note(tables)
  }

  /** Dataclasses whose entities are in the database of a connection. */
  classesOf(connection: string): DataClass[] {
    return this.catalog.dataClasses.filter(({ remote }) => remote?.connection === connection)
  }

  /** Notes which of these tables do not fit their dataclasses. */
  note(tables: Described['tables']): void {
    for (const [{ name }, table] of tables)
      this.notes.note(name, 'used', Array.isArray(table) ? table.join('; ') : undefined)
  }
}

/** Notes about dataclasses that cannot be used because of their tables, as long as they cannot. */
class TableNotes {
  private readonly subjects = new Set<string>()

  constructor(private readonly onNote: Note) {}

  /** @param problem undefined if there is none */
  note(dataClass: string, verb: 'used' | 'read', problem: string | undefined): void {
    const subject = `${dataClass} ${verb}`
    if (problem !== undefined) {
      this.subjects.add(subject)
      this.onNote(`${dataClass} cannot be ${verb}: ${problem}`, 'warn', subject, problem)
    } else if (this.subjects.delete(subject)) this.onNote(`${dataClass} can be ${verb} again`, undefined, subject, '')
  }
}
