/**
 * Plugin code of a dataclass in PostgreSQL with row security and keys that are texts: functions, a restrict event, entity sets, bytes.
 * Skipped where PostgreSQL is not installed.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { notesPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

const SQL = `
CREATE ROLE scribe LOGIN;
CREATE TABLE note (id text COLLATE "C" PRIMARY KEY, owner text NOT NULL DEFAULT current_setting('app.user'), body text, scan bytea);
INSERT INTO note (id, owner, body, scan) VALUES ('all', '', 'for all', NULL), ('a/1', 'ada', 'a1', '\\x01'), ('a2', 'ada', 'a2', NULL),
  ('a3', 'ada', 'secret', '\\x02'), ('k1', 'kurt', 'k1', NULL);
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON note FOR SELECT USING (owner IN ('', current_setting('app.user')));
CREATE POLICY change ON note FOR UPDATE USING (owner = current_setting('app.user'));
CREATE POLICY make ON note FOR INSERT WITH CHECK (owner = current_setting('app.user'));
GRANT SELECT, INSERT, UPDATE ON note TO scribe;
`
const model = {
  name: 'notes',
  dataClasses: {
    Note: {
      storage: { postgres: 'notes', table: 'note' },
      key: 'ID',
      attributes: {
        ID: { type: 'string', column: 'id' },
        owner: { type: 'string' },
        body: { type: 'string' },
        scan: { type: 'blob' },
      },
    },
  },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const keys = { ada: createKey(), kurt: createKey() }
  const folder = temporaryFolder(t)
  const directory = { users: [], keys: Object.entries(keys).map(([name, key]) => ({ name, hash: hashKey(key) })) }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const url = postgres.url.replace('bench@', 'scribe@')
  const config = {
    plugins: [notesPlugin],
    functions: { threads: 1 },
    connections: { notes: { url, sessionVariable: 'app.user' } },
  }
  const server = await startServer(t, { model, rows: {} }, { config, folder })
  const as = (name: 'ada' | 'kurt') => ({ authorization: `Bearer ${keys[name]}` })
  const result = async (path: string, name?: 'ada' | 'kurt') => (await server.get(path, name && as(name))).json.result
  const call = async (path: string, body: unknown[], name: 'ada' | 'kurt') =>
    (await server.post(path, body, as(name))).json.result

  t.test('code of a user sees what policies and restrict events allow', async t => {
    const found = await Promise.all(
      (['ada', 'kurt', undefined, 'ada', 'kurt', undefined] as const).map(name => result('/Note/count', name)),
    )
    t.same(
      found,
      [3, 2, 1, 3, 2, 1].map(each => [each, each]),
    )
    t.equal((await server.get('/Note', as('ada'))).json.__COUNT, 3, 'and so does a client')
  })

  t.test('selections of code have the order of keys, whatever was read before', async t => {
    t.same(await result('/Note/afterLast', 'ada'), ['all', ['a/1', 'a2'], ['a/1', 'a2', 'all']])
  })

  t.test('saves of code follow policies', async t => {
    t.equal(await call('/Note/add', ['a4'], 'ada'), 'ada')
    t.equal(await call('/Note/add', ['k4'], 'kurt'), 'kurt')
    t.equal(await call('/Note/change', ['a4'], 'ada'), true)
    t.equal(await call('/Note/change', ['a4'], 'kurt'), null)
    t.equal(await call('/Note/change', ['all'], 'kurt'), false)
    await postgres.run("DELETE FROM note WHERE id IN ('a4', 'k4')")
  })

  t.test('entity sets of results keep keys and order', async t => {
    const { json } = await server.get('/Note/backwards?$method=entityset', as('ada'))
    const uri = json.__ENTITYSET.replace(/^.*\/rest/, '')
    const expected = ['all', 'a2', 'a/1']
    const { __ENTITIES: entities } = (await server.get(uri, as('ada'))).json
    t.same(
      entities.map((each: { ID: string }) => each.ID),
      expected,
    )
    t.same(await result(`${uri}/keys`, 'ada'), expected, 'of a selection that is a set')
    const argument = { __DATASET: uri.split('/').at(-1), __ENTITIES: true }
    t.same(await call('/Note/bodies', [argument], 'ada'), ['for all', 'a2', 'a1'], 'as an argument')
  })

  t.test('bytes of hidden entities are not found', async t => {
    const scan = (key: string) => `/Note(${encodeURIComponent(key)})/scan?$binary=true&$expand=scan`
    t.same([...(await server.get(scan('a/1'), as('ada'))).bytes], [1])
    t.equal((await server.get(scan('a/1'), as('kurt'))).status, 404, 'by a policy')
    t.equal((await server.get(scan('a3'), as('ada'))).status, 404, 'by a restrict event')
  })
}
