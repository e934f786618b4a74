/** Tables of a PostgreSQL database as dataclasses, with their keys and relations: `tesser attach`. */
import { attachEach, type Case, main } from './attached.ts'

const CASES: readonly Case[] = [
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
    says: ['film_actor has a key of several columns: the attribute ID combines them'],
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
      'by_unique has no usable primary key: the unique column b is the key',
      'or of several, COLUMN,COLUMN, are unique and never null: by_bytes, by_expression, by_null, by_some, none',
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
      '--key VIEW=COLUMN attaches a view read-only, if the values of the column are unique and never null; there are: other',
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
    says: [
      'city is read-only: it includes the rows of tables that inherit from it, and no key distinguishes all of them',
    ],
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
    name: '--stamp of a key, a foreign key or a number of a sequence changes nothing',
    sql: `CREATE TABLE a (id int PRIMARY KEY, n int NOT NULL); CREATE TABLE b (n int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, n int NOT NULL REFERENCES b);
      CREATE TABLE d (id int PRIMARY KEY, n serial NOT NULL)`,
    options: { stamp: 'n' },
    says: ['each of b.n, c.n, d.n is not the stamp: it is not a whole number that is never null, is in no key'],
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
      'child: the foreign key c to parent is not a relation, because c is not the key of that table',
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
await attachEach(CASES)
