import type { UnreadableClass } from '../../backend/backend.ts'
import { ProtocolError } from '../../base/errors.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { Cancellation } from '../database/cancellation.ts'
import { isOfStatement, type Run, type StatementLimits } from '../database/database.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import { readRightsStatement } from '../sql/statements.ts'
import type { Databases } from '../tables/databases.ts'
import type { DescribedTables } from '../tables/described-tables.ts'
import { readTables, tablesStatement } from '../tables/read-tables.ts'

/** Findings of a probe of a database. Plain data. */
export interface Probe {
  /** Why the database is unavailable; undefined if it is available. */
  readonly problem?: string | undefined
  readonly unreadable: readonly UnreadableClass[]
}

/** Maximum time of the statements of a probe, in milliseconds. */
const PROBE_MS = 3_000

/**
 * Finds out whether the dataclasses of a database can be read, by one connection and without reading a row: whether it answers, whether its
 * tables fit the model, and whether the role may read their columns. The log has a line for each finding that is new.
 * @throws {QueryErrors.CANCELLED} as soon as the signal aborts
 */
export async function probeDatabase(databases: Databases, connection: string, signal: Cancellation): Promise<Probe> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(QueryErrors.CANCELLED())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
  return Promise.race([aborted, probe(databases, connection, { deadlineAt: Date.now() + PROBE_MS, signal })])
}

async function probe(databases: Databases, connection: string, limits: StatementLimits): Promise<Probe> {
  const database = databases.database(connection)
  try {
    await databases.makeTables(connection, limits)
    return { unreadable: await database.session(limits, run => unreadableClasses(run, connection, databases.tables)) }
  } catch (error) {
    const { message } = error instanceof ProtocolError ? error : database.errorOf(error, limits.signal)
    return { problem: database.problem ?? message, unreadable: [] }
  }
}

async function unreadableClasses(run: Run, connection: string, tables: DescribedTables): Promise<UnreadableClass[]> {
  const dataClasses = tables.classesOf(connection)
  const described = readTables(dataClasses, await run(tablesStatement(dataClasses)))
  tables.note(described)
  const readable = [...described.values()].filter(table => !Array.isArray(table)) as RemoteTable[]
  const refusals = await refusedTables(run, readable)
  for (const { dataClass } of readable) tables.notes.note(dataClass.name, 'read', refusals.get(dataClass.name))
  return dataClasses.flatMap(dataClass => {
    const table = described.get(dataClass)!
    const reason = Array.isArray(table) ? table.join('; ') : refusals.get(dataClass.name)
    return reason === undefined ? [] : [{ dataClass: dataClass.name, reason }]
  })
}

/** Reasons why the database refuses to read tables, by dataclass. Costs one statement if it refuses none. */
async function refusedTables(run: Run, tables: readonly RemoteTable[]): Promise<ReadonlyMap<string, string>> {
  const refusal = async (tested: readonly RemoteTable[]): Promise<string | undefined> => {
    try {
      await run(readRightsStatement(tested))
      return undefined
    } catch (error) {
      if (!isOfStatement(error as Error)) throw error
      return (error as Error).message
    }
  }
  const refusals = new Map<string, string>()
  if (tables.length === 0 || (await refusal(tables)) === undefined) return refusals
  for (const table of tables) {
    const reason = await refusal([table])
    if (reason !== undefined) refusals.set(table.dataClass.name, reason)
  }
  return refusals
}
