/**
 * Tables of PostgreSQL that are made in other ways than a model is: names and keys with all characters, domains, partitions, views,
 * triggers, stamps of several types. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

const SQL = `
ALTER DATABASE postgres SET array_nulls = off;
ALTER DATABASE postgres SET standard_conforming_strings = off;
CREATE DOMAIN filled AS text NOT NULL;
CREATE TABLE of_domains (id int PRIMARY KEY, a filled, b text);
INSERT INTO of_domains VALUES (1, 'x', 'y');
CREATE TABLE parted (id int PRIMARY KEY, a text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE base (id int PRIMARY KEY, a text);
INSERT INTO base VALUES (1, 'a');
CREATE VIEW of_base AS SELECT id, a || '' AS a FROM base;
CREATE FUNCTION put_base() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'INSERT' THEN INSERT INTO base VALUES (NEW.id, NEW.a); RETURN NEW;
  ELSIF TG_OP = 'UPDATE' THEN UPDATE base SET a = NEW.a WHERE id = OLD.id; RETURN NEW;
  ELSE DELETE FROM base WHERE id = OLD.id; RETURN OLD; END IF; END $$;
CREATE TRIGGER put_base INSTEAD OF INSERT OR UPDATE OR DELETE ON of_base FOR EACH ROW EXECUTE FUNCTION put_base();
CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int, b int GENERATED ALWAYS AS (a * 2) STORED);
CREATE TABLE stamped (id int PRIMARY KEY, a text, v int8);
INSERT INTO stamped VALUES (1, 'a', 4294967300), (2, 'a', -1), (3, 'a', NULL);
CREATE TABLE skipping (id serial PRIMARY KEY, a text, n int NOT NULL DEFAULT 1);
CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a = 'skip' THEN RETURN NULL; END IF; RETURN NEW; END $$;
CREATE TRIGGER skip BEFORE INSERT OR UPDATE ON skipping FOR EACH ROW EXECUTE FUNCTION skip();
CREATE TABLE chained (id int PRIMARY KEY, a text, pos int, version int NOT NULL DEFAULT 1);
CREATE FUNCTION chain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.id = 1 AND pg_trigger_depth() = 1 THEN UPDATE chained SET pos = 9, version = version + 1 WHERE id = 2; END IF; RETURN NEW; END $$;
CREATE TRIGGER chain AFTER UPDATE ON chained FOR EACH ROW EXECUTE FUNCTION chain();
INSERT INTO chained VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE deferred (id int PRIMARY KEY, parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE guarded (id serial PRIMARY KEY, a text, hidden numeric UNIQUE NOT NULL DEFAULT 1, other text DEFAULT 'x' CHECK (other <> 'bad'));
INSERT INTO guarded (a, hidden) VALUES ('fits', 1);
CREATE TABLE unreadable (id int PRIMARY KEY, hidden numeric, shown numeric, u text);
INSERT INTO unreadable VALUES (1, 31415.9, 31415.9, 'no UUID');
CREATE TABLE "ta""b; DROP TABLE base;--" ("k~" text, "k\\" text, "$1" text, "we""ird -- é" text, PRIMARY KEY ("k~", "k\\"));
INSERT INTO "ta""b; DROP TABLE base;--" VALUES ('a~b', 'c\\d', '1', 'w'), ('', '', '2', NULL), (E'x\\ny', '''', '3', NULL);
CREATE TABLE measured (id int PRIMARY KEY, price money, v float4[]);
INSERT INTO measured VALUES (1, 12.34, '{1,2}'), (2, -0.5, '{1,2,3}');
CREATE TABLE texts (id text PRIMARY KEY, v text);
INSERT INTO texts VALUES ('abc', 'lower'), ('ABC', 'upper'), ('É', 'accent'), ('a"b', 'quote');
CREATE TABLE kinds (
  id int PRIMARY KEY, at timestamptz, day timestamptz, clock time, whole numeric, u text, u32 char(32), doc jsonb, txt jsonb
);
INSERT INTO kinds VALUES
  (1, '9999-12-31 23:59:59.999Z', '2020-01-31 13:23Z', '24:00', 9223372036854775807, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', NULL, 'null', '{"a":1}'),
  (2, '0044-03-15 10:00Z BC', NULL, NULL, NULL, NULL, 'a0eebc999c0b4ef8bb6d6bb9bd380a11', '{}', NULL);
`
const UUID = 'A0EEBC999C0B4EF8BB6D6BB9BD380A11'

const text = { type: 'string' }
const long = { type: 'long' }
const of = (table: string, attributes: object, more: object = {}) => ({
  storage: { postgres: 'db', table, ...more },
  key: 'id',
  attributes: { id: long, ...attributes },
})
const hidden = { type: 'long', scope: 'private' }
const MODEL = {
  name: 'others',
  dataClasses: {
    OfDomains: of('of_domains', { a: text, b: text }),
    Parted: of('parted', { a: text }),
    OfBase: of('of_base', { a: text }),
    Made: of('made', { a: long, b: long }),
    Stamped: of('stamped', { a: text }, { stamp: 'v' }),
    Skipping: of('skipping', { a: text, n: long }, { stamp: 'n' }),
    Chained: of('chained', { a: text, pos: long }, { stamp: 'version' }),
    Deferred: of('deferred', { parent: long }),
    Guarded: of('guarded', { a: text, hidden, other: { ...text, scope: 'private' } }),
    Unreadable: of('unreadable', { hidden }),
    Odd: of('unreadable', { shown: long }),
    Priced: of('measured', { price: { type: 'decimal', scale: 2 } }),
    Vectored: of('measured', { v: { type: 'vector', dimension: 3, metric: 'cosine' } }),
    OddUuid: of('unreadable', { u: { type: 'uuid' } }),
    Names: {
      storage: { postgres: 'db', table: 'ta"b; DROP TABLE base;--' },
      key: 'ID',
      attributes: {
        ID: { ...text, column: ['k~', 'k\\'] },
        dollar: { ...text, column: '$1' },
        weird: { ...text, column: 'we"ird -- é' },
      },
    },
    Texts: of('texts', { id: text, v: text }),
    Kinds: of('kinds', {
      at: { type: 'date' },
      day: { type: 'date', simpleDate: true },
      clock: { type: 'duration' },
      whole: { type: 'long64' },
      u: { type: 'uuid' },
      u32: { type: 'uuid' },
      doc: { type: 'object' },
      txt: text,
    }),
    Local: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' } } },
  },
}

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(SQL)
  const save = (dataClass: string) => `/${dataClass}?$method=update`
  const found = (name: string, filter: string, keys: readonly string[]) => ({
    spec: '4.3.2',
    name,
    get: `/Kinds?$filter="${filter}"`,
    keys,
  })
  protocolTable(
    'columns',
    { model: MODEL, rows: { Local: [{}] } },
    [
      {
        spec: 'P5.9',
        name: 'a column that a save leaves alone may be of a domain without null',
        post: `${save('OfDomains')}&$atomic=false`,
        body: { id: 2, a: 'x' },
        has: { __KEY: '2', a: 'x' },
      },
      {
        spec: '4.4.1',
        name: 'a partitioned table returns the stamps of new rows',
        post: save('Parted'),
        body: [
          { id: 1, a: 'a' },
          { id: 2, a: 'b' },
        ],
        has: { __ENTITIES: [{ __STAMP: /^[1-9]/, a: 'a' }, { a: 'b' }] },
        afterwards: { '/Parted': { __COUNT: 2 } },
      },
      {
        spec: '4.4.2',
        name: 'a view with triggers',
        post: save('OfBase'),
        body: { __KEY: '1', __STAMP: 1, a: 'new' },
        has: { a: 'new' },
        afterwards: { '/OfBase(1)': { a: 'new' } },
      },
      { spec: '4.4.5', name: 'and a deletion there', post: '/OfBase(1)?$method=delete', left: { OfBase: [] } },
      {
        spec: 'P5.9',
        name: 'an identity that is not asked for',
        post: save('Made'),
        body: { id: 7, a: 1 },
        status: 422,
      },
      { spec: 'P5.9', name: 'nor a generated column', post: save('Made'), body: { a: 1, b: 1 }, status: 422 },
      { spec: '4.4.1', name: 'both are read', post: save('Made'), body: { a: 3 }, has: { __KEY: '1', b: 6 } },
      {
        spec: '7.1',
        name: 'a stamp beyond 32 bits',
        post: save('Stamped'),
        body: { __KEY: '1', __STAMP: 4, a: 'n' },
        has: { __STAMP: 5 },
      },
      {
        spec: '7.1',
        name: 'a stamp below 0',
        post: save('Stamped'),
        body: { __KEY: '2', __STAMP: 4294967295, a: 'n' },
        has: { __STAMP: 0 },
      },
      {
        spec: '7.1',
        name: 'a stamp that is null',
        post: save('Stamped'),
        body: { __KEY: '3', __STAMP: 1, a: 'n' },
        has: { __STAMP: 2 },
      },
      {
        spec: 'P5.5',
        name: 'a row that a trigger leaves out is refused alone',
        post: save('Skipping'),
        body: [{ a: 'one' }, { a: 'skip' }, { a: 'three' }],
        status: 422,
        has: { __ENTITIES: [{ a: 'one' }, { __STATUS: { success: false } }, { a: 'three' }] },
        afterwards: { '/Skipping': { __COUNT: 2 } },
      },
      {
        spec: '4.4.3',
        name: 'or with all others',
        post: `${save('Skipping')}&$atomic=true`,
        body: [{ a: 'one' }, { a: 'skip' }],
        status: 422,
        afterwards: { '/Skipping': { __COUNT: 2 } },
      },
      {
        spec: '4.4.2',
        name: 'a change that a trigger leaves out',
        post: save('Skipping'),
        body: { __KEY: '4', __STAMP: 1, a: 'skip' },
        status: 422,
      },
      {
        spec: 'P5.5',
        name: 'a row that changes with an earlier one of the batch is stale; the others have their own outcomes',
        post: save('Chained'),
        body: [
          { __KEY: '1', __STAMP: 1, a: 'A' },
          { __KEY: '2', __STAMP: 1, a: 'B' },
          { __KEY: '3', __STAMP: 1, a: 'C' },
        ],
        status: 409,
        has: {
          __ENTITIES: [
            { __KEY: '1', __STAMP: 2, a: 'A' },
            { __KEY: '2', a: 'b', pos: 9, __STATUS: { success: false }, __ERROR: [{ errCode: 1263 }, {}, {}] },
            { __KEY: '3', __STAMP: 2, a: 'C' },
          ],
        },
      },
      {
        spec: 'P5.5',
        name: 'a deferred foreign key refuses its own entity',
        post: save('Deferred'),
        body: [
          { id: 1, parent: 7 },
          { id: 2, parent: null },
        ],
        status: 409,
        left: { Deferred: ['2'] },
      },
      {
        spec: '4.4.3',
        name: 'and all with $atomic',
        post: `${save('Deferred')}&$atomic=true`,
        body: [
          { id: 3, parent: 7 },
          { id: 4, parent: null },
        ],
        status: 409,
        left: { Deferred: ['2'] },
      },
      {
        spec: '7',
        name: 'a private attribute that is not unique is not named',
        post: save('Guarded'),
        body: { a: 'x' },
        status: 422,
        errors: [1570, 1534],
        text: /^(?!.*hidden"|.*null as)/,
      },
      {
        spec: '7',
        name: 'a private value that its attribute cannot have fails nothing',
        get: '/Unreadable',
        keys: ['1'],
        text: /^(?!.*hidden|.*31415)/,
      },
      ...(
        [
          ['/Odd(1)', { shown: null }],
          ['/Odd?$filter="shown = null"', { __COUNT: 1 }],
          ['/Odd?$filter="shown > 0"', { __COUNT: 0 }],
          ['/Odd/shown?$distinct=true', []],
          ['/Odd/shown?$compute=$all', { shown: { count: 0, sum: 0, max: null } }],
          ['/OddUuid(1)', { u: null }],
          ['/OddUuid?$filter="u begin no"', { __COUNT: 0 }],
          ['/Vectored(1)', { v: null }],
        ] as const
      ).map(([get, has]) => ({ spec: '7', name: `such a value is null: ${get}`, get, has })),
      {
        spec: 'P1.4',
        name: 'a key of names and values with all characters',
        get: '/Names(a%5C~b~c%5C%5Cd)',
        has: { dollar: '1', weird: 'w' },
      },
      { spec: 'P1.4', name: 'a key of empty texts', get: '/Names(~)', has: { dollar: '2' } },
      { spec: 'P1.4', name: 'a key with the character 0', get: '/Names(a%00~b)', status: 404, errors: [1543] },
      { spec: 'P1.4', name: 'a key with too many parts', get: '/Names(a~b~c)', status: 404, errors: [1543] },
      { spec: 'P5.9', name: 'which no entity gets', post: save('Names'), body: { ID: 'a~b~c' }, status: 422 },
      { spec: 'P1.4', name: 'another form of a key', get: '/Names(a%5C~b~%5Cc%5C%5Cd)', status: 404, errors: [1543] },
      { spec: 'P5.9', name: 'which no entity gets either', post: save('Names'), body: { ID: '\\a~b' }, status: 422 },
      { spec: 'P5.9', name: 'nor a backslash at the end', post: save('Names'), body: { ID: 'a~b\\' }, status: 422 },
      {
        spec: '4.4.1',
        name: 'values are no SQL',
        post: save('Names'),
        body: { ID: "'; --~$1", dollar: '"', weird: '\\' },
        has: { __KEY: "'; --~$1", dollar: '"', weird: '\\' },
      },
      { spec: 'P1.4', name: 'keys that differ by case: one', get: '/Texts(abc)', has: { v: 'lower' } },
      { spec: 'P1.4', name: 'and the other', get: '/Texts(ABC)', has: { v: 'upper' } },
      { spec: 'P1.4', name: 'a key with an accent', get: '/Texts(É)', has: { v: 'accent' } },
      { spec: 'P1.4', name: 'a key in another case', get: '/Texts(Abc)', status: 404 },
      { spec: 'P1.4', name: 'a text key with the character 0', get: '/Texts(a%00)', status: 404 },
      {
        spec: '4.4.1',
        name: 'money',
        post: save('Priced'),
        body: { __KEY: '1', __STAMP: 0, price: 1234.5 },
        status: 409,
        has: { price: 12.34 },
      },
      {
        spec: '4.4.1',
        name: 'new money',
        post: save('Priced'),
        body: { id: 3, price: -1234.5 },
        has: { price: -1234.5 },
      },
      { spec: '2.5', name: 'a vector', get: '/Vectored(2)', has: { v: [1, 2, 3] } },
      found('a millisecond of a late year', 'at = 9999-12-31T23:59:59.999Z', ['1']),
      found('a day of a time', 'day = 2020-01-31', ['1']),
      found('a day is not after itself', 'day > 2020-01-31', []),
      found('an integer of 64 bits in a numeric column', 'whole = 9223372036854775807', ['1']),
      found('a UUID in a text', `u = ${UUID}`, ['1']),
      found('a UUID in a text without dashes', `u32 = ${UUID}`, ['2']),
      found('the null of JSON', 'doc = null', ['1']),
      {
        spec: '2.5',
        name: 'a year before the first, and a UUID in any form',
        get: '/Kinds',
        has: {
          __ENTITIES: [
            { u: UUID, clock: 86_400_000, doc: null },
            { at: '-000043-03-15T10:00:00.000Z', u32: UUID },
          ],
        },
      },
      {
        spec: 'P5.9',
        name: 'a time beyond a day',
        post: save('Kinds'),
        body: { id: 3, clock: 90_000_000 },
        status: 422,
      },
      { spec: 'P5.9', name: 'a time below 0', post: save('Kinds'), body: { id: 3, clock: -1 }, status: 422 },
      {
        spec: '4.4.1',
        name: 'JSON as a text stays JSON',
        post: save('Kinds'),
        body: { id: 3, txt: '{"b": 2}', u: UUID, u32: UUID, clock: 86_400_000 },
        has: { txt: '{"b": 2}', u: UUID, u32: UUID, clock: 86_400_000 },
      },
      {
        spec: 'P5.9',
        name: 'and a text that is none is refused',
        post: save('Kinds'),
        body: { id: 4, txt: '{' },
        status: 422,
      },
    ],
    { config: { connections: { db: { url: server.url } } } },
  )
}
