/**
 * Updates of one entity in a database: a single statement where PostgreSQL can compare the values, several for a table with policies. Both
 * have the same answers and leave the same rows. Skipped where PostgreSQL is not installed.
 */
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

const COLUMNS = `id int PRIMARY KEY, name text, n int CHECK (n <> 13), long int8, amount float8, price numeric(8,2), flag bool,
  day date, at timestamptz, uid uuid, code varchar(5), short char(4), rating numeric, word text NOT NULL DEFAULT 'w', one int UNIQUE,
  pair text, fixed text, owner int, info jsonb, stamp int NOT NULL DEFAULT 1, changed timestamptz, statement text`
const TABLES = ['direct', 'usual']
const SQL = TABLES.map(
  table => `
CREATE TABLE ${table}_owner (id int PRIMARY KEY);
INSERT INTO ${table}_owner VALUES (1), (2);
CREATE TABLE ${table} (${COLUMNS}, FOREIGN KEY (owner) REFERENCES ${table}_owner, UNIQUE (n, pair));
CREATE FUNCTION ${table}_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.name = 'refuse' THEN RAISE EXCEPTION 'no such name'; END IF;
  IF NEW.name = 'skip' THEN RETURN NULL; END IF;
  IF NEW.name = 'other' THEN NEW.name := 'replaced'; END IF;
  NEW.statement := left(current_query(), 4);
  RETURN NEW; END $$;
CREATE TRIGGER guard BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_guard();`,
).join('\n')
/** A table with a rule, whose changes PostgreSQL refuses in a part of a statement. */
const RULED = `
CREATE TABLE ruled (${COLUMNS});
CREATE TABLE ruled_log (id int, name text);
CREATE RULE log AS ON UPDATE TO ruled DO ALSO INSERT INTO ruled_log VALUES (NEW.id, NEW.name);
INSERT INTO ruled (id, name) VALUES (1, 'Ann');`
/** The server does not compare values in the statement for a table with policies, which do not apply to its owner. */
const POLICIES = 'ALTER TABLE usual ENABLE ROW LEVEL SECURITY;'
const ROWS = TABLES.map(
  table => `
DELETE FROM ${table};
INSERT INTO ${table} (id, name, n, long, amount, price, flag, day, at, uid, code, short, rating, one, pair, owner, info) VALUES
  (1, 'Ann', 1, 9007199254740993, 1.5, 2.50, true, '2020-01-31', '2020-01-31 08:30:00.123456Z', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
   'abc', 'ab', 0.1234567890123456789, 1, 'x', 1, '{"a":1}'),
  (2, NULL, NULL, NULL, 'NaN', NULL, NULL, 'infinity', NULL, NULL, NULL, NULL, 'NaN', 2, NULL, NULL, NULL),
  (3, 'Cy', 3, 3, -0.0, 0, false, '0044-03-15 BC', '2020-01-31Z', NULL, '', '', 7, 3, 'y', 2, '[]');`,
).join('\n')

const attributes = {
  id: { type: 'long' },
  name: { type: 'string' },
  n: { type: 'long', maxValue: 1000 },
  long: { type: 'long64' },
  amount: { type: 'number' },
  price: { type: 'decimal', scale: 2 },
  flag: { type: 'bool' },
  day: { type: 'date', simpleDate: true },
  at: { type: 'date' },
  uid: { type: 'uuid' },
  code: { type: 'string' },
  short: { type: 'string' },
  rating: { type: 'number' },
  word: { type: 'string', mandatory: true },
  one: { type: 'long' },
  pair: { type: 'string' },
  fixed: { type: 'string', readOnly: true },
  owner: { type: 'long' },
  info: { type: 'object' },
}
const classOf = (table: string) => ({
  storage: { postgres: 'db', table, stamp: 'stamp', timestamp: 'changed' },
  key: 'id',
  attributes: { ...attributes, label: { kind: 'alias', path: 'name' } },
})
const model = {
  name: 'direct',
  dataClasses: { Direct: classOf('direct'), Usual: classOf('usual'), Ruled: classOf('ruled') },
}

interface Case {
  readonly of?: number
  readonly body: Readonly<Record<string, unknown>>
  /** Options of the request. */
  readonly options?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Expected status; 200 by default. */
  readonly status?: number
  /** True if a single statement changes the row. */
  readonly isDirect?: boolean
  /** True if the row stays as it is. */
  readonly isUnchanged?: boolean
}

const same = (body: Case['body'], of = 1): Case => ({ body, of, isUnchanged: true })
const refused = (body: Case['body'], status = 422, of = 1): Case => ({ body, of, status })
const direct = (body: Case['body'], of = 1): Case => ({ body, of, isDirect: true })
const CASES: readonly Case[] = [
  direct({ name: 'Bob' }),
  direct({ name: 'Bob', n: 2, amount: 2.25, flag: false }),
  direct({ name: null }),
  { ...direct({ name: 'x', n: null, flag: null, uid: null }), options: '&$atomic=true' },
  direct({ long: '9007199254740994', price: 2.51, uid: 'B0EEBC999C0B4EF8BB6D6BB9BD380A11', code: 'ab c' }),
  direct({ day: '1!2!2021', owner: 2 }),
  { body: { day: '1!2!2021', at: '2020-01-31T08:30:00.124Z' } },
  { body: { rating: 0.5, info: { b: [1] } } },
  { body: { short: 'cd', one: 9, owner: 2 } },
  direct({ name: '', amount: 0, flag: false, price: 1 }, 2),
  direct({ amount: 1e300, name: 'é😀"\\' }, 3),
  // A sent value that is equal to the stored one changes nothing, not even what the client does not see of it.
  same({ name: 'Ann' }),
  same({ at: '2020-01-31T08:30:00.123Z' }),
  same({ rating: 0.12345678901234568 }),
  same({ price: 2.5 }),
  same({ short: 'ab' }),
  same({ info: { a: 1 } }),
  same({ amount: null }, 2),
  same({ day: null }, 2),
  same({ rating: null }, 2),
  same({ name: null }, 2),
  same({ amount: 0 }, 3),
  same({}),
  same({ id: 1, name: 'Ann' }),
  same({ fixed: null }),
  same({ label: 'Ann' }),
  { body: { name: 'Ann', n: 7 } },
  { body: { label: 'Bea' } },
  direct({ name: 'other' }),
  refused({ name: 'refuse' }),
  refused({ name: 'skip' }),
  refused({ n: 13 }),
  refused({ n: 2000 }),
  refused({ one: 2 }, 409),
  refused({ n: 3, pair: 'y' }, 409),
  refused({ owner: 99 }, 409),
  refused({ word: null }),
  refused({ code: 'abcdef' }),
  refused({ price: 0.001 }),
  refused({ n: 'x' }),
  refused({ n: 5_000_000_000 }),
  refused({ name: 'a\0b' }),
  refused({ fixed: 'x' }),
  refused({ unknown: 1 }, 404),
  refused({ id: 5 }),
  refused({ __STAMP: 99, name: 'x' }, 409),
  refused({ __STAMP: '99', name: 'x' }, 409),
  refused({ __STAMP: null, name: 'x' }, 409),
  refused({ name: 'x' }, 404, 77),
  refused({ __KEY: 'x', name: 'x' }, 404),
  { body: { __STAMP: '1', name: 'by text' } },
  { body: { name: 'x' }, options: '&$refresh=true' },
]

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL + POLICIES + RULED)
  const server = await startServer(
    t,
    { model, rows: {} },
    { setting: 'normal', config: { connections: { db: { url: postgres.url } } } },
  )
  const client = new pg.Client(postgres.url)
  await client.connect()
  t.teardown(() => client.end())
  const rowsOf = async (table: string): Promise<string> => {
    const text = `SELECT (to_jsonb(t) - 'changed' - 'statement')::text, changed IS NULL AS kept FROM ${table} t ORDER BY id`
    return JSON.stringify((await client.query(text)).rows)
  }
  /** An answer without the name of the dataclass and the time of the change. */
  const plain = (text: string): string =>
    text
      .replaceAll(/Direct|Usual/g, 'It')
      .replaceAll(/direct|usual/g, 'it')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')

  for (const { of = 1, body, options = '', status = 200, isUnchanged, isDirect } of CASES) {
    await t.test(`${JSON.stringify(body)} of ${of}${options}`, async t => {
      await postgres.run(ROWS)
      const before = await rowsOf('direct')
      const sent = { __KEY: String(of), __STAMP: 1, ...body }
      const direct = await server.post(`/Direct?$method=update${options}`, sent)
      const usual = await server.post(`/Usual?$method=update${options}`, sent)
      t.equal(direct.status, status, direct.text.slice(0, 300))
      t.equal(usual.status, direct.status, usual.text.slice(0, 300))
      t.equal(plain(direct.text), plain(usual.text), 'the same answer')
      const after = await rowsOf('direct')
      t.equal(after, await rowsOf('usual'), 'the same rows')
      t.equal(after === before, isUnchanged === true || status !== 200 || options.includes('refresh'))
      if (isDirect) {
        const { rows } = await client.query(`SELECT statement FROM direct WHERE id = ${of}`)
        t.equal(rows[0].statement, 'WITH', 'one statement')
      }
      t.equal(plain((await server.get(`/Direct(1)`)).text), plain((await server.get(`/Usual(1)`)).text))
    })
  }

  await t.test('a table with rules is updated in the usual way, on the same connection', async t => {
    const connections = async (): Promise<number[]> => {
      const text = `SELECT pid FROM pg_stat_activity WHERE application_name = 'tesser' ORDER BY pid`
      return (await client.query(text)).rows.map(({ pid }) => pid)
    }
    const update = async (__STAMP: number, name: string) =>
      (await server.post('/Ruled?$method=update', { __KEY: '1', __STAMP, name })).json
    t.match(await update(1, 'Bob'), { __STAMP: 2, name: 'Bob' })
    const before = await connections()
    t.match(await update(2, 'Cy'), { __STAMP: 3, name: 'Cy' })
    t.match(await update(2, 'Di'), { __ERROR: [{ errCode: 1263 }, {}] }, 'of another version')
    t.same(await connections(), before)
    t.same((await client.query('SELECT name FROM ruled_log')).rows, [{ name: 'Bob' }, { name: 'Cy' }])
  })
}
