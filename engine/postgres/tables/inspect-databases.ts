import { ProtocolError } from '../../base/errors.ts'
import { suggestion } from '../../base/suggestion.ts'
import type { Catalog } from '../../catalog/dataclass.ts'
import type { Connection } from '../database/database.ts'
import { Databases } from './databases.ts'
import { readTables, tablesStatement } from './read-tables.ts'

/** Maximum time for each database, in milliseconds. */
const TIMEOUT_MS = 10_000

/** Problems of a model that names databases which the config file does not have. */
export function connectionProblems({ dataClasses }: Catalog, connections: Readonly<Record<string, unknown>>): string[] {
  const knownNames = Object.keys(connections)
  return dataClasses.flatMap(({ name, remote }) =>
    remote && !knownNames.includes(remote.connection)
      ? `dataClasses.${name}.storage.postgres: there is no connection "${remote.connection}" in the config file${suggestion(remote.connection, knownNames)}`
      : [],
  )
}

/**
 * Compares the tables of remote dataclasses with their model. Changes nothing.
 * @param connections include those that the catalog names
 * @param onPlan called with each table that a start would create or change
 * @returns a text for each problem
 */
export async function* inspectDatabases(
  catalog: Catalog,
  connections: Readonly<Record<string, Connection>>,
  onPlan: (text: string) => void,
): AsyncGenerator<string> {
  let reason = ''
  const onNote = (text: string): void => {
    reason = text
  }
  const databases = new Databases(catalog, { connections, timeoutMs: TIMEOUT_MS, onNote, makeTables: async () => {} })
  try {
    for (const connection of Object.keys(connections)) {
      const dataClasses = catalog.dataClasses.filter(({ remote }) => remote?.connection === connection)
      if (dataClasses.length === 0) continue
      const limits = { deadlineAt: Date.now() + TIMEOUT_MS, signal: new AbortController().signal }
      try {
        const rows = await databases.run({ connection, statement: tablesStatement(dataClasses) }, limits)
        for (const [{ name, remote }, table] of readTables(dataClasses, rows)) {
          if (!Array.isArray(table)) continue
          if (remote!.ownedStorage)
            onPlan(`the table of ${name} in the database "${connection}" would be made or changed`)
          else yield `${name} cannot be used: ${table.join('; ')}`
        }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        const { problem } = databases.database(connection)
        yield problem === undefined ? reason || error.message : `database ${connection} does not answer: ${problem}`
      }
    }
  } finally {
    await databases.close()
  }
}
