/**
 * Columns of all types with values at and beyond the ends of what their attributes can have, in the model that `tesser attach` writes: each
 * answer is 200, what cannot be shown is null, and filters, orders, counts and deletions find what is shown. Skipped where PostgreSQL is
 * not installed.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { attachDatabase } from '../../kernel/cli/attach-database/attach-database.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

/** A value in SQL, and as it is shown; without the second one, it is shown in whatever form. */
type Extreme = readonly [sql: string, shown?: unknown]

const text = (...values: string[]): Extreme[] => values.map(each => [`'${each}'`])

/** By type, or by name if several columns have one type. */
const COLUMNS: Readonly<Record<string, { readonly type?: string; readonly values: readonly Extreme[] }>> = {
  bool: { values: [['true', true]] },
  int2: { values: [['-32768', -32768]] },
  int4: { values: [['-2147483648', -2147483648]] },
  int8: { values: [['9223372036854775807'], ['-9223372036854775808']] },
  oid: { values: [['4294967295', 4294967295]] },
  numeric: {
    values: [
      ["'NaN'", null],
      ["'Infinity'", null],
      ["'-Infinity'", null],
      ['1e400', null],
      ['-1e130000', null],
      ['1e-400', 0],
    ],
  },
  'numeric(5,2)': {
    values: [
      ["'NaN'", null],
      ['999.99', 999.99],
    ],
  },
  'numeric(18,0)': { values: [["'NaN'", null], ['-999999999999999999']] },
  'numeric(1000,500)': {
    values: [
      ["'NaN'", null],
      ['1e400', null],
      ['1e-400', 0],
    ],
  },
  'numeric(3,-2)': {
    values: [
      ["'NaN'", null],
      ['99900', 99900],
    ],
  },
  float4: { values: [["'NaN'", null], ["'Infinity'", null], ['3.4028235e38'], ['1e-45']] },
  float8: {
    values: [["'NaN'", null], ["'Infinity'", null], ["'-Infinity'", null], ['1.7976931348623157e308'], ['5e-324']],
  },
  money: {
    values: [
      ["'92233720368547758.07'", null],
      ["'-92233720368547758.08'", null],
      ["'9999999999999999.99'"],
      ['0.01::numeric::money'],
    ],
  },
  date: {
    values: [
      ["'infinity'", null],
      ["'-infinity'", null],
      ["'5874897-12-31'", null],
      ["'275760-09-14'", null],
      ["'275760-09-13'"],
      ["'4713-11-24 BC'"],
    ],
  },
  timestamp: {
    values: [
      ["'infinity'", null],
      ["'-infinity'", null],
      ["'294276-12-31 23:59:59.999999'", null],
      ["'275760-09-13 00:00:00'"],
      ["'4713-11-24 00:00 BC'"],
    ],
  },
  timestamptz: {
    values: [
      ["'infinity'", null],
      ["'294276-12-31 23:59:59.999999Z'", null],
      ["'275760-09-13 00:00:00.001Z'", null],
      ["'4713-11-24 00:00Z BC'"],
    ],
  },
  time: {
    values: [
      ["'24:00'", 86_400_000],
      ["'00:00'", 0],
    ],
  },
  timetz: { values: text('24:00+15:59', '00:00-15:59') },
  interval: { values: text('178000000 years', '-178000000 years', '1 mon', '2147483647 days', '-2562047788:00:54') },
  'interval day to second': { values: [["'2147483647 days'"], ["'-0.0005 seconds'", -1]] },
  json: {
    values: [
      ["'5'", 5],
      [`'"text"'`, 'text'],
      ["'true'", true],
      ["'null'", null],
      [`'"a\\u0000"'`, 'a\0'],
      ["'1e400'", null],
      ["'[]'", []],
    ],
  },
  jsonb: {
    values: [
      ["'5'", 5],
      [`'"text"'`, 'text'],
      ["'false'", false],
      ["'null'", null],
      ["'1e400'", null],
      ["'{}'", {}],
    ],
  },
  deep: { type: 'jsonb', values: [["(repeat('[', 900) || repeat(']', 900))::jsonb"]] },
  bytea: { values: [["''"], ["'\\x00ff'"]] },
  uuid: { values: [["'ffffffff-ffff-ffff-ffff-ffffffffffff'", 'F'.repeat(32)]] },
  text: { values: [["''", ''], ["U&'\\+01F600\\0001\\FFFF'", '😀\u0001\uffff'], ['repeat($$"$$, 100000)']] },
  'varchar(3)': { values: text('abc') },
  'char(3)': { values: [["'a'", 'a']] },
  name: { values: text('x') },
  '"char"': { values: text('x', '') },
  xml: { values: text('<a>&lt;</a>') },
  'bit(3)': { values: [["B'101'", '101']] },
  varbit: { values: [["B''", '']] },
  inet: { values: text('::ffff:1.2.3.4/128') },
  cidr: { values: text('10.0.0.0/8') },
  macaddr: { values: text('08:00:2b:01:02:03') },
  point: { values: text('(Infinity,NaN)') },
  tsvector: { values: text('a:1 b:2') },
  tsquery: { values: text('a & b') },
  int4range: { values: text('empty', '[1,)') },
  numrange: { values: text('[NaN,NaN]') },
  pg_lsn: { values: text('FFFFFFFF/FFFFFFFF') },
  regclass: { values: text('pg_class') },
  xid: { values: text('4294967295') },
  mood: { values: [["'sad'", 'sad']] },
  positive: {
    values: [
      ["'NaN'", null],
      ['1e400', null],
    ],
  },
  pair: { values: [["ROW('NaN', 'infinity')"]] },
  'int8[]': { values: [["'{9223372036854775807,NULL}'"], ["'{}'", []]] },
  'float8[]': { values: [["'{NaN,Infinity,1e308}'", ['NaN', 'Infinity', 1e308]], ["'{{1,2},{3,4}}'"]] },
  'numeric[]': { values: [["'{NaN,1e400}'", ['NaN', null]]] },
  'date[]': { values: [["'{infinity}'", ['infinity']]] },
  'jsonb[]': { values: [[`'{5,"null"}'`, [5, null]]] },
}

/** Keys, of which some have no address, with the type of their attribute. */
const KEYS: Readonly<
  Record<
    string,
    {
      readonly type: string
      readonly attribute: object
      readonly keys: readonly string[]
      readonly left: readonly string[]
    }
  >
> = {
  FloatKey: {
    type: 'float8',
    attribute: { type: 'number' },
    keys: ['1.5', '-1e308'],
    left: ["'NaN'", "'Infinity'", "'-Infinity'"],
  },
  NumericKey: {
    type: 'numeric',
    attribute: { type: 'long64' },
    keys: ['1', '9223372036854775807'],
    left: ["'NaN'", '1.5', '9223372036854775808'],
  },
  DecimalKey: {
    type: 'numeric',
    attribute: { type: 'decimal', scale: 2 },
    keys: ['1.50', '0.00'],
    left: ["'NaN'", '0.001', '1e16'],
  },
  DateKey: {
    type: 'date',
    attribute: { type: 'date', simpleDate: true },
    keys: ["'2020-01-31'"],
    left: ["'infinity'", "'-infinity'", "'275760-09-14'"],
  },
  TimeKey: {
    type: 'timestamptz(3)',
    attribute: { type: 'date' },
    keys: ["'2020-01-31 10:00Z'"],
    left: ["'infinity'", "'294276-01-01'"],
  },
  UuidKey: {
    type: 'uuid',
    attribute: { type: 'uuid' },
    keys: ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
    left: [],
  },
  BoolKey: { type: 'bool', attribute: { type: 'bool' }, keys: ['true', 'false'], left: [] },
}
const names = Object.keys(COLUMNS)
const rowCount = Math.max(...Object.values(COLUMNS).map(({ values }) => values.length))
const columnOf = (name: string): string => `c_${names.indexOf(name)}`

const SQL = `
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN positive AS numeric CHECK (VALUE > 0);
CREATE TYPE pair AS (a float8, b date);
CREATE TABLE extreme (id int PRIMARY KEY, n int, ${names.map(name => `${columnOf(name)} ${COLUMNS[name]!.type ?? name}`).join(', ')});
${Array.from(
  { length: rowCount + 1 },
  (_, row) =>
    `INSERT INTO extreme VALUES (${row + 1}, 0, ${names.map(name => COLUMNS[name]!.values[row]?.[0] ?? 'NULL').join(', ')});`,
).join('\n')}
${Object.entries(KEYS)
  .map(
    ([name, { type, keys, left }]) => `CREATE TABLE "${name}" (id ${type} PRIMARY KEY, n int);
INSERT INTO "${name}" VALUES ${[...keys, ...left].map((key, i) => `(${key}, ${i})`).join(', ')};
CREATE TABLE "Of${name}" (id int PRIMARY KEY, ref ${type} REFERENCES "${name}" ON DELETE SET NULL);
INSERT INTO "Of${name}" VALUES ${[...keys, ...left].map((key, i) => `(${i}, ${key})`).join(', ')};`,
  )
  .join('\n')}`

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.setTimeout(600_000)
  t.teardown(() => server.stop())
  await server.run(SQL)
  const to = join(temporaryFolder(t), 'attached')
  await attachDatabase({ source: server.url, to, connection: 'db', names: {}, keys: {}, only: ['extreme'] }, () => {})
  const model = JSON.parse(readFileSync(join(to, 'model.json'), 'utf8'))
  for (const [name, { attribute }] of Object.entries(KEYS)) {
    const storage = { postgres: 'db', table: name }
    model.dataClasses[name] = {
      storage,
      key: 'id',
      attributes: {
        id: attribute,
        n: { type: 'long' },
        of: { kind: 'relatedEntities', type: `Of${name}Selection`, inverseName: 'one' },
      },
    }
    model.dataClasses[`Of${name}`] = {
      storage: { ...storage, table: `Of${name}` },
      key: 'id',
      attributes: {
        id: { type: 'long' },
        ref: attribute,
        one: { kind: 'relatedEntity', type: name, foreignKey: 'ref' },
      },
    }
  }
  const config = { connections: { db: { url: server.url } } }
  const served: TestServer = await startServer(t, { model, rows: {} }, { config })
  const read = async (path: string, headers?: Record<string, string>) => {
    const answer = await served.get(path, headers)
    t.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`)
    return answer
  }
  // biome-ignore lint/suspicious/noExplicitAny: entities of every shape
  const entitiesOf = async (path: string): Promise<any[]> => (await read(path)).json?.__ENTITIES ?? []
  const idsOf = async (path: string) => (await entitiesOf(path)).map(({ id }) => id)

  await t.test('all columns', async t => {
    t.equal((await entitiesOf('/extreme')).length, rowCount + 1)
    for (const accept of ['text/csv', 'application/x-ndjson']) await read('/extreme', { accept })
  })

  for (const [name, { values }] of Object.entries(COLUMNS)) {
    await t.test(`${name}: ${values.map(([sql]) => sql.slice(0, 30)).join(', ')}`, async t => {
      const column = columnOf(name)
      const { type } = model.dataClasses.extreme.attributes[column]
      const rows = await entitiesOf(`/extreme?$attributes=id,${column}&$orderby=id`)
      for (const [i, [sql, shown]] of values.entries())
        if (shown !== undefined)
          t.same(rows[i][column], type === 'string' && typeof shown === 'number' ? String(shown) : shown, sql)
      const nulls = rows.filter(row => row[column] === null).map(({ id }) => id)
      const others = rows.filter(row => row[column] !== null).map(({ id }) => id)
      // A number beyond all doubles, as JSON, is shown as null, but is not null in filters.
      if (type !== 'object' || !values.some(([sql]) => sql === "'1e400'")) {
        t.same(await idsOf(`/extreme?$filter="${column} = null"&$orderby=id`), nulls, 'null')
        t.same(await idsOf(`/extreme?$filter="${column} != null"&$orderby=id`), others, 'not null')
      }
      if (type === 'object' || type === 'blob') return
      const ordered = await entitiesOf(`/extreme?$attributes=id,${column}&$orderby="${column}, id"`)
      t.same(
        ordered.slice(0, nulls.length).map(({ id }) => id),
        nulls,
        'nulls are lowest',
      )
      t.equal(
        (await read(`/extreme/${column}?$distinct=true`)).json.length,
        new Set(others.map(id => rows[id - 1][column])).size,
      )
      const { count } = (await read(`/extreme/${column}?$compute=$all`)).json[column]
      t.equal(count, others.length, 'count')
    })
  }

  await t.test('a save leaves what it does not name, and replaces what it names', async t => {
    await server.run('CREATE TABLE before AS SELECT id, md5(e::text) AS sum FROM extreme AS e')
    const rows = await entitiesOf('/extreme?$attributes=id')
    const body = rows.map(({ __KEY, __STAMP }) => ({ __KEY, __STAMP, n: 1 }))
    const saved = await served.post('/extreme?$method=update', body)
    t.equal(saved.status, 200, saved.text.slice(0, 500))
    await server.run('UPDATE extreme SET n = 0')
    await server.run(
      `DO $$ BEGIN IF EXISTS (SELECT FROM extreme AS e JOIN before USING (id) WHERE md5(e::text) <> sum) THEN RAISE 'changed'; END IF; END $$`,
    )
    const first = (await entitiesOf('/extreme?$filter="id = 1"&$attributes=id'))[0]
    const [float, day, money, json] = ['float8', 'date', 'money', 'jsonb'].map(columnOf) as [
      string,
      string,
      string,
      string,
    ]
    const set = await served.post('/extreme?$method=update', {
      __KEY: first.__KEY,
      __STAMP: first.__STAMP,
      [float]: 1.5,
      [day]: null,
      [money]: 2,
      [json]: 'a text',
    })
    t.match(set.json, { [float]: 1.5, [day]: null, [json]: 'a text' })
    // Null for what is shown as null changes nothing.
    await server.run(
      `DO $$ BEGIN IF NOT EXISTS (SELECT FROM extreme WHERE id = 1 AND ${float} = 1.5 AND ${day} = 'infinity' AND ${money}::numeric = 2 AND ${json} = '"a text"') THEN RAISE 'not replaced'; END IF; END $$`,
    )
  })

  for (const [name, { keys, left }] of Object.entries(KEYS)) {
    await t.test(`rows without an address do not exist: ${name}`, async t => {
      const count = keys.length
      const shown = await entitiesOf(`/${name}`)
      t.equal(shown.length, count, 'a page')
      t.equal((await read(`/${name}?$top=1`)).json.__COUNT, count, 'a count')
      for (const { __KEY } of shown) t.equal((await read(`/${name}(${__KEY})`)).json.__KEY, __KEY, 'an address')
      t.equal((await read(`/${name}/id?$distinct=true`)).json.length, count, 'distinct keys')
      t.same(
        (await read(`/${name}/n?$distinct=true`)).json,
        keys.map((_, i) => i),
        'distinct values',
      )
      t.equal((await read(`/${name}/n?$compute=count`)).json, count)
      t.same(await idsOf(`/${name}?$filter="n >= ${count}"`), [], 'a filter')
      const { json } = await read(`/${name}?$filter="n >= 0"&$method=entityset`)
      t.equal((await read(json.__ENTITYSET.replace(/^.*\/rest/, ''))).json.__COUNT, count, 'an entity set')
      t.same(
        await idsOf(`/Of${name}?$filter="one.n >= 0"&$orderby=id`),
        keys.map((_, i) => i),
        'over a relation',
      )
      t.same(
        await idsOf(`/Of${name}?$filter="one = null"&$orderby=id`),
        left.map((_, i) => i + count),
        'no related entity',
      )
      const related = await entitiesOf(`/Of${name}?$expand=one&$orderby=id`)
      t.same(
        related.map(({ one }) => one?.n ?? null),
        [...keys.map((_, i) => i), ...left.map(() => null)],
        'expanded',
      )
      const deleted = await served.post(`/${name}?$filter="n >= 0"&$method=delete`)
      t.equal(deleted.status, 200, deleted.text)
      t.equal((await read(`/${name}`)).json.__COUNT, 0)
      await server.run(
        `DO $$ BEGIN IF (SELECT count(*) FROM "${name}") <> ${left.length} THEN RAISE 'another number is left'; END IF; END $$`,
      )
    })
  }
}
