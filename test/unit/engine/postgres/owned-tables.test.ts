/** Tables that the server creates: names, servers beside each other, rights and databases that are away. */
import t from 'tap'
import { OwnedTables } from '../../../../engine/postgres/owned/owned-tables.ts'
import { markOf } from '../../../../engine/postgres/owned/table-spec.ts'
import { startPostgres } from '../../../support/databases/sql-servers.ts'
import { type Attributes, author, catalogOf, ID, openTables, storage } from './owned-world.ts'

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  const { client, notes, onNote, database, databaseOf, make, commentOf } = await openTables(server)

  t.test('a dataclass has another name', async t => {
    const attributes = { ID, n: { type: 'long', indexed: true } }
    await make(catalogOf({ Old: { storage: storage('renamed'), key: 'ID', attributes } }))
    await client.query('INSERT INTO renamed."Old" (n) VALUES (1)')
    const found = await make(
      catalogOf({ New: { formerName: 'Old', storage: storage('renamed'), key: 'ID', attributes } }),
    )
    t.match(found, [/"renamed"."Old" is now "renamed"."New"/])
    t.same((await client.query('SELECT "ID", n FROM renamed."New"')).rows, [{ ID: 1, n: 1 }])
  })

  t.test('a table that does not fit leaves others usable', async t => {
    await client.query('CREATE SCHEMA mixed; CREATE TABLE mixed."B" (x int)')
    const classOf = () => ({ storage: storage('mixed'), key: 'ID', attributes: { ID } })
    const catalog = catalogOf({ A: classOf(), B: classOf(), C: classOf() })
    t.match((await make(catalog)).join('\n'), /the table of B cannot be made as its model says/)
    const comments = await Promise.all(['A', 'B', 'C'].map(name => commentOf('mixed', name)))
    t.match(comments, [/^Tesser \w+/, null, /^Tesser \w+/])
  })

  t.test('five servers at once make each table once', async t => {
    const attributes = {
      ID,
      n: { type: 'string', unique: true },
      m: { type: 'long' },
      t: { ...author(), foreignKey: 'm' },
    }
    const catalog = catalogOf({ T: { storage: storage('at_once'), key: 'ID', attributes } })
    notes.length = 0
    const ready = [1, 2, 3, 4, 5].map(() =>
      new OwnedTables(catalog, () => databaseOf(server.url), onNote).ready('main', Date.now() + 30_000),
    )
    await Promise.all(ready)
    t.same(notes, ['T: the table "at_once"."T" is made'])
  })

  t.test('a server that runs leaves the table as one with a later model has made it', async t => {
    const model = (attributes: Attributes) =>
      catalogOf({ T: { storage: storage('rolling'), key: 'ID', attributes: { ID, ...attributes } } })
    const old = new OwnedTables(model({ n: { type: 'long' } }), () => database, onNote)
    await old.ready('main', Date.now() + 30_000)
    const later = model({ number: { type: 'long', formerName: 'n' } })
    await make(later)
    notes.length = 0
    await old.ready('main', Date.now() + 30_000)
    t.same(notes, [])
    t.equal(await commentOf('rolling', 'T'), markOf(later.dataClasses[0]!))
  })

  t.test('a role without rights, and with them', async t => {
    await client.query('CREATE ROLE lowly LOGIN; CREATE SCHEMA lowly; GRANT USAGE ON SCHEMA lowly, tesser TO lowly')
    const catalog = catalogOf({ T: { storage: storage('lowly'), key: 'ID', attributes: { ID } } })
    const lowly = databaseOf(server.url.replace('bench@', 'lowly@'))
    t.match(await make(catalog, lowly), [/permission denied for schema lowly, in: CREATE TABLE "lowly"."T"/])
    await client.query('GRANT CREATE ON SCHEMA lowly TO lowly')
    t.match(await make(catalog, lowly), [/the table "lowly"."T" is made/])
  })

  t.test('a database that is away', async t => {
    const catalog = catalogOf({ T: { storage: storage('away'), key: 'ID', attributes: { ID } } })
    await t.rejects(make(catalog, databaseOf('postgres://bench@127.0.0.1:1/none')), { name: 'REMOTE.AWAY' })
  })
}
