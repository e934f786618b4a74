/** Tables that the server creates in a database of PostgreSQL, and changes with their model. */
import pg from 'pg'
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { Database } from '../../../../engine/postgres/database/database.ts'
import { OwnedTables } from '../../../../engine/postgres/owned/owned-tables.ts'
import { markOf } from '../../../../engine/postgres/owned/table-spec.ts'
import { type SqlServer, startPostgres } from '../../../support/databases/sql-servers.ts'

export type Attributes = Record<string, object>

export interface Change {
  name: string
  /** Attributes of `T`, besides its key `ID`. */
  before: Attributes
  after: Attributes
  /** Options of the dataclass afterwards. */
  options?: object
  /** Statements between the two starts. */
  sql?: string
  /** Reasons why the table stays as it was. */
  problems?: RegExp
  notes?: readonly RegExp[]
  /** A statement afterwards, and its rows. */
  query?: string
  rows?: readonly unknown[][]
  /** A statement that is refused afterwards. */
  refused?: string
}

export const ID = { type: 'long', autoFill: 'increment' }
export const TWO_ROWS = `INSERT INTO "T" (n) VALUES (1), (2)`
export const author = (onDelete?: string) => ({
  kind: 'relatedEntity',
  type: 'T',
  foreignKey: 'n',
  ...(onDelete && { onDelete }),
})

export const catalogOf = (dataClasses: Record<string, object>) => loadModel({ name: 'x', dataClasses })
export const storage = (schema: string) => ({ postgres: 'main', schema, owned: true })

/** Makes tables in a database, and tells what it has done. */
export async function openTables(server: SqlServer) {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  t.teardown(() => client.end())
  const notes: string[] = []
  const onNote = (text: string) => void notes.push(text)
  const databases: Database[] = []
  const databaseOf = (url: string): Database => {
    const database = new Database('main', { url, maxConnections: 2 }, 30_000, onNote)
    databases.push(database)
    return database
  }
  t.teardown(() => Promise.all(databases.map(each => each.close())))
  const database = databaseOf(server.url)

  /** Makes the tables of a model. */
  const make = async (catalog: ReturnType<typeof catalogOf>, on = database): Promise<string[]> => {
    notes.length = 0
    await new OwnedTables(catalog, () => on, onNote).ready('main', Date.now() + 30_000)
    return [...notes]
  }
  const commentOf = async (schema: string, table: string) =>
    (await client.query(`SELECT obj_description(to_regclass('${schema}."${table}"'), 'pg_class') AS c`)).rows[0].c

  return { client, notes, onNote, database, databaseOf, make, commentOf }
}

/** Makes the table of each change, and changes its model. */
export async function tryEach(changes: readonly Change[]): Promise<void> {
  const server = await startPostgres()
  if (typeof server === 'string') return void t.comment(`skipped: ${server}`)
  t.teardown(() => server.stop())
  const { client, make, commentOf } = await openTables(server)
  for (const [
    i,
    { name, before, after, options, sql = '', problems, query, rows, refused, ...each },
  ] of changes.entries()) {
    t.test(name, async t => {
      const schema = `change_${i}`
      const model = (attributes: Attributes, options: object = {}) =>
        catalogOf({ T: { storage: storage(schema), key: 'ID', attributes: { ID, ...attributes }, ...options } })
      const first = model(before)
      await make(first)
      t.equal(await commentOf(schema, 'T'), markOf(first.dataClasses[0]!), 'the table fits')
      await client.query(`SET search_path = ${schema}; ${sql}`)
      const second = model(after, options)
      const found = (await make(second)).join('\n')
      t.equal((await commentOf(schema, 'T')) === markOf(second.dataClasses[0]!), !problems, `fits: ${found}`)
      if (problems) t.match(found, problems)
      for (const note of each.notes ?? []) t.match(found, note)
      if (refused) await t.rejects(client.query(refused), refused)
      if (query) {
        const results = await client.query({ text: query, rowMode: 'array' })
        const last = Array.isArray(results) ? results.at(-1) : results
        t.same(last.rows, rows)
      }
      if (!problems) t.same(await make(second), [], 'another start changes nothing')
    })
  }
}
