/**
 * Row security of PostgreSQL with the users of requests. Skipped where PostgreSQL is not installed.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

const SQL = `
CREATE ROLE clerk LOGIN;
CREATE TABLE note (id serial PRIMARY KEY, owner text NOT NULL DEFAULT current_setting('app.user'), body text, scan bytea);
INSERT INTO note (owner, body) VALUES ('', 'for all'), ('ada', 'a1'), ('ada', 'a2'), ('kurt', 'k1');
CREATE VIEW notes WITH (security_barrier) AS SELECT id, owner FROM note WHERE owner = current_setting('app.user');
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON note FOR SELECT USING (owner IN ('', current_setting('app.user')));
CREATE POLICY change ON note FOR UPDATE USING (owner = current_setting('app.user'));
CREATE POLICY make ON note FOR INSERT WITH CHECK (owner = current_setting('app.user'));
GRANT SELECT, INSERT, UPDATE ON note TO clerk;
GRANT SELECT ON notes TO clerk;
GRANT USAGE ON SEQUENCE note_id_seq TO clerk;
`
const attributes = { ID: { type: 'long', column: 'id' }, owner: { type: 'string' } }
const model = {
  name: 'notes',
  dataClasses: {
    Note: {
      storage: { postgres: 'notes', table: 'note' },
      key: 'ID',
      attributes: { ...attributes, body: { type: 'string' }, scan: { type: 'blob' } },
    },
    Own: { storage: { postgres: 'notes', table: 'notes', readOnly: true }, key: 'ID', attributes },
  },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const keys = { ada: createKey(), kurt: createKey() }
  const folder = temporaryFolder(t)
  writeFileSync(
    join(folder, 'tesser.directory.json'),
    JSON.stringify({ users: [], keys: Object.entries(keys).map(([name, key]) => ({ name, hash: hashKey(key) })) }),
  )
  const as = (name: 'ada' | 'kurt'): Record<string, string> => ({ authorization: `Bearer ${keys[name]}` })
  const url = postgres.url.replace('bench@', 'clerk@')

  for (const maxConnections of [1, 2]) {
    await t.test(`rows of users over ${maxConnections} connections`, async t => {
      const config = { connections: { notes: { url, maxConnections, sessionVariable: 'app.user' } } }
      const server = await startServer(t, { model, rows: {} }, { config, folder })
      const bodies = async (path: string, headers?: Record<string, string>): Promise<string[]> =>
        (await server.get(path, headers)).json.__ENTITIES.map(
          (each: { body: string; owner: string }) => each.body ?? each.owner,
        )

      await t.test('each user sees what policies allow, in mixed order and at the same time', async t => {
        const expected = { guest: ['for all'], ada: ['for all', 'a1', 'a2'], kurt: ['for all', 'k1'] }
        const seen = await Promise.all(
          Array.from({ length: 60 }, async (_, i) => {
            const who = (['guest', 'ada', 'kurt', 'ada', 'guest'] as const)[i % 5]!
            // Lists of properties are made in the thread for all tasks, others in the kernel thread.
            const path = i % 2 ? '/Note?$top=10' : '/Note?$filter="ID > 0"&$top=1000'
            return [who, await bodies(path, who === 'guest' ? undefined : as(who))] as const
          }),
        )
        for (const [who, found] of seen) t.same(found, expected[who], who)
      })

      await t.test('counts are those of the user', async t => {
        for (const [name, count] of [
          ['ada', 3],
          ['kurt', 2],
          ['ada', 3],
        ] as const) {
          t.equal((await server.get('/Note?$top=1', as(name))).json.__COUNT, count)
          t.equal((await server.get('/Own?$top=1', as(name))).json.__COUNT, count - 1, 'of a view')
        }
        t.equal((await server.get('/Note?$top=1')).json.__COUNT, 1)
        t.equal((await server.get('/Note/ID?$compute=count', as('kurt'))).text, '2')
      })

      await t.test('entities of others do not exist', async t => {
        t.equal((await server.get('/Note(4)', as('ada'))).status, 404)
        t.equal((await server.get('/Note(4)', as('kurt'))).status, 200)
        t.equal((await server.get('/Note(4)/scan?$binary=true', as('ada'))).status, 404)
        const { json } = await server.get('/Note?$filter="ID > 1"&$method=entityset', as('ada'))
        const uri = json.__ENTITYSET.replace(/^.*\/rest/, '')
        t.same((await server.get(uri, as('kurt'))).json.__ENTITIES, [{ __STAMP: 0 }, { __STAMP: 0 }])
        t.same((await server.get(`${uri}?$clean=true`, as('kurt'))).json.__COUNT, 0)
      })

      await t.test('saves follow policies', async t => {
        const mine = (await server.get('/Note(2)', as('ada'))).json
        const body = `a1 ${maxConnections}`
        const changed = [{ __KEY: '2', __STAMP: mine.__STAMP, body }]
        t.equal((await server.post('/Note?$method=update', changed, as('kurt'))).status, 404)
        t.match((await server.post('/Note?$method=update', changed, as('ada'))).json, { __ENTITIES: [{ body }] })
        const all = (await server.get('/Note(1)', as('ada'))).json
        const own = async () => ({
          __KEY: '2',
          __STAMP: (await server.get('/Note(2)', as('ada'))).json.__STAMP,
          body: 'a3',
        })
        const shared = { __KEY: '1', __STAMP: all.__STAMP, body: 'x' }
        for (const parameters of ['', '&$atomic=true']) {
          const { status, json } = await server.post(
            `/Note?$method=update${parameters}`,
            [shared, await own()],
            as('ada'),
          )
          t.equal(status, 422, 'a row that may be seen, not changed')
          t.match(json, { __ENTITIES: [{ __ERROR: [{ message: /a policy, a rule or a trigger/ }, {}] }, {}] })
        }
        await server.post('/Note?$method=update', [{ ...(await own()), body: 'a1' }], as('ada'))
        const forged = await server.post('/Note?$method=update', { owner: 'kurt', body: 'x' }, as('ada'))
        t.equal(forged.status, 422)
        t.match(forged.json, { __ERROR: [{ message: /row security/ }, {}] })
        t.equal((await server.get('/Note', as('kurt'))).json.__COUNT, 2)
      })
    })
  }

  await t.test('a new row gets its user by default', async t => {
    const config = { connections: { notes: { url, sessionVariable: 'app.user' } } }
    const server = await startServer(t, { model, rows: {} }, { config, folder })
    const made = await Promise.all(
      (['ada', 'kurt', 'ada', 'kurt'] as const).map(async name => {
        const { json } = await server.post('/Note?$method=update', [{ body: 'n' }, { body: 'n' }], as(name))
        return [name, json.__ENTITIES.map((each: { owner: string }) => each.owner)] as const
      }),
    )
    for (const [name, owners] of made) t.same(owners, [name, name])
  })
}
