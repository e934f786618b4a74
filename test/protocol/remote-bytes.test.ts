/**
 * Images and blobs in columns of PostgreSQL. Skipped where PostgreSQL is not installed.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

/** A PNG of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** More than is read from the database at a time. */
const LARGE = Buffer.from(Uint8Array.from({ length: 9_000_001 }, (_, i) => (i * 7 + (i >> 8)) & 0xff))

const SQL = `
CREATE TABLE letter (id uuid PRIMARY KEY, name text, scan bytea, stamp bytea, version int NOT NULL DEFAULT 1);
INSERT INTO letter VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'one', '\\x00ff10', NULL), ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', 'two', '', NULL);
CREATE VIEW letters AS SELECT id, scan FROM letter;
`
const attributes = { ID: { type: 'uuid', column: 'id' }, scan: { type: 'blob' } }
const model = {
  name: 'post',
  dataClasses: {
    Letter: {
      storage: { postgres: 'post', table: 'letter', stamp: 'version' },
      key: 'ID',
      attributes: { ...attributes, name: { type: 'string' }, stamp: { type: 'image' } },
    },
    Unstamped: { storage: { postgres: 'post', table: 'letters', readOnly: true }, key: 'ID', attributes },
  },
}
const ONE = 'A0EEBC999C0B4EF8BB6D6BB9BD380A11'
const TWO = 'A0EEBC999C0B4EF8BB6D6BB9BD380A12'
const hash = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const server = await startServer(t, { model, rows: {} }, { config: { connections: { post: { url: postgres.url } } } })
  const scan = (key: string, dataClass = 'Letter') => `/${dataClass}(${key})/scan?$binary=true&$expand=scan`

  await t.test('a link leads to the bytes, null to none', async t => {
    const { json } = await server.get(`/Letter(${ONE})`)
    t.match(json.scan.__deferred.uri, /^\/rest\/Letter\(.*\)\/scan\?\$binary=true/)
    t.equal(json.stamp, null)
    const { bytes, headers } = await server.get(json.scan.__deferred.uri.replace('/rest', ''))
    t.same(bytes, Buffer.of(0, 0xff, 0x10))
    t.equal(headers['content-type'], 'application/octet-stream')
    t.same((await server.get(scan(TWO))).bytes, Buffer.alloc(0))
    t.same((await server.get(`/Letter(${ONE})/stamp?$imageformat=best&$expand=stamp`)).bytes, Buffer.alloc(0))
    t.equal((await server.get(scan('A0EEBC999C0B4EF8BB6D6BB9BD380A13'))).status, 404)
  })

  await t.test('parts and versions', async t => {
    const { headers } = await server.get(scan(ONE))
    const part = await server.get(scan(ONE), { range: 'bytes=1-1' })
    t.equal(part.status, 206)
    t.same(part.bytes, Buffer.of(0xff))
    const unchanged = { 'if-none-match': String(headers.etag) }
    t.equal((await server.get(scan(ONE), unchanged)).status, 304)
    const view = await server.get(scan(ONE, 'Unstamped'))
    const same = { 'if-none-match': String(view.headers.etag) }
    t.equal((await server.get(scan(ONE, 'Unstamped'), same)).status, 304, 'of a table without stamps')
    await postgres.run(`UPDATE letter SET scan = '\\x01', version = 2 WHERE name = 'one'`)
    t.equal((await server.get(scan(ONE), unchanged)).status, 200)
    t.same((await server.get(scan(ONE, 'Unstamped'), same)).bytes, Buffer.of(1))
    t.match(
      (await server.get(`${scan(ONE, 'Unstamped')}&$version=1`)).headers['cache-control'],
      'no-cache',
      'its stamp is not taken for a version',
    )
  })

  await t.test('bytes that are sent to an address are saved', async t => {
    const type = { 'content-type': 'application/octet-stream' }
    t.same((await server.send('PUT', `/Letter(${TWO})/scan`, LARGE, type)).json, { ok: true })
    const { bytes } = await server.get(scan(TWO))
    t.equal(hash(bytes), hash(LARGE))
    const range = await server.get(scan(TWO), { range: 'bytes=4194300-8999999' })
    t.equal(hash(range.bytes), hash(LARGE.subarray(4_194_300, 9_000_000)))
    t.match((await server.get(`/Letter(${TWO})`)).json, { name: 'two', __STAMP: 2 })
    t.same((await server.send('PUT', `/Letter(${TWO})/stamp?$rawPict=image/png`, PNG, type)).json, { ok: true })
    const image = await server.get(`/Letter(${TWO})/stamp?$imageformat=best&$expand=stamp`)
    t.equal(image.headers['content-type'], 'image/png')
    t.same(image.bytes, PNG)
    t.equal(hash((await server.get(scan(TWO))).bytes), hash(LARGE), 'the other value stays')
    t.same((await server.send('DELETE', `/Letter(${TWO})/stamp?$imageformat=best`)).json, { ok: true })
    t.equal((await server.get(`/Letter(${TWO})`)).json.stamp, null)
  })

  await t.test('an upload is attached to new and existing entities, and other changes leave bytes alone', async t => {
    const first = await server.send('POST', '/$upload?$binary=true', Buffer.from('hello'), {})
    const cookie = String(first.headers['set-cookie']).split(';')[0]!
    const upload = { ID: first.json.ID }
    const save = async (body: object) => (await server.post('/Letter?$method=update', body, { cookie })).json
    const made = await save({ ID: 'A0EEBC999C0B4EF8BB6D6BB9BD380A14', name: 'four', scan: upload })
    t.match(made, { name: 'four', scan: { __deferred: { uri: /scan/ } } })
    t.same((await server.get(scan(made.__KEY))).bytes, Buffer.from('hello'))
    const { __STAMP } = (await server.get(`/Letter(${ONE})`)).json
    const changed = await save({ __KEY: ONE, __STAMP, scan: upload })
    t.same((await server.get(scan(ONE))).bytes, Buffer.from('hello'))
    await save({ __KEY: ONE, __STAMP: changed.__STAMP, name: 'uno' })
    t.same((await server.get(scan(ONE))).bytes, Buffer.from('hello'))
    t.match(
      (await server.post('/Letter?$method=update', { name: 'x', scan: { ID: 'F'.repeat(32) } }, { cookie })).json,
      {
        __ERROR: [{}, {}],
      },
    )
    t.match((await server.get('/Letter?$filter="scan = null"')).json, { __COUNT: 0 })
  })
}
