/**
 * Names and values that would be SQL if they were not quoted, or not parameters. Every answer is right, and nothing changes that a
 * request does not ask for. Skipped where PostgreSQL is not installed.
 */
import t, { type Test } from 'tap'
import pg from 'pg'
import { quoteName } from '../../engine/postgres/sql/quote.ts'
import { fits, fold } from '../support/reference/compare.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

const ATTACKS = [
  '"',
  '""',
  "'",
  "''",
  '\\',
  '\\"',
  "\\'",
  '$1',
  '$2::int4',
  '$$',
  '$fold$',
  ':1',
  '?',
  '%',
  '_',
  '@',
  '/*',
  '*/',
  '-- ',
  ';',
  '{"a","b"}',
  '{',
  '","',
  'NULL',
  'null',
  '~',
  '\\~',
  '`',
  "E'\\x27'",
  '"; DROP TABLE victim; --',
  "'; DROP TABLE victim; --",
  "\\'; DROP TABLE victim; --",
  '$fold$; DROP TABLE victim; --',
  '*/ DROP TABLE victim; /*',
  ') OR 1 = 1 --',
  "' OR '1' = '1",
  "' || (DELETE FROM victim RETURNING 'x') || '",
  '1); DELETE FROM victim; SELECT (1',
  'pg_sleep(100)',
  'a\nb',
  'a\tb',
  'ʼ; DROP TABLE victim; ＇ ＂',
  '\u{10ffff}',
  '\ufffe',
  '💣',
  '__proto__',
  'constructor',
]
/** Names have at most 63 bytes, and those that begin with `pg_` are the system's. */
const NAMES = ATTACKS.filter(text => Buffer.byteLength(text) <= 55 && !text.startsWith('pg_'))
/** No database of PostgreSQL holds these. */
const IMPOSSIBLE = ['\0', 'a\0b', '\ud800', 'x\udc00y']

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run("CREATE TABLE victim (id int PRIMARY KEY, name text); INSERT INTO victim VALUES (1, 'alive')")
  const client = new pg.Client(server.url)
  await client.connect()
  t.teardown(() => client.end())
  const rowsOf = async (sql: string): Promise<unknown[]> => (await client.query({ text: sql, rowMode: 'array' })).rows
  /** Everything that is there beside the rows of the tables. */
  const objects = (): Promise<unknown[]> =>
    rowsOf(`SELECT n.nspname, c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname NOT LIKE 'pg_%' UNION ALL SELECT rolname, '', '' FROM pg_roles UNION ALL SELECT name, setting, ''
      FROM pg_settings WHERE source = 'database' UNION ALL SELECT 'victim', id::text, '' FROM victim ORDER BY 1, 2`)
  const connections = { main: { url: server.url } }

  t.test('names of schemas, tables and columns', async t => {
    const dataClasses: Record<string, object> = {}
    for (const [i, name] of NAMES.entries()) {
      const [id, text, parent, stamp, time] = ['i', 't', 'p', 's', 'm'].map(letter => letter + name) as [
        string,
        string,
        string,
        string,
        string,
      ]
      const table = quoteName(name, name)
      await client.query(`CREATE SCHEMA ${quoteName(name)};
        CREATE TABLE ${table} (${quoteName(id)} int PRIMARY KEY, ${quoteName(text)} text, ${quoteName(parent)} int
          REFERENCES ${table}, ${quoteName(stamp)} int NOT NULL DEFAULT 1, ${quoteName(time)} timestamptz);
        INSERT INTO ${table} VALUES (1, 'one', NULL), (2, 'two', 1)`)
      dataClasses[`C${i}`] = {
        storage: { postgres: 'main', schema: name, table: name, stamp, timestamp: time },
        key: 'ID',
        attributes: {
          ID: { type: 'long', column: id },
          text: { type: 'string', column: text },
          parentID: { type: 'long', column: parent },
          parent: { kind: 'relatedEntity', type: `C${i}`, foreignKey: 'parentID' },
          children: { kind: 'relatedEntities', type: `C${i}Selection`, inverseName: 'parent' },
        },
      }
    }
    const before = await objects()
    const tesser = await startServer(
      t,
      { model: { name: 'names', dataClasses }, rows: {} },
      { config: { connections } },
    )
    for (const [i, name] of NAMES.entries()) {
      const get = async (path: string): Promise<string> => {
        const { status, json, text } = await tesser.get(`/C${i}${path}`)
        return status === 200 ? (json.__ENTITIES?.map((each: { ID: number }) => each.ID).join() ?? text) : text
      }
      const answers = [
        await get('?$filter="text = TWO"'),
        await get('?$filter="parent.text = one"'),
        await get('?$filter="children.text = two"'),
        await get('?$orderby=parent.text desc,text'),
        await get('(2,1)'),
        await get(':text(one)?$attributes=text').then(text => JSON.parse(text).text),
        await get('/ID?$compute=sum'),
        await get('/text?$distinct=true'),
      ]
      t.same(answers, ['2', '2', '1', '2,1', '2,1', 'one', '3', '["one","two"]'], name)
      const saved = await tesser.post(`/C${i}?$method=update`, [
        { ID: 3, text: 'three', parentID: 2 },
        { __KEY: '1', __STAMP: 1, text: 'ONE' },
      ])
      t.equal(saved.status, 200, `${name}: ${saved.text}`)
      t.equal((await tesser.send('DELETE', `/C${i}(3)`)).status, 200)
      t.same(
        await rowsOf(
          `SELECT ${quoteName(`i${name}`)}, ${quoteName(`t${name}`)}, ${quoteName(`s${name}`)} FROM ${quoteName(name, name)} ORDER BY 1`,
        ),
        [
          [1, 'ONE', 2],
          [2, 'two', 1],
        ],
      )
    }
    t.same(await objects(), before, 'nothing else has changed')
  })

  t.test('values', async t => {
    await client.query(`CREATE TABLE item (key text PRIMARY KEY, text text, padded varchar(200), other text REFERENCES item, whole int, big int8, number float8,
      exact numeric(20, 4), at timestamptz, day date, span interval, yes bool, code uuid, info jsonb, tags text[], version int NOT NULL DEFAULT 1);
      CREATE TABLE pair (a text, b text, v int, PRIMARY KEY (a, b))`)
    const dataClasses = {
      Item: {
        storage: { postgres: 'main', table: 'item', stamp: 'version' },
        key: 'key',
        attributes: {
          key: { type: 'string' },
          text: { type: 'string' },
          padded: { type: 'string' },
          other: { type: 'string' },
          whole: { type: 'long' },
          big: { type: 'long64' },
          number: { type: 'number' },
          exact: { type: 'decimal', scale: 4 },
          at: { type: 'date' },
          day: { type: 'date', simpleDate: true },
          span: { type: 'duration' },
          yes: { type: 'bool' },
          code: { type: 'uuid' },
          info: { type: 'object' },
          tags: { type: 'object' },
          otherItem: { kind: 'relatedEntity', type: 'Item', foreignKey: 'other' },
          items: { kind: 'relatedEntities', type: 'ItemSelection', inverseName: 'otherItem' },
        },
      },
      Pair: {
        storage: { postgres: 'main', table: 'pair' },
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['a', 'b'] },
          a: { type: 'string' },
          b: { type: 'string' },
          v: { type: 'long' },
        },
      },
      Note: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          itemKey: { type: 'string' },
          item: { kind: 'relatedEntity', type: 'Item', foreignKey: 'itemKey' },
        },
      },
    }
    const before = await objects()
    const tesser = await startServer(
      t,
      { model: { name: 'values', dataClasses }, rows: {} },
      { config: { connections } },
    )
    await saves(t, tesser, rowsOf)
    for (const attack of [...ATTACKS, ...IMPOSSIBLE])
      await t.test(JSON.stringify(attack), t => reads(t, tesser, attack))
    t.same(
      await rowsOf('SELECT key FROM item ORDER BY key COLLATE "C"'),
      [...ATTACKS].sort(byBytes).map(key => [key]),
    )
    for (const attack of ATTACKS) {
      const { status, text } = await tesser.send(
        'DELETE',
        `/Item?$filter="text = :1"&$params=${asJson([attack.replaceAll('@', '')])}`,
      )
      if (attack !== '@') t.equal(status, 200, `${attack}: ${text}`)
    }
    t.same(await objects(), before, 'nothing else has changed')
  })
}

const SCALARS = ['whole', 'big', 'number', 'exact', 'at', 'day', 'span', 'yes', 'code']

const asJson = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Every attack becomes the values of an entity. */
async function saves(t: Test, tesser: TestServer, rowsOf: (sql: string) => Promise<unknown[]>): Promise<void> {
  for (const attack of ATTACKS) {
    const info = { list: [attack], ...(attack !== '__proto__' && { [attack]: attack }) }
    const entity = { key: attack, text: attack, padded: attack, other: attack, info, tags: [attack] }
    const { status, text } = await tesser.post('/Item?$method=update', entity)
    t.equal(status, 200, `${attack}: ${text}`)
    await tesser.post('/Note?$method=update', { itemKey: attack })
    const pair = await tesser.post('/Pair?$method=update', { a: attack, b: attack, v: 1 })
    t.equal(pair.status, 200, `${attack}: ${pair.text}`)
  }
  const stored = await rowsOf(
    `SELECT key, text, padded, other, info -> 'list' ->> 0, coalesce(info ->> key, key), tags[1] FROM item ORDER BY key COLLATE "C"`,
  )
  t.same(
    stored,
    [...ATTACKS].sort(byBytes).map(text => Array(7).fill(text)),
    'as they were sent',
  )
  t.same((await rowsOf('SELECT count(*)::int FROM pair WHERE a = b'))[0], [ATTACKS.length])
}

/** An attack in every place of a request. */
async function reads(t: Test, tesser: TestServer, attack: string): Promise<void> {
  const isStored = ATTACKS.includes(attack)
  const text = encodeURIComponent(attack.toWellFormed())
  const params = asJson([attack])
  const keysOf = async (path: string): Promise<string[]> => {
    const { status, json, text } = await tesser.get(path)
    return status === 200 ? json.__ENTITIES.map((each: { __KEY: string }) => each.__KEY) : [text]
  }
  const fitting = ATTACKS.filter(each => fits(fold(each), fold(attack))).sort(byBytes)
  for (const path of ['text', 'padded', 'key', 'otherItem.text', 'items.text', 'info.list[]', 'tags[]']) {
    t.same(await keysOf(`/Item?$filter="${path} = :1"&$params=${params}&$top=100`), fitting, `${path} =`)
  }
  t.same(
    await keysOf(`/Item?$filter="text in :1"&$params=${asJson([[attack, 'nowhere']])}&$top=100`),
    isStored ? fitting : [],
    'in',
  )
  t.same(
    (await keysOf(`/Note?$filter="item.text = :1"&$params=${params}&$top=100`)).length,
    fitting.length,
    'from the store',
  )
  if (isStored) {
    const { json } = await tesser.get(`/Item?$filter="text = :1"&$params=${params}&$top=100`)
    const { otherItem } = json.__ENTITIES.find((each: { key: string }) => each.key === attack)
    // A link to a key of double quotes alone cannot be followed, whatever the dataclass.
    if (!/^"+$/.test(attack)) {
      const { __KEY, text: value, info } = (await tesser.get(otherItem.__deferred.uri.slice('/rest'.length))).json
      t.same({ __KEY, value, list: info?.list }, { __KEY: attack, value: attack, list: [attack] }, 'an address')
    }
    const key = Array(2).fill(attack.replace(/[~\\]/g, '\\$&')).join('~')
    t.ok(
      (await keysOf(`/Pair?$filter="ID = :1"&$params=${asJson([key])}&$top=100`)).includes(key),
      'a key of two columns',
    )
  }
  const anywhere = [
    `/Item("${text}")`,
    `/Item('${text}')`,
    `/Item(${text})`,
    `/Item(${text},${text})`,
    `/Item:text(${text})`,
    `/Item:whole(${text})`,
    `/Pair(${text})`,
    `/Pair(${text}~${text})`,
    `/Item/${text}`,
    `/Item/${text}?$compute=count`,
    `/Item/text?$compute=${text}`,
    `/Item/text?$distinct=${text}`,
    `/Item?$attributes=${text}`,
    `/Item?$attributes=info.${text}`,
    `/Item?$expand=${text}`,
    `/Item?$orderby=${text}`,
    `/Item?$orderby=text ${text}`,
    `/Item?$orderby=info.${text}`,
    `/Item?$top=${text}`,
    `/Item?$skip=${text}`,
    `/Item?$filter=${text}`,
    `/Item?$filter="text = ${text}"`,
    `/Item?$filter="text = '${text}'"`,
    `/Item?$filter="text % '${text}'"`,
    `/Item?$filter="info.${text} = 1"`,
    `/Item?$filter="info['${text}'] = 1"`,
    `/Item?$filter="${text} = 1"`,
    `/Item?$filter="text ${text} 1"`,
    `/Item?$filter="text = :1"&$params=${text}`,
    ...['=', '<', '!=', '%', 'in'].flatMap(operator => {
      const names = operator === '=' ? [...SCALARS, 'text', 'info.list', 'info.n'] : ['text', 'whole', 'info.n']
      const operands = operator === 'in' ? asJson([[attack]]) : params
      return names.map(name => `/Item?$filter="${name} ${operator} :1"&$params=${operands}`)
    }),
  ]
  for (const path of anywhere) await isHarmless(t, path, tesser.get(path))
  for (const name of ['__KEY', '__STAMP', 'other', attack, ...SCALARS]) {
    const saved = await tesser.post('/Item?$method=validate', { key: 'new', [name]: attack })
    await isHarmless(t, `a save of ${name}`, Promise.resolve(saved))
  }
}

/** The request is answered, or refused as one that the client can correct. */
async function isHarmless(t: Test, what: string, answer: ReturnType<TestServer['get']>): Promise<void> {
  const { status, text } = await answer
  if (status >= 500 || /42601|syntax error/.test(text)) t.fail(`${what}: ${status} ${text.slice(0, 300)}`)
}
