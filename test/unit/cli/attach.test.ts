/** Tables of a PostgreSQL database as dataclasses: `tesser attach`. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadModel } from '../../../engine/index.ts'
import { attachDatabase, type AttachArguments } from '../../../kernel/cli/attach-database/attach-database.ts'
import { type SqlServer, startPostgres } from '../../support/databases/sql-servers.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of model files
type Json = any

interface Attached {
  readonly model: Json
  readonly config: Json
  readonly sql: string
  readonly text: string
}

/** Attaches all that a script makes in an empty database. */
async function attach(
  t: Test,
  server: SqlServer,
  script: string,
  more: Partial<AttachArguments> = {},
): Promise<Attached> {
  await server.run(EMPTY)
  await server.run(script)
  return attachAsItIs(t, server.url, more)
}

async function attachAsItIs(t: Test, source: string, more: Partial<AttachArguments> = {}): Promise<Attached> {
  const to = join(t.testdir({}), 'attached')
  const lines: string[] = []
  await attachDatabase({ source, to, connection: 'main', names: {}, keys: {}, ...more }, line => lines.push(line))
  const read = (name: string): string => readFileSync(join(to, name), 'utf8')
  const model = JSON.parse(read('model.json'))
  loadModel(model)
  const text = lines.join('\n').replaceAll(to, 'TO').replaceAll(source, 'ADDRESS')
  return { model, config: JSON.parse(read('tesser.config.json')), sql: read('prepare.sql'), text }
}

const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
  CREATE SCHEMA public;
END $$`

interface Case {
  readonly name: string
  readonly sql: string
  readonly options?: Partial<AttachArguments>
  /** Dataclasses, whole. */
  readonly classes?: Record<string, Json>
  /** Parts of the output. */
  readonly says?: readonly string[]
  readonly saysNot?: readonly RegExp[]
}

const main = { postgres: 'main' }

const CASES: readonly Case[] = [
  {
    name: 'a table with a counted key, limits and indexes',
    sql: `CREATE TABLE film (id serial PRIMARY KEY, title varchar(80) NOT NULL, code char(4) UNIQUE, price numeric(5,2) NOT NULL DEFAULT 1, made date);
      CREATE INDEX ON film (title)`,
    classes: {
      film: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long', autoFill: 'increment' },
          title: { type: 'string', maxLength: 80, indexed: true, mandatory: true },
          code: { type: 'string', maxLength: 4, unique: true },
          price: { type: 'decimal', scale: 2 },
          made: { type: 'date', simpleDate: true },
        },
      },
    },
    says: ['1 dataclass with 0 relations in TO/model.json; the connection is in TO/tesser.config.json'],
  },
  {
    name: 'a table between two others, with a key of its two foreign keys, is usable in both directions',
    sql: `CREATE TABLE actor (actor_id int PRIMARY KEY); CREATE TABLE film (film_id int PRIMARY KEY);
      CREATE TABLE film_actor (film_id int REFERENCES film ON DELETE CASCADE, actor_id int REFERENCES actor, billing int, PRIMARY KEY (film_id, actor_id))`,
    classes: {
      actor: {
        storage: main,
        key: 'actor_id',
        attributes: {
          actor_id: { type: 'long' },
          film_actors: { kind: 'relatedEntities', type: 'film_actorSelection', inverseName: 'actor' },
        },
      },
      film: {
        storage: main,
        key: 'film_id',
        attributes: {
          film_id: { type: 'long' },
          film_actors: { kind: 'relatedEntities', type: 'film_actorSelection', inverseName: 'film' },
        },
      },
      film_actor: {
        storage: main,
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['film_id', 'actor_id'] },
          film_id: { type: 'long', mandatory: true },
          actor_id: { type: 'long', mandatory: true },
          billing: { type: 'long' },
          film: {
            kind: 'relatedEntity',
            type: 'film',
            foreignKey: 'film_id',
            inverseName: 'film_actors',
            onDelete: 'cascade',
          },
          actor: { kind: 'relatedEntity', type: 'actor', foreignKey: 'actor_id', inverseName: 'film_actors' },
        },
      },
    },
    says: ['film_actor has a key of several columns: the attribute ID is made of them'],
  },
  {
    name: 'mandatory columns in a circle of relations stay mandatory: nothing is copied',
    sql: `CREATE TABLE staff (id int PRIMARY KEY, store_id int NOT NULL);
      CREATE TABLE store (id int PRIMARY KEY, head_id int NOT NULL REFERENCES staff);
      ALTER TABLE staff ADD FOREIGN KEY (store_id) REFERENCES store`,
    classes: {
      staff: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          store_id: { type: 'long', mandatory: true },
          store: { kind: 'relatedEntity', type: 'store', foreignKey: 'store_id', inverseName: 'staffs' },
          stores: { kind: 'relatedEntities', type: 'storeSelection', inverseName: 'head' },
        },
      },
      store: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          head_id: { type: 'long', mandatory: true },
          staffs: { kind: 'relatedEntities', type: 'staffSelection', inverseName: 'store' },
          head: { kind: 'relatedEntity', type: 'staff', foreignKey: 'head_id', inverseName: 'stores' },
        },
      },
    },
  },
  {
    name: 'values that the database gives',
    sql: `CREATE TABLE item (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, made timestamptz NOT NULL DEFAULT now(), net int NOT NULL, gross int GENERATED ALWAYS AS (net * 2) STORED);
      CREATE TABLE token (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), by_default bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY);
      CREATE DOMAIN short AS varchar(3) NOT NULL; CREATE DOMAIN shorter AS short DEFAULT 'x' CHECK (length(VALUE) < 2);
      CREATE TABLE typed (id short PRIMARY KEY, a short, b shorter, c int NULL)`,
    classes: {
      item: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long64', autoFill: 'increment', readOnly: true },
          made: { type: 'date' },
          net: { type: 'long', mandatory: true },
          gross: { type: 'long', readOnly: true },
        },
      },
      token: {
        storage: main,
        key: 'id',
        attributes: { id: { type: 'uuid', autoFill: 'uuid' }, by_default: { type: 'long64' } },
      },
      typed: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'string', maxLength: 3 },
          a: { type: 'string', maxLength: 3, mandatory: true },
          b: { type: 'string', maxLength: 3 },
          c: { type: 'long' },
        },
      },
    },
  },
  {
    name: 'types',
    sql: `CREATE TYPE mood AS ENUM ('so.so', 'good'); CREATE TYPE pair AS (a int, b int);
      CREATE TABLE typed (id int2 PRIMARY KEY, a bool, b int8, c float4, d money, e text, f name, g uuid, h timestamp, i time, j jsonb, k int[], l bytea, m mood, n inet, o pair, p xml, q numeric(18), r oid, s interval day to second, u bit(3), v int4range)`,
    classes: {
      typed: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'word' },
          a: { type: 'bool' },
          b: { type: 'long64' },
          c: { type: 'number' },
          d: { type: 'decimal', scale: 2, asText: true },
          e: { type: 'string' },
          f: { type: 'string' },
          g: { type: 'uuid' },
          h: { type: 'date' },
          i: { type: 'duration' },
          j: { type: 'object' },
          k: { type: 'object' },
          l: { type: 'blob' },
          m: { type: 'string', pattern: 'so\\.so|good' },
          n: { type: 'string' },
          o: { type: 'string' },
          p: { type: 'string' },
          q: { type: 'decimal', scale: 0, asText: true },
          r: { type: 'long64' },
          s: { type: 'duration' },
          u: { type: 'string' },
          v: { type: 'string' },
        },
      },
    },
    says: ['typed.n is a string with the text of its inet', 'typed.v is a string with the text of its int4range'],
  },
  {
    name: 'types that depend on values are those for any value',
    sql: `CREATE TABLE rate (id int PRIMARY KEY, a numeric, b numeric(30,2), c interval, d interval year to month, e numeric(2,-1)); INSERT INTO rate VALUES (1, 1.5, 1.25, '1 day')`,
    classes: {
      rate: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          a: { type: 'number' },
          b: { type: 'number' },
          c: { type: 'string' },
          d: { type: 'string' },
          e: { type: 'number' },
        },
      },
    },
    says: [
      'each of rate.a, rate.b, rate.e can have more than 18 digits: a number of double precision, which keeps 15 of them',
      'each of rate.c, rate.d can have intervals of months, which have no fixed length: a string',
    ],
  },
  {
    name: '--numeric decides about them',
    sql: 'CREATE TABLE rate (id int PRIMARY KEY, a numeric, b numeric(9,1))',
    options: { numeric: { type: 'decimal', scale: 4, asText: true } },
    classes: {
      rate: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          a: { type: 'decimal', scale: 4, asText: true },
          b: { type: 'decimal', scale: 1 },
        },
      },
    },
    saysNot: [/digits/],
  },
  {
    name: 'keys and foreign keys are never rounded',
    sql: `CREATE TABLE account (no numeric PRIMARY KEY); CREATE TABLE moment (at timestamptz PRIMARY KEY);
      CREATE TABLE use (id int PRIMARY KEY, account_no numeric REFERENCES account, moment_at timestamptz REFERENCES moment, amount numeric)`,
    options: { numeric: { type: 'decimal', scale: 4, asText: true } },
    classes: {
      account: {
        storage: main,
        key: 'no',
        attributes: {
          no: { type: 'string' },
          uses: { kind: 'relatedEntities', type: 'useSelection', inverseName: 'account' },
        },
      },
      moment: {
        storage: main,
        key: 'at',
        attributes: {
          at: { type: 'string' },
          uses: { kind: 'relatedEntities', type: 'useSelection', inverseName: 'moment' },
        },
      },
      use: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          account_no: { type: 'string' },
          moment_at: { type: 'string' },
          amount: { type: 'decimal', scale: 4, asText: true },
          account: { kind: 'relatedEntity', type: 'account', foreignKey: 'account_no', inverseName: 'uses' },
          moment: { kind: 'relatedEntity', type: 'moment', foreignKey: 'moment_at', inverseName: 'uses' },
        },
      },
    },
    says: [
      'each of account.no, use.account_no is a string, since the type of numeric would round it, and it identifies rows',
    ],
  },
  {
    name: 'tables without a primary key',
    sql: `CREATE TABLE by_unique (a int UNIQUE, b int NOT NULL UNIQUE, c int NOT NULL, d int NOT NULL, UNIQUE (c, d));
      CREATE TABLE by_two (c int NOT NULL, d int NOT NULL, UNIQUE (d, c), UNIQUE (c) INCLUDE (d) DEFERRABLE); ALTER TABLE by_two DROP CONSTRAINT by_two_c_d_key;
      CREATE TABLE by_null (a int UNIQUE); CREATE TABLE by_bytes (a bytea PRIMARY KEY); CREATE TABLE by_some (a int NOT NULL); CREATE UNIQUE INDEX ON by_some (a) WHERE a > 0;
      CREATE TABLE by_expression (a int NOT NULL); CREATE UNIQUE INDEX ON by_expression (abs(a)); CREATE TABLE none (a int, j jsonb)`,
    classes: {
      by_two: {
        storage: main,
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['d', 'c'] },
          c: { type: 'long', mandatory: true },
          d: { type: 'long', indexed: true, mandatory: true },
        },
      },
      by_unique: {
        storage: main,
        key: 'b',
        attributes: {
          a: { type: 'long', unique: true },
          b: { type: 'long' },
          c: { type: 'long', indexed: true, mandatory: true },
          d: { type: 'long', mandatory: true },
        },
      },
    },
    says: [
      'by_unique has no primary key that can be used: the unique column b is the key',
      'by several, COLUMN,COLUMN: by_bytes, by_expression, by_null, by_some, none',
    ],
  },
  {
    name: '--key: tables without a key are read-only, views too, a key that the database keeps is not',
    sql: `CREATE TABLE log (at date, line int); CREATE TABLE film (id int PRIMARY KEY, code text NOT NULL UNIQUE, "a,b" int);
      CREATE VIEW dear AS SELECT id, code FROM film; CREATE MATERIALIZED VIEW kept AS SELECT id FROM film; CREATE VIEW other AS SELECT 1;
      CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE file (id int) SERVER files OPTIONS (filename '/dev/null')`,
    options: { keys: { log: 'at,line', film: 'code', dear: 'id', kept: 'id', file: 'id' } },
    classes: {
      dear: {
        storage: { ...main, readOnly: true },
        key: 'id',
        attributes: { id: { type: 'long' }, code: { type: 'string' } },
      },
      file: { storage: { ...main, readOnly: true }, key: 'id', attributes: { id: { type: 'long' } } },
      film: {
        storage: main,
        key: 'code',
        attributes: {
          id: { type: 'long', unique: true, mandatory: true },
          code: { type: 'string' },
          a_b: { type: 'long', column: 'a,b' },
        },
      },
      kept: { storage: { ...main, readOnly: true }, key: 'id', attributes: { id: { type: 'long' } } },
      log: {
        storage: { ...main, readOnly: true },
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['at', 'line'] },
          at: { type: 'date', simpleDate: true },
          line: { type: 'long' },
        },
      },
    },
    says: [
      'by --key VIEW=COLUMN; there are: other',
      'dear is read-only: it is a view',
      'kept is read-only: it is a materialized view',
      'file is read-only: it is a foreign table',
      'log is read-only: the database does not keep at, line unique and never null',
    ],
  },
  {
    name: 'partitions are in their table, tables that inherit are tables too',
    sql: `CREATE TABLE event (id int, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
      CREATE TABLE city (id int PRIMARY KEY); CREATE TABLE capital (code text PRIMARY KEY) INHERITS (city)`,
    classes: {
      capital: {
        storage: main,
        key: 'code',
        attributes: { id: { type: 'long', mandatory: true }, code: { type: 'string' } },
      },
      city: { storage: { ...main, readOnly: true }, key: 'id', attributes: { id: { type: 'long' } } },
      event: {
        storage: main,
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['id', 'at'] },
          id: { type: 'long', indexed: true, mandatory: true },
          at: { type: 'date', simpleDate: true, mandatory: true },
        },
      },
    },
    says: ['city is read-only: rows of tables that inherit from it are among its own, and no key tells them all apart'],
  },
  {
    name: 'names that are not legal, and equal ones in two schemas',
    sql: `CREATE SCHEMA sales; CREATE SCHEMA "Odd.One"; CREATE TABLE "order items" (id int PRIMARY KEY, "Unit Price" int, "unit.price" int, "ID" int, "not" int);
      CREATE TABLE customer (id int PRIMARY KEY); CREATE TABLE sales.customer (a int, b int, PRIMARY KEY (a, b), other_id int REFERENCES public.customer);
      CREATE TABLE "Odd.One"."T" ("K" int PRIMARY KEY); CREATE TABLE aaa (id int PRIMARY KEY); CREATE TABLE foo (id int PRIMARY KEY REFERENCES aaa)`,
    options: { names: { 'order items': 'OrderItem', aaa: 'fooSelection' } },
    classes: {
      customer: {
        storage: main,
        key: 'id',
        attributes: {
          id: { type: 'long' },
          sales_customers: { kind: 'relatedEntities', type: 'sales_customerSelection', inverseName: 'other' },
        },
      },
      foo: {
        storage: main,
        collectionName: 'fooSelection_2',
        key: 'id',
        attributes: {
          id: { type: 'long' },
          aaa: { kind: 'relatedEntity', type: 'fooSelection', foreignKey: 'id', inverseName: 'foos' },
        },
      },
      fooSelection: {
        storage: { ...main, table: 'aaa' },
        key: 'id',
        attributes: {
          id: { type: 'long' },
          foos: { kind: 'relatedEntities', type: 'fooSelection_2', inverseName: 'aaa' },
        },
      },
      OrderItem: {
        storage: { ...main, table: 'order items' },
        key: 'id',
        attributes: {
          id: { type: 'long' },
          Unit_Price: { type: 'long', column: 'Unit Price' },
          unit_price: { type: 'long', column: 'unit.price' },
          ID: { type: 'long' },
          not_: { type: 'long', column: 'not' },
        },
      },
      T: { storage: { ...main, schema: 'Odd.One' }, key: 'K', attributes: { K: { type: 'long' } } },
      sales_customer: {
        storage: { ...main, schema: 'sales', table: 'customer' },
        key: 'ID',
        attributes: {
          ID: { type: 'string', column: ['a', 'b'] },
          a: { type: 'long', indexed: true, mandatory: true },
          b: { type: 'long', mandatory: true },
          other_id: { type: 'long' },
          other: { kind: 'relatedEntity', type: 'customer', foreignKey: 'other_id', inverseName: 'sales_customers' },
        },
      },
    },
  },
  {
    name: '--stamp and --timestamp name columns that the server sets',
    sql: `CREATE TABLE a (id int PRIMARY KEY, version int NOT NULL, changed timestamptz NOT NULL); CREATE TABLE b (id int PRIMARY KEY, version int, changed date);
      CREATE TABLE c (id int PRIMARY KEY)`,
    options: { stamp: 'version', timestamp: 'changed' },
    classes: {
      a: {
        storage: { ...main, stamp: 'version', timestamp: 'changed' },
        key: 'id',
        attributes: {
          id: { type: 'long' },
          version: { type: 'long', readOnly: true },
          changed: { type: 'date', readOnly: true },
        },
      },
      b: {
        storage: main,
        key: 'id',
        attributes: { id: { type: 'long' }, version: { type: 'long' }, changed: { type: 'date', simpleDate: true } },
      },
      c: { storage: main, key: 'id', attributes: { id: { type: 'long' } } },
    },
    says: [
      'b.version is not the stamp: it is not a whole number that is never null',
      'b.changed is not the timestamp: it is not a date with a time',
    ],
  },
  {
    name: 'columns that could be one are named',
    sql: 'CREATE TABLE a (id int PRIMARY KEY, lock_version int NOT NULL, updated_at timestamp); CREATE TABLE b (id int PRIMARY KEY, version text)',
    says: [
      'a.lock_version could be the stamp of its table: --stamp lock_version',
      'a.updated_at could be the timestamp of its table: --timestamp updated_at',
    ],
    saysNot: [/b\.version/],
  },
  {
    name: 'foreign keys that are not relations',
    sql: `CREATE TABLE parent (a int, b int, c int UNIQUE, PRIMARY KEY (a, b)); CREATE TABLE code (id text PRIMARY KEY);
      CREATE TABLE child (id int PRIMARY KEY, a int, b int, c int REFERENCES parent (c), v varchar REFERENCES code, FOREIGN KEY (a, b) REFERENCES parent)`,
    options: { only: ['parent', 'child'] },
    says: [
      'child: the foreign key a, b to parent is not a relation, because it has several columns',
      'child: the foreign key c to parent is not a relation, because c is not the key there',
      'child: the foreign key v to code is not a relation, because that table is not attached',
    ],
  },
  {
    name: '--schema chooses; that of the server itself is left out unless it is named',
    sql: `CREATE SCHEMA sales; CREATE TABLE sales.a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);
      CREATE SCHEMA tesser; CREATE TABLE tesser.c (id int PRIMARY KEY)`,
    options: { schemas: ['sales'] },
    classes: {
      a: { storage: { ...main, schema: 'sales' }, key: 'id', attributes: { id: { type: 'long' } } },
    },
  },
]

interface Refusal {
  readonly name: string
  readonly options: Partial<AttachArguments>
  readonly says: string
}

/** A table with a key, one without, a view, and a column of JSON. */
const SHOP = `CREATE TABLE film (id int PRIMARY KEY, data jsonb); CREATE TABLE log (line int, data jsonb); CREATE VIEW films AS SELECT id FROM film`

const REFUSALS: readonly Refusal[] = [
  {
    name: '--only',
    options: { only: ['fillm'] },
    says: '--only fillm: ADDRESS has no table or view of that name that this user may read; did you mean "film"?',
  },
  {
    name: '--table',
    options: { names: { flim: 'Film' } },
    says: '--table flim: ADDRESS has no table or view of that name that this user may read; did you mean "film"?',
  },
  {
    name: '--key of a view',
    options: { keys: { film_list: 'id' } },
    says: '--key film_list: ADDRESS has no table or view of that name that this user may read',
  },
  {
    name: '--key of no column',
    options: { keys: { log: 'lines' } },
    says: '--key log=lines: there is no column "lines"; did you mean "line"?',
  },
  {
    name: '--key of several',
    options: { keys: { log: 'line,at' } },
    says: '--key log=line,at: there is no column "at"',
  },
  {
    name: '--key of JSON',
    options: { keys: { log: 'data' } },
    says: '--key log=data: data is of the type jsonb, which cannot be a key',
  },
  {
    name: '--schema',
    options: { schemas: ['publik'] },
    says: '--schema publik: ADDRESS has no tables there; did you mean "public"?',
  },
  {
    name: '--stamp',
    options: { stamp: 'data' },
    says: '--stamp data: no table has a column of that name that is a whole number that is never null',
  },
  { name: 'no table is left', options: { only: ['log'] }, says: 'ADDRESS has no tables that can be attached' },
  {
    name: 'another database',
    options: { source: 'mysql://me@host/shop' },
    says: 'only databases of PostgreSQL can be attached: postgres://user@host/database; tesser clone copies others',
  },
  {
    name: 'an address without a meaning',
    options: { source: 'postgres://me@ho st/shop' },
    says: 'the address of the database cannot be read; it is postgres://user@host/database, with special characters percent-encoded',
  },
]

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())

  t.test('models', async t => {
    for (const { name, sql, options, classes, says = [], saysNot = [] } of CASES) {
      await t.test(name, async t => {
        const { model, text } = await attach(t, server, sql, options)
        if (classes) t.strictSame(model.dataClasses, classes)
        for (const part of says) t.match(text, part)
        for (const pattern of saysNot) t.notMatch(text, pattern)
      })
    }
  })

  t.test('files', async t => {
    const source = server.url.replace('bench@', 'bench:sec%2Fret@localhost')
    const { config, text } = await attach(t, server, SHOP, { source, connection: 'the-shop' })
    const url = source.replace(':sec%2Fret', '')
    t.strictSame(config, {
      $schema: 'node_modules/tesser/config/tesser.config.schema.json',
      model: 'model.json',
      connections: { 'the-shop': { url, password: { env: 'TESSER_THE_SHOP_PASSWORD' } } },
    })
    t.match(text, 'no file has the password: the server reads it from the variable TESSER_THE_SHOP_PASSWORD')
    t.match(text, 'next: TESSER_THE_SHOP_PASSWORD=… npx tesser start --config TO/tesser.config.json')
    t.notMatch(text, /sec/)
    const hidden = await attach(t, server, SHOP, { source: `${server.url}&password=secret` })
    t.same(hidden.config.connections.main.password, { env: 'TESSER_MAIN_PASSWORD' })
    t.notMatch(JSON.stringify(hidden), /secret/)
    const bare = await attach(t, server, SHOP)
    t.same(Object.keys(bare.config.connections.main), ['url'])
    t.match(bare.text, 'next: npx tesser start --config TO/tesser.config.json')
  })

  t.test('refusals, which write nothing', async t => {
    await server.run(EMPTY)
    await server.run(SHOP)
    for (const { name, options, says } of REFUSALS) {
      const to = join(t.testdir({}), name)
      const given = { source: server.url, to, connection: 'main', names: {}, keys: {}, ...options }
      const address = server.url.replace('@/', '@localhost/')
      await t.rejects(
        attachDatabase(given, () => {}),
        { name: 'SourceError', message: says.replace('ADDRESS', address) },
        name,
      )
      t.notOk(existsSync(to), name)
    }
    for (const name of ['model.json', 'tesser.config.json', 'prepare.sql']) {
      const to = t.testdir({ [name]: 'kept' })
      const given = { source: server.url, to, connection: 'main', names: {}, keys: {} }
      await t.rejects(
        attachDatabase(given, () => {}),
        { name: 'SourceError', message: `${join(to, name)} exists; --to` },
      )
      t.equal(readFileSync(join(to, name), 'utf8'), 'kept')
    }
  })

  t.test('prepare.sql has indexes for searches and relations without one, and can run twice', async t => {
    const long = 'x'.repeat(60)
    const { sql, text } = await attach(
      t,
      server,
      `CREATE TYPE mood AS ENUM ('good'); CREATE TABLE country (code char(2) PRIMARY KEY, name text UNIQUE, mood mood UNIQUE, remark text);
      CREATE TABLE city (id int PRIMARY KEY, code char(2) REFERENCES country, twin_id int REFERENCES city, capital_of_id int REFERENCES city);
      CREATE INDEX ON city (twin_id);
      CREATE TABLE "${long}" (id int PRIMARY KEY, "${long}1" varchar, "${long}2" varchar); CREATE INDEX ON "${long}" ("${long}1"); CREATE INDEX ON "${long}" ("${long}2");
      CREATE TABLE event (id int PRIMARY KEY, name text) PARTITION BY RANGE (id); CREATE INDEX ON event (name);
      CREATE VIEW names AS SELECT name FROM country; CREATE TABLE link (a int REFERENCES city, b int REFERENCES city, PRIMARY KEY (a, b))`,
      { keys: { names: 'name' } },
    )
    const indexes = sql.split('\n').filter(line => line.startsWith('CREATE INDEX'))
    const cut = long.slice(0, 56)
    t.strictSame(indexes, [
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_city_code_key" ON "public"."city" ("code");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_city_capital_of_id_key" ON "public"."city" ("capital_of_id");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_country_code_fold" ON "public"."country" (tesser.fold("code"::text) COLLATE "C");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_country_name_fold" ON "public"."country" (tesser.fold("name"::text) COLLATE "C");',
      'CREATE INDEX IF NOT EXISTS "tesser_event_name_fold" ON "public"."event" (tesser.fold("name"::text) COLLATE "C");',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_link_b_key" ON "public"."link" ("b");',
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_${cut}" ON "public"."${long}" (tesser.fold("${long}1"::text) COLLATE "C");`,
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS "tesser_${cut.slice(2)}_2" ON "public"."${long}" (tesser.fold("${long}2"::text) COLLATE "C");`,
    ])
    t.match(
      text,
      '-f TO/prepare.sql makes searches of texts and relations use indexes, with the function tesser.fold and 8 indexes',
    )
    const [first] = sql.split('CREATE INDEX')
    t.match(first, 'GRANT USAGE ON SCHEMA tesser TO "bench";')
    for (let times = 0; times < 2; times++) {
      await server.run(first!)
      for (const index of indexes) await server.run(index)
    }
  })

  t.test('tables are not read: one that is locked does not hold it up', async t => {
    await server.run(EMPTY)
    await server.run('CREATE TABLE rate (id int PRIMARY KEY, a numeric, b interval)')
    await server.run('BEGIN')
    await server.run('LOCK TABLE rate IN ACCESS EXCLUSIVE MODE')
    const { model } = await attachAsItIs(t, server.url)
    await server.run('ROLLBACK')
    t.same(Object.keys(model.dataClasses), ['rate'])
  })

  t.test('a user who may read some tables', async t => {
    await server.run(EMPTY)
    await server.run(`DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA public TO reader;
      CREATE TABLE seen (id int PRIMARY KEY); CREATE TABLE hidden (id int PRIMARY KEY); CREATE TABLE open (id int PRIMARY KEY, seen_id int REFERENCES seen, hidden_id int REFERENCES hidden);
      GRANT SELECT ON seen TO reader; GRANT SELECT, INSERT ON open TO reader`)
    const { model, text } = await attachAsItIs(t, server.url.replace('bench@', 'reader@'))
    await server.run('DROP OWNED BY reader; DROP ROLE reader')
    t.strictSame(model.dataClasses.seen.storage, { postgres: 'main', readOnly: true })
    t.strictSame(model.dataClasses.open.storage, { postgres: 'main' })
    t.notOk(model.dataClasses.hidden)
    t.match(text, 'table hidden is left out: this user may not read it')
    t.match(text, 'seen is read-only: this user may not change it')
    t.notOk(model.dataClasses.open.attributes.hidden)
  })

  t.test('500 tables', async t => {
    const tables = Array.from(
      { length: 500 },
      (_, i) => `CREATE TABLE t${i} (id int PRIMARY KEY, name text, t_id int REFERENCES t${Math.floor(i / 2)})`,
    )
    const { model } = await attach(t, server, tables.join(';'))
    t.equal(Object.keys(model.dataClasses).length, 500)
  })
}
