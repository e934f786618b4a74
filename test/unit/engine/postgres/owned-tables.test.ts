/**
 * Effects of a changed model on the table that the server has made. Skipped where PostgreSQL is not installed.
 */
import pg from 'pg'
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { Database } from '../../../../engine/postgres/database/database.ts'
import { OwnedTables } from '../../../../engine/postgres/owned/owned-tables.ts'
import { markOf } from '../../../../engine/postgres/owned/table-spec.ts'
import { startPostgres } from '../../../support/databases/sql-servers.ts'

type Attributes = Record<string, object>

interface Change {
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

const ID = { type: 'long', autoFill: 'increment' }
const TWO_ROWS = `INSERT INTO "T" (n) VALUES (1), (2)`
const author = (onDelete?: string) => ({
  kind: 'relatedEntity',
  type: 'T',
  foreignKey: 'n',
  ...(onDelete && { onDelete }),
})

const changes: readonly Change[] = [
  {
    name: 'an attribute is added',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long' }, s: { type: 'string', indexed: true } },
    notes: [/the column "s" of "\w+"."T" is added/],
    query: 'SELECT n, s FROM "T"',
    rows: [
      [1, null],
      [2, null],
    ],
  },
  {
    name: 'a mandatory attribute is added to a table without rows',
    before: {},
    after: { n: { type: 'long', mandatory: true } },
    refused: 'INSERT INTO "T" (n) VALUES (NULL)',
  },
  {
    name: 'a mandatory attribute is not added to a table with rows, and nothing else is changed',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long64' }, s: { type: 'string', mandatory: true } },
    problems: /column "s" .* contains null values, in: ALTER TABLE "\w+"."T" ADD COLUMN "s" text NOT NULL/,
    query: `SELECT pg_typeof(n)::text FROM "T" LIMIT 1`,
    rows: [['integer']],
  },
  {
    name: 'an attribute with a default is added to all rows, also where it is mandatory',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: {
      n: { type: 'long', default: 7 },
      s: { type: 'string', mandatory: true, default: "it's" },
      at: { type: 'date', autoFill: 'now' },
      code: { type: 'string', autoFill: 'uuid' },
    },
    query: `INSERT INTO "T" DEFAULT VALUES; SELECT n, s, at > now() - interval '1 day', length(code) FROM "T"`,
    rows: [
      [1, "it's", null, 32],
      [2, "it's", null, 32],
      [7, "it's", true, 32],
    ],
  },
  {
    name: 'a time that every row needs is not added to a table with rows',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long' }, at: { type: 'date', autoFill: 'now', mandatory: true } },
    problems: /column "at" .* contains null values/,
  },
  {
    name: 'defaults follow the model, and those of others stay',
    before: {
      n: { type: 'long', default: 1 },
      s: { type: 'string', default: 'a' },
      day: { type: 'date', simpleDate: true, autoFill: 'now' },
      code: { type: 'string', autoFill: 'uuid' },
      mine: { type: 'long' },
    },
    sql: 'ALTER TABLE "T" ALTER COLUMN mine SET DEFAULT 5',
    after: {
      n: { type: 'long64', default: 2 },
      s: { type: 'string' },
      day: { type: 'date', simpleDate: true },
      code: { type: 'string' },
      mine: { type: 'long' },
    },
    query: 'INSERT INTO "T" DEFAULT VALUES; SELECT n, s, day, code, mine FROM "T"',
    rows: [['2', null, null, null, 5]],
  },
  {
    name: 'a default has every type that can have one',
    before: {},
    after: {
      flag: { type: 'bool', default: true },
      tiny: { type: 'byte', default: -1 },
      large: { type: 'long64', default: '9007199254740993' },
      size: { type: 'number', default: 1e300 },
      price: { type: 'decimal', scale: 2, default: -0.5 },
      day: { type: 'date', simpleDate: true, default: '1812-06-24' },
      at: { type: 'date', default: '2024-02-29T12:34:56.789Z' },
      lasts: { type: 'duration', default: '01:00:00' },
      tag: { type: 'uuid', default: 'A0EEBC999C0B4EF8BB6D6BB9BD380A11' },
      info: { type: 'object', default: { s: "it's \\ ☃" } },
    },
    query: `INSERT INTO "T" DEFAULT VALUES; SELECT flag, tiny, large, size, price, day::text, (at AT TIME ZONE 'UTC')::text, lasts, tag, info FROM "T"`,
    rows: [
      [
        ...[true, -1, '9007199254740993', 1e300, '-0.50', '1812-06-24', '2024-02-29 12:34:56.789', '3600000'],
        ...['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', { s: "it's \\ ☃" }],
      ],
    ],
  },
  {
    name: 'the column of a removed attribute stays, and new rows need no value there',
    before: { n: { type: 'long' }, s: { type: 'string', mandatory: true } },
    sql: `INSERT INTO "T" (n, s) VALUES (1, 'a')`,
    after: { n: { type: 'long' } },
    notes: [/the column "s" of "\w+"."T" has no attribute any longer, and stays/],
    query: 'INSERT INTO "T" (n) VALUES (2); SELECT n, s FROM "T"',
    rows: [
      [1, 'a'],
      [2, null],
    ],
  },
  {
    name: 'integers become longer',
    before: { n: { type: 'word', indexed: true } },
    sql: TWO_ROWS,
    after: { n: { type: 'long64', indexed: true } },
    notes: [/the column "n" .* changes from smallint to bigint/],
    query: `SELECT n, pg_typeof(n)::text FROM "T"`,
    rows: [
      ['1', 'bigint'],
      ['2', 'bigint'],
    ],
  },
  {
    name: 'a key that the database numbers becomes longer',
    before: { ID: { type: 'word', autoFill: 'increment' }, n: { type: 'word' }, t: author() },
    sql: TWO_ROWS,
    after: { ID: { type: 'long64', autoFill: 'increment' }, n: { type: 'word' }, t: author() },
    query: `INSERT INTO "T" (n) VALUES (3); INSERT INTO "T" ("ID") VALUES (1e10); INSERT INTO "T" (n) VALUES (1); SELECT "ID" FROM "T"`,
    rows: [['1'], ['2'], ['3'], ['10000000000'], ['10000000001']],
  },
  {
    name: 'integers become doubles',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'number' } },
    query: 'SELECT n FROM "T"',
    rows: [[1], [2]],
  },
  {
    name: 'integers become decimals with room for all of them',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'decimal', scale: 8 } },
    query: 'SELECT n FROM "T"',
    rows: [['1.00000000'], ['2.00000000']],
  },
  {
    name: 'integers become texts, with another index',
    before: { n: { type: 'long', unique: true } },
    sql: TWO_ROWS,
    after: { n: { type: 'string', unique: true } },
    query: `SELECT n FROM "T"`,
    rows: [['1'], ['2']],
    refused: `INSERT INTO "T" (n) VALUES ('1')`,
  },
  {
    name: 'UUIDs become the texts that clients know',
    before: { n: { type: 'uuid', autoFill: 'uuid' } },
    sql: `INSERT INTO "T" (n) VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')`,
    after: { n: { type: 'string' } },
    query: `INSERT INTO "T" (n) VALUES (DEFAULT); SELECT n FROM "T"`,
    rows: [['A0EEBC999C0B4EF8BB6D6BB9BD380A11'], [null]],
  },
  {
    name: 'days become times in UTC',
    before: { n: { type: 'date', simpleDate: true } },
    sql: `INSERT INTO "T" (n) VALUES ('1969-07-21')`,
    after: { n: { type: 'date' } },
    query: `SELECT (n AT TIME ZONE 'UTC')::text FROM "T"`,
    rows: [['1969-07-21 00:00:00']],
  },
  ...(
    [
      ['long64', 'integer', { type: 'long64' }, { type: 'long' }],
      ['a number', 'integer', { type: 'number' }, { type: 'long' }],
      ['a text', 'bigint', { type: 'string' }, { type: 'long64' }],
      ['a time', 'date', { type: 'date' }, { type: 'date', simpleDate: true }],
      ['a decimal', 'numeric\\(18,3\\)', { type: 'decimal', scale: 2 }, { type: 'decimal', scale: 3 }],
      ['an object', 'text', { type: 'object' }, { type: 'string' }],
    ] as const
  ).map(
    ([what, type, before, after]): Change => ({
      name: `${what} does not become ${type}`,
      before: { n: before },
      after: { n: after },
      problems: new RegExp(
        `the column "n" of "\\w+"."T" is of type .*, and its attribute needs ${type}, which could lose values.*: ALTER TABLE "\\w+"."T" ALTER COLUMN "n" TYPE ${type} USING "n"::${type}`,
      ),
    }),
  ),
  {
    name: 'an attribute becomes mandatory where all have values',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long', mandatory: true } },
    refused: 'INSERT INTO "T" (n) VALUES (NULL)',
  },
  {
    name: 'but not where one has none',
    before: { n: { type: 'long' } },
    sql: 'INSERT INTO "T" DEFAULT VALUES',
    after: { n: { type: 'long', mandatory: true } },
    problems: /contains null values, in: ALTER TABLE "\w+"."T" ALTER COLUMN "n" SET NOT NULL/,
  },
  {
    name: 'an attribute is mandatory no longer',
    before: { n: { type: 'long', mandatory: true } },
    after: { n: { type: 'long' } },
    query: 'INSERT INTO "T" (n) VALUES (NULL); SELECT n FROM "T"',
    rows: [[null]],
  },
  {
    name: 'different values become unique',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long', unique: true } },
    refused: 'INSERT INTO "T" (n) VALUES (1)',
  },
  {
    name: 'texts with the same fold do not',
    before: { n: { type: 'string' } },
    sql: `INSERT INTO "T" (n) VALUES ('é'), ('E')`,
    after: { n: { type: 'string', unique: true } },
    problems: /could not create unique index .* is duplicated.*, in: CREATE UNIQUE INDEX/,
  },
  {
    name: 'values are unique no longer',
    before: { n: { type: 'long', unique: true } },
    after: { n: { type: 'long' } },
    query: `INSERT INTO "T" (n) VALUES (1), (1); SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema`,
    rows: [['1']],
  },
  {
    name: 'an attribute has another name',
    before: { n: { type: 'long', unique: true } },
    sql: TWO_ROWS,
    after: { number: { type: 'long64', unique: true, formerName: 'n' } },
    notes: [/the column "number" .* was "n"/, /changes from integer to bigint/],
    query: 'SELECT number FROM "T"',
    rows: [['1'], ['2']],
    refused: 'INSERT INTO "T" (number) VALUES (1)',
  },
  {
    name: 'the former name has no effect once both are there',
    before: { n: { type: 'long' }, m: { type: 'long' } },
    sql: TWO_ROWS,
    after: { m: { type: 'long', formerName: 'n' } },
    query: 'SELECT n, m FROM "T"',
    rows: [
      [1, null],
      [2, null],
    ],
  },
  {
    name: 'a relation is added where its foreign keys lead somewhere',
    before: { n: { type: 'long' } },
    sql: `INSERT INTO "T" (n) VALUES (NULL), (1)`,
    after: { n: { type: 'long' }, t: author() },
    refused: 'INSERT INTO "T" (n) VALUES (99)',
  },
  {
    name: 'but not where they do not',
    before: { n: { type: 'long' } },
    sql: `INSERT INTO "T" (n) VALUES (99)`,
    after: { n: { type: 'long' }, t: author() },
    problems: /violates foreign key constraint .*, in: ALTER TABLE "\w+"."T" ADD CONSTRAINT/,
  },
  {
    name: 'a relation is removed',
    before: { n: { type: 'long' }, t: author() },
    after: { n: { type: 'long' } },
    query: 'INSERT INTO "T" (n) VALUES (99); SELECT n FROM "T"',
    rows: [[99]],
  },
  {
    name: 'a relation gets another effect of deletions',
    before: { n: { type: 'long' }, t: author() },
    sql: `INSERT INTO "T" (n) VALUES (NULL), (1), (2)`,
    after: { n: { type: 'long' }, t: author('cascade') },
    query: 'DELETE FROM "T" WHERE "ID" = 1; SELECT count(*) FROM "T"',
    rows: [['0']],
  },
  {
    name: 'the key does not change',
    before: { n: { type: 'long' } },
    after: { n: { type: 'long' } },
    options: { key: 'n' },
    problems: /the primary key of "\w+"."T" is \(ID\), and that of its model is n/,
  },
  {
    name: 'rows are numbered from now on, behind the ones that are there',
    before: { ID: { type: 'long' }, n: { type: 'long' } },
    sql: 'INSERT INTO "T" ("ID") VALUES (5)',
    after: { ID, n: { type: 'long' } },
    query: 'INSERT INTO "T" (n) VALUES (1); SELECT "ID" FROM "T"',
    rows: [[5], [6]],
  },
  {
    name: 'rows are numbered no longer',
    before: { n: { type: 'long' } },
    after: { ID: { type: 'long' }, n: { type: 'long' } },
    refused: 'INSERT INTO "T" (n) VALUES (1)',
  },
  {
    name: 'indexes and columns of others stay',
    before: { n: { type: 'long' } },
    sql: `CREATE INDEX mine ON "T" (n); ALTER TABLE "T" ADD COLUMN other int NOT NULL DEFAULT 7; INSERT INTO "T" (n) VALUES (1)`,
    after: { n: { type: 'long64' } },
    query: `SELECT other, indexname FROM "T", pg_indexes WHERE schemaname = current_schema AND indexname = 'mine'`,
    rows: [[7, 'mine']],
  },
  {
    name: 'a table that was made by others is left alone',
    before: { n: { type: 'long' } },
    sql: `COMMENT ON TABLE "T" IS 'mine'`,
    after: { n: { type: 'long64' } },
    problems: /"T" exists, and Tesser has not made it; .*: COMMENT ON TABLE "\w+"."T" IS 'Tesser'/,
  },
  {
    name: 'until it may be changed',
    before: {},
    sql: `DROP TABLE "T"; CREATE TABLE "T" ("ID" serial PRIMARY KEY, n varchar(3)); COMMENT ON TABLE "T" IS 'Tesser'; INSERT INTO "T" (n) VALUES ('a')`,
    after: { n: { type: 'string', unique: true } },
    query: `INSERT INTO "T" (n) VALUES ('long text'); SELECT "ID", n, __stamp FROM "T"`,
    rows: [
      [1, 'a', 1],
      [2, 'long text', 1],
    ],
  },
  {
    name: 'a view is not a table',
    before: {},
    sql: `DROP TABLE "T"; CREATE VIEW "T" AS SELECT 1 AS "ID"`,
    after: {},
    problems: /"T" is not a table; leave out "owned"/,
  },
  {
    name: 'a table that has gone is made again',
    before: {},
    sql: `DROP TABLE "T"`,
    after: {},
    notes: [/the table "\w+"."T" is made/],
    query: 'SELECT count(*) FROM "T"',
    rows: [['0']],
  },
  {
    name: 'changes by other programs show in the stamp',
    before: { n: { type: 'long' } },
    sql: TWO_ROWS,
    after: { n: { type: 'long' } },
    query: 'UPDATE "T" SET n = 3 WHERE n = 2; SELECT n, __stamp FROM "T"',
    rows: [
      [1, 1],
      [3, 2],
    ],
  },
  {
    name: 'lists of unique attributes read the same with underscores between the names',
    before: {},
    after: {
      a_b: { type: 'long', unique: true },
      a: { type: 'long' },
      b: { type: 'long' },
      b_c: { type: 'long' },
      c: { type: 'long' },
    },
    options: {
      unique: [
        ['a', 'b'],
        ['a', 'b_c'],
        ['a', 'b', 'c'],
      ],
    },
    query: `SELECT count(*)::int FROM pg_indexes WHERE tablename = 'T' AND schemaname = current_schema() AND indexname LIKE '%unique%'`,
    rows: [[4]],
  },
]

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
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

  const catalogOf = (dataClasses: Record<string, object>) => loadModel({ name: 'x', dataClasses })
  /** Makes the tables of a model. */
  const make = async (catalog: ReturnType<typeof catalogOf>, on = database): Promise<string[]> => {
    notes.length = 0
    await new OwnedTables(catalog, () => on, onNote).ready('main', Date.now() + 30_000)
    return [...notes]
  }
  const storage = (schema: string) => ({ postgres: 'main', schema, owned: true })
  const commentOf = async (schema: string, table: string) =>
    (await client.query(`SELECT obj_description(to_regclass('${schema}."${table}"'), 'pg_class') AS c`)).rows[0].c

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
