/**
 * Dataclasses of a fixture in PostgreSQL, in tables that the server makes: each store has a schema of its own.
 */
import root from 'tap'
import type { Model } from '../../../engine/catalog/model-schema.ts'
import { type SqlServer, startPostgres } from './sql-servers.ts'
import type { Fixture } from '../servers/test-server.ts'

/** One database for the tests of this process. */
let server: Promise<SqlServer> | undefined
/** Schemas of stores, by their folders. */
const schemas = new Map<string, string>()

interface RemoteFixture {
  readonly model: object
  /** Option of the server. */
  readonly connections: object
}

/**
 * @param folder of the store: a server that opens it once more gets the same tables
 * @returns undefined for a fixture that has tables of its own
 */
export async function remoteFixture(fixture: Fixture, folder: string): Promise<RemoteFixture | undefined> {
  const model = structuredClone(fixture.model) as Model
  const dataClasses = Object.values(model.dataClasses)
  if (dataClasses.some(({ storage }) => storage)) return undefined
  server ??= open()
  const { url } = await server
  const schema = schemas.get(folder) ?? `fixture ${schemas.size + 1}`
  schemas.set(folder, schema)
  for (const dataClass of dataClasses) dataClass.storage = { postgres: 'fixtures', schema, owned: true }
  return { model, connections: { fixtures: { url, maxConnections: 4 } } }
}

async function open(): Promise<SqlServer> {
  const started = await startPostgres()
  if (typeof started === 'string') throw new Error(`the setting "remote" needs a database: ${started}`)
  root.teardown(() => started.stop())
  return started
}
