/**
 * Keys and unique values of databases that differ only for them, as addresses and conditions: what a GET shows is what a deletion deletes.
 * Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

const SQL = `
CREATE EXTENSION citext;
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE word ("ID" text PRIMARY KEY, code text UNIQUE, mail citext UNIQUE, parent text REFERENCES word, n int);
CREATE TABLE blank_key ("ID" text PRIMARY KEY, code text UNIQUE, n int);
CREATE TABLE citext_key ("ID" citext PRIMARY KEY, n int);
CREATE TABLE loose_key ("ID" text COLLATE loose PRIMARY KEY, n int);
CREATE TABLE char_key ("ID" char(4) PRIMARY KEY, n int);
CREATE TABLE number_key ("ID" numeric(6,2) PRIMARY KEY, n int);
CREATE TABLE double_key ("ID" double precision PRIMARY KEY, n int);
CREATE TABLE uuid_key ("ID" uuid PRIMARY KEY, n int);
CREATE TABLE day_key ("ID" date PRIMARY KEY, n int);
CREATE TABLE time_key ("ID" timestamptz(3) PRIMARY KEY, n int);
CREATE TABLE fine_key ("ID" timestamptz PRIMARY KEY, n int);
CREATE TABLE exact_key ("ID" numeric PRIMARY KEY, n int, other int8);
CREATE TABLE bool_key ("ID" bool PRIMARY KEY, n int);
CREATE TABLE parts_key (a text, b text, n int, PRIMARY KEY (a, b));
CREATE TABLE loose_parts_key (a text COLLATE loose, b citext, n int, PRIMARY KEY (a, b));
CREATE TABLE typed_parts_key (a int, b uuid, n int, PRIMARY KEY (a, b));
CREATE TABLE shown_parts_key (a timestamptz, b interval, c bytea, d float8, n int, PRIMARY KEY (a, b, c, d));
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET datestyle = ''German''', current_database());
  EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database());
  EXECUTE format('ALTER DATABASE %I SET intervalstyle = ''iso_8601''', current_database());
  EXECUTE format('ALTER DATABASE %I SET bytea_output = ''escape''', current_database());
  EXECUTE format('ALTER DATABASE %I SET extra_float_digits = -5', current_database());
END $$;`

const UUID = 'A0EEBC999C0B4EF8BB6D6BB9BD380A11'
const HYPHENATED = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'

/** Rows of each table as SQL. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  word: [
    `'a', 'c1', 'ada@x.org', NULL, 1`,
    `'A', 'C1', 'kurt@x.org', 'a', 2`,
    `'á', 'Ünï', NULL, 'A', 3`,
    `'"q"', 'é', NULL, NULL, 4`,
    `'q', 'É', NULL, NULL, 5`,
    `'a@b', 'x@y', NULL, NULL, 6`,
    `'axb', 'xzy', NULL, NULL, 7`,
  ],
  blank_key: [
    `'a', 'c1', 1`,
    `' a', ' c1', 2`,
    `'a ', 'c1 ', 3`,
    `' ', ' ', 4`,
    `' "a"', '" c1"', 5`,
    `'"a"', '"c1"', 6`,
  ],
  citext_key: [`'Abc', 1`, `'ábc', 2`],
  loose_key: [`'Abc', 1`, `'ábc', 2`],
  char_key: [`'ab', 1`, `'AB', 2`],
  number_key: ['1.00, 1', '1.50, 2'],
  double_key: ['0.1, 1', '1e21, 2'],
  uuid_key: [`'${UUID}', 1`],
  day_key: [`'2020-02-29', 1`],
  time_key: [`'2020-02-29 10:00:00Z', 1`, `'2020-02-29 11:00:00.001Z', 2`],
  bool_key: ['true, 1', 'false, 2'],
  parts_key: [`'a', 'x', 1`, `'A', 'x', 2`, `'~', E'\\\\', 3`],
  loose_parts_key: [`'a', 'x', 1`],
  typed_parts_key: [`7, '${UUID}', 1`],
  shown_parts_key: [`'2020-02-29 10:00:00.000001Z', '1 day 02:00', 'a', 0.1, 1`],
}

const keyed = (table: string, ID: object = { type: 'string' }) => ({
  storage: { postgres: 'words', table },
  key: 'ID',
  attributes: { ID, n: { type: 'long' } },
})

const model = {
  name: 'words',
  dataClasses: {
    Word: {
      storage: { postgres: 'words', table: 'word' },
      key: 'ID',
      attributes: {
        ID: { type: 'string' },
        code: { type: 'string', unique: true },
        mail: { type: 'string', unique: true },
        n: { type: 'long' },
        parentID: { type: 'string', column: 'parent' },
        parent: { kind: 'relatedEntity', type: 'Word', foreignKey: 'parentID' },
        children: { kind: 'relatedEntities', type: 'WordSelection', inverseName: 'parent' },
        alias: { kind: 'alias', path: 'code' },
      },
    },
    Citext: keyed('citext_key'),
    Loose: keyed('loose_key'),
    Char: keyed('char_key'),
    Number: keyed('number_key', { type: 'number' }),
    Double: keyed('double_key', { type: 'number' }),
    Uuid: keyed('uuid_key', { type: 'uuid' }),
    Day: keyed('day_key', { type: 'date', simpleDate: true }),
    Time: keyed('time_key', { type: 'date' }),
    FineTime: keyed('fine_key', { type: 'date' }),
    TextUuid: keyed('citext_key', { type: 'uuid' }),
    ExactNumber: keyed('exact_key', { type: 'number' }),
    Parent: keyed('double_key', { type: 'number' }),
    Child: {
      storage: { postgres: 'words', table: 'exact_key' },
      key: 'ID',
      attributes: {
        ID: { type: 'string' },
        parentID: { type: 'number', column: 'other' },
        parent: { kind: 'relatedEntity', type: 'Parent', foreignKey: 'parentID' },
      },
    },
    Bool: keyed('bool_key', { type: 'bool' }),
    Blank: {
      storage: { postgres: 'words', table: 'blank_key' },
      key: 'ID',
      attributes: { ID: { type: 'string' }, code: { type: 'string', unique: true }, n: { type: 'long' } },
    },
    Parts: keyed('parts_key', { type: 'string', column: ['a', 'b'] }),
    LooseParts: keyed('loose_parts_key', { type: 'string', column: ['a', 'b'] }),
    TypedParts: keyed('typed_parts_key', { type: 'string', column: ['a', 'b'] }),
    ShownParts: keyed('shown_parts_key', { type: 'string', column: ['a', 'b', 'c', 'd'] }),
  },
}

/** Numbers of the entities that a request shows and a deletion removes, or the status of both. */
type Case = readonly [path: string, shown: readonly number[] | number, deleted?: number]

const by = (dataClass: string, filter: string, ...params: unknown[]): string =>
  `/${dataClass}?$filter="${filter}"&$params='${encodeURIComponent(JSON.stringify(params))}'`

const CASES: readonly Case[] = [
  ['/Word(A)', [2]],
  ['/Word["á"]', [3]],
  ['/Word(Á)', 404],
  ['/Word(%22%22q%22%22)', [4]],
  ['/Word(%22q%22)', [5]],
  ['/Word(A,q)', [2, 5]],
  ['/Word:code(C1)', [2]],
  ['/Word:code(c1)', [1]],
  ['/Word:alias(C1)', [2]],
  ['/Word:code(É)', [5]],
  // None has this spelling, and one has its fold.
  ['/Word:code(unI)', [3]],
  // Two have its fold.
  ['/Word:code(e)', 409],
  ['/Word:code(c2)', 404],
  ['/Word:code(x@y)', [6]],
  ['/Word:mail(KURT@x.org)', [2]],
  ['/Word:__KEY(A)', [2]],
  ['/Word:__KEY(Á)', 404],
  ['/Word:ID(A)', [2]],
  [by('Word', '__KEY = :1', 'A'), [2]],
  [by('Word', '__KEY = a'), [1]],
  [by('Word', `__KEY = \\u0022q\\u0022`), [5]],
  [by('Word', '__KEY in :1', ['A', 'á', 'Q']), [2, 3]],
  [by('Word', '__KEY in :1', []), []],
  [by('Word', '__KEY != :1 and n < 4', 'A'), [1, 3]],
  [by('Word', 'not (__KEY = :1) and n < 4', 'A'), [1, 3]],
  [by('Word', '__KEY is :1', 'a@b'), [6]],
  // A wildcard, the beginning and the order compare texts.
  [by('Word', '__KEY = :1', 'a@b'), [6, 7]],
  [by('Word', '__KEY in :1', ['a@b', 'A']), [2, 6, 7]],
  [by('Word', '__KEY begin :1', 'A'), [1, 2, 3, 6, 7]],
  [by('Word', '__KEY <= :1 and n < 4', 'A'), [1, 2, 3]],
  // So does the attribute by its own name.
  [by('Word', 'ID = :1', 'A'), [1, 2, 3]],
  [by('Word', 'parent = :1', 'A'), [3]],
  [by('Word', 'parent in :1', ['Á', 'a']), [2]],
  [by('Word', 'parent.__KEY = :1', 'a'), [2]],
  [by('Word', 'children.__KEY = :1', 'á'), [2]],
  ['/Citext(Abc)', [1]],
  ['/Citext(abc)', 404],
  [by('Citext', '__KEY = :1', 'abc'), []],
  [by('Citext', '__KEY in :1', ['Abc', 'ABC']), [1]],
  [by('Citext', 'ID = :1', 'abc'), [1, 2]],
  ['/Loose(Abc)', [1]],
  ['/Loose(abc)', 404],
  [by('Loose', '__KEY = :1', 'abc'), []],
  [by('Loose', '__KEY = :1', 'Abc'), [1]],
  [by('Loose', '__KEY != :1', 'abc'), [1, 2]],
  ['/Char(ab)', [1]],
  ['/Char("ab  ")', 404],
  [by('Char', '__KEY = :1', 'AB'), [2]],
  [by('Char', '__KEY = :1', 'AB  '), []],
  ['/Number(1.0)', [1]],
  ['/Number(1.5)', [2]],
  [by('Number', '__KEY = 1.50'), [2]],
  ['/Double(0.1)', [1]],
  ['/Double(1e+21)', [2]],
  [`/Uuid(${UUID.toLowerCase()})`, [1]],
  [by('Uuid', '__KEY = :1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), [1]],
  ['/Day(2020-02-29)', [1]],
  ['/Day(29!2!2020)', [1]],
  ['/Time(2020-02-29T10:00:00Z)', [1]],
  ['/Time(2020-02-29T11:00:00Z)', 404],
  ['/Time(2020-02-29T11:00:00.001Z)', [2]],
  ['/Bool(true)', [1]],
  [by('Bool', '__KEY = false'), [2]],
  ['/Parts(A~x)', [2]],
  [by('Parts', '__KEY = :1', 'a~x'), [1]],
  [by('Parts', '__KEY != :1', 'a~x'), [2, 3]],
  // Each key has one form.
  [`/Parts(${encodeURIComponent('\\~~\\\\')})`, [3]],
  [by('Parts', '__KEY = :1', '\\~~\\\\'), [3]],
  ['/Parts(%5Ca~x)', 404],
  ['/Parts(a~x%5C)', 404],
  [`/Parts(${encodeURIComponent('\\~~\\')})`, 404],
  [by('Parts', '__KEY in :1', ['\\a~x', 'a~\\x', 'a~x\\']), []],
  ['/LooseParts(a~x)', [1]],
  ['/LooseParts(A~x)', 404],
  ['/LooseParts(a~X)', 404],
  [`/TypedParts(7~${HYPHENATED})`, [1]],
  [`/TypedParts(07~${HYPHENATED})`, 404],
  [`/TypedParts(7~${HYPHENATED.toUpperCase()})`, 404],
  [`/TypedParts(7~${UUID})`, 404],
  // Parts are as the database writes them, whatever its settings are.
  [`/ShownParts(${encodeURIComponent('2020-02-29 10:00:00.000001+00~1 day 02:00:00~\\\\x61~0.1')})`, [1]],
  [`/ShownParts(${encodeURIComponent('2020-02-29 10:00:00.000001+00~1 day 02:00:00~\\x61~0.1')})`, 404],
  [`/ShownParts(${encodeURIComponent('2020-02-29 10:00:00.000001+00~1 day 02:00:00~\\\\x61~0.10')})`, 404],
  ['/Blank(a)', [1]],
  ['/Blank(%20a)', [2]],
  ['/Blank[%20a]', [2]],
  ['/Blank(a%20)', [3]],
  ['/Blank(%20)', [4]],
  ['/Blank(%20%22a%22)', [5]],
  ['/Blank(%22%22a%22%22)', [6]],
  ['/Blank(%20a%20)', 404],
  ['/Blank(%20%20)', 404],
  ['/Blank(a,%20a)', [1, 2]],
  ['/Blank:code(c1)', [1]],
  ['/Blank:code(%20c1)', [2]],
  ['/Blank:code(c1%20)', [3]],
  ['/Blank:code(%20)', [4]],
  ['/Blank:code(%22%22%20c1%22%22)', [5]],
  ['/Blank:__KEY(%20a)', [2]],
]

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const fill = Object.entries(ROWS).map(([name, rows]) => `INSERT INTO ${name} VALUES ${rows.map(row => `(${row})`)}`)
  const refill = `TRUNCATE ${Object.keys(ROWS)}; ${fill.join(';')}`
  await postgres.run(refill)
  // The relation stays out of the way of deletions.
  await postgres.run('ALTER TABLE word DROP CONSTRAINT word_parent_fkey')
  const server = await startServer(
    t,
    { model, rows: {} },
    { config: { auth: { guestsAdministrate: true }, connections: { words: { url: postgres.url } } } },
  )
  const numbersOf = ({ status, json }: Awaited<ReturnType<typeof server.get>>): number[] | number =>
    status >= 400 ? status : (json.__ENTITIES ?? [json]).map(({ n }: { n: number }) => n).sort()
  const all = async (dataClass: string): Promise<number[]> =>
    numbersOf(await server.get(`/${dataClass}?$top=-1`)) as number[]

  for (const [path, shown, deleted = shown] of CASES) {
    await t.test(path, async t => {
      const dataClass = /^\/(\w+)/.exec(path)![1]!
      t.same(numbersOf(await server.get(path)), shown, 'is shown')
      const before = await all(dataClass)
      const { status } = await server.post(`${path}${path.includes('?') ? '&' : '?'}$method=delete`)
      t.equal(status, typeof deleted === 'number' ? deleted : 200, 'the status of a deletion')
      const left = await all(dataClass)
      const removed = before.filter(n => !left.includes(n))
      t.same(removed, typeof deleted === 'number' ? [] : deleted, 'is deleted')
      if (removed.length > 0) await postgres.run(refill)
    })
  }

  t.test('a key or a foreign key that would show several values as one is refused', async t => {
    for (const dataClass of ['FineTime', 'TextUuid', 'ExactNumber', 'Child']) {
      const { status, json } = await server.get(`/${dataClass}`)
      t.equal(status, 503, dataClass)
      t.match(json, { __ERROR: [{ message: /does not fit its model; the operator finds the reason in the log/ }] })
    }
  })

  t.test('an imported row refers to the entity with this very value', async t => {
    const rows = ['C1', 'c1', 'unI', 'e'].map((parent, i) => ({ ID: `new ${i}`, n: 10 + i, parent }))
    const { json } = await server.post(
      `/$import/Word?$columns=${encodeURIComponent('{"parent":{"attribute":"parent","by":"Word.code"}}')}`,
      rows.map(row => JSON.stringify(row)).join('\n'),
      { 'content-type': 'application/x-ndjson' },
    )
    t.match(json, { inserted: 3 })
    const { json: found } = await server.get('/Word/n,parentID?$filter="n >= 10"&$orderby=n')
    t.same(
      found.__ENTITIES.map(({ n, parentID }: Record<string, unknown>) => [n, parentID]),
      [
        [10, 'A'],
        [11, 'a'],
        [12, 'á'],
      ],
    )
  })
}
