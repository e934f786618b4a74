/**
 * Dataclasses whose tables the server makes in PostgreSQL. Skipped where PostgreSQL is not installed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, transports } from '../support/servers/test-server.ts'

const storage = { postgres: 'shop', schema: 'owned', owned: true }

const MODEL = {
  name: 'shop',
  dataClasses: {
    Maker: {
      storage: { ...storage, table: 'Makers "of" things' },
      key: 'code',
      attributes: {
        code: { type: 'string', maxLength: 20 },
        name: { type: 'string', mandatory: true, unique: true },
        things: { kind: 'relatedEntities', type: 'ThingSelection', inverseName: 'maker' },
        parts: { kind: 'relatedEntities', type: 'PartSelection', inverseName: 'maker' },
      },
    },
    Thing: {
      storage,
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        flag: { type: 'bool' },
        tiny: { type: 'byte' },
        small: { type: 'word', unique: true },
        count: { type: 'long', indexed: true, minValue: 0 },
        large: { type: 'long64' },
        size: { type: 'number' },
        single: { type: 'float' },
        price: { type: 'decimal', scale: 4 },
        exact: { type: 'decimal', scale: 0, asText: true },
        day: { type: 'date', simpleDate: true },
        at: { type: 'date', indexed: true },
        lasts: { type: 'duration' },
        title: { type: 'string', indexed: true },
        secret: { type: 'string', scope: 'private' },
        tag: { type: 'uuid', autoFill: 'uuid' },
        info: { type: 'object' },
        place: { type: 'vector', dimension: 3 },
        photo: { type: 'image' },
        file: { type: 'blob' },
        Überschrift: { type: 'string', column: 'it\'s a "title"' },
        makerCode: { type: 'string' },
        maker: { kind: 'relatedEntity', type: 'Maker', foreignKey: 'makerCode', inverseName: 'things' },
        makerName: { kind: 'alias', path: 'maker.name' },
        label: { kind: 'calculated', type: 'string' },
      },
    },
    Part: {
      storage,
      key: 'ID',
      attributes: {
        ID: { type: 'uuid', autoFill: 'uuid' },
        number: { type: 'word', autoFill: 'increment', mandatory: true },
        makerCode: { type: 'string' },
        maker: {
          kind: 'relatedEntity',
          type: 'Maker',
          foreignKey: 'makerCode',
          inverseName: 'parts',
          onDelete: 'setNull',
        },
        thingID: { type: 'long64' },
        thing: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'thingID', onDelete: 'cascade' },
        noteID: { type: 'long' },
        note: { kind: 'relatedEntity', type: 'Note', foreignKey: 'noteID' },
      },
    },
    Place: {
      storage,
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        nearID: { type: 'long' },
        near: { kind: 'relatedEntity', type: 'Place', foreignKey: 'nearID', onDelete: 'setNull' },
        withinID: { type: 'long' },
        within: { kind: 'relatedEntity', type: 'Place', foreignKey: 'withinID' },
      },
    },
    Note: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string' } } },
  },
}

const VALUES = {
  flag: true,
  tiny: -128,
  small: 32_767,
  count: 2_147_483_647,
  large: '9007199254740993',
  size: 0.1,
  single: 1e300,
  price: 12_345_678_901.2345,
  exact: '999999999999999999',
  day: '1812-06-24',
  at: '2024-02-29T12:34:56.789Z',
  lasts: -90_061_001,
  title: 'Äöü ☃ \\ "x"',
  tag: 'A0EEBC999C0B4EF8BB6D6BB9BD380A12',
  info: { deep: [1, { x: null }], s: '☃' },
  place: [0.5, -1, 0.25],
  Überschrift: 'x',
  makerCode: 'a',
}

/** Cannot be compressed. */
const LONG = Array.from({ length: 200 }, (_, i) => createHash('sha512').update(String(i)).digest('hex')).join('')

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  const config = { connections: { shop: { url: server.url } } }
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  t.teardown(() => client.end())
  /** Everything in the catalog of the database, with the transactions that wrote it. */
  const catalog = async () =>
    (
      await client.query(`SELECT 'class' AS of, relname AS name, xmin::text, relfilenode::text AS more FROM pg_class
      UNION ALL SELECT 'column', attname, xmin::text, attrelid::text FROM pg_attribute WHERE attnum > 0
      UNION ALL SELECT 'constraint', conname, xmin::text, conrelid::text FROM pg_constraint
      UNION ALL SELECT 'trigger', tgname, xmin::text, tgrelid::text FROM pg_trigger
      UNION ALL SELECT 'comment', description, xmin::text, objoid::text FROM pg_description ORDER BY 1, 2, 3, 4`)
    ).rows

  protocolTable(
    'owned tables',
    { model: MODEL, rows: { Note: [{ text: 'x' }] } },
    [
      {
        spec: '4.4.1',
        name: 'a key that the client sets',
        post: '/Maker?$method=update',
        body: [
          { code: 'a', name: 'Ångström' },
          { code: 'b', name: 'Bohr' },
        ],
        has: { __ENTITIES: [{ __KEY: 'a', __STAMP: 1, __TIMESTAMP: /^20\d\d-/ }, { __KEY: 'b' }] },
      },
      {
        spec: '4.4.1',
        name: 'values of all types are kept',
        post: '/Thing?$method=update',
        body: VALUES,
        has: { __KEY: '1', __STAMP: 1, ID: 1 },
        afterwards: {
          // JavaScript rounds the large one.
          '/Thing(1)': {
            ...VALUES,
            large: Number(VALUES.large),
            maker: { __deferred: { __KEY: 'a' } },
            makerName: 'Ångström',
          },
        },
      },
      {
        spec: '4.3.2',
        name: 'an integer keeps its digits',
        get: '/Thing?$filter="large = 9007199254740993"',
        keys: ['1'],
      },
      { spec: '4.3.2', name: 'texts are found by their fold', get: '/Maker?$filter="name = angstrom"', keys: ['a'] },
      {
        spec: '4.4.1',
        name: 'an entity without values, and one with a number of its own, which later ones follow',
        post: '/Thing?$method=update',
        body: [{}, { ID: 100 }, {}],
        has: { __ENTITIES: [{ __KEY: '2', count: null, tag: /^[0-9A-F]{32}$/ }, { __KEY: '100' }, { __KEY: '101' }] },
      },
      {
        spec: '4.4.2',
        name: 'an entity changes, and its stamp with it',
        post: '/Thing?$method=update',
        body: { __KEY: '2', __STAMP: 1, title: 'x' },
        has: { __KEY: '2', __STAMP: 2, title: 'x' },
      },
      {
        spec: 'P5.9',
        name: 'a text that is unique, without case and accents',
        post: '/Maker?$method=update',
        body: { code: 'c', name: 'angström' },
        status: 409,
        errors: [1115, 1534],
      },
      {
        spec: 'P5.9',
        name: 'a key that differs in case alone',
        post: '/Maker?$method=update',
        body: { code: 'A', name: 'x' },
        status: 409,
        errors: [1115, 1545, 1534],
      },
      {
        spec: 'P5.9',
        name: 'a number that is unique',
        post: '/Thing?$method=update',
        body: { small: 32_767 },
        status: 409,
        errors: [1115, 1534],
      },
      { spec: 'P5.9', name: 'a limit of the model', post: '/Thing?$method=update', body: { count: -1 }, status: 422 },
      {
        spec: 'P5.9',
        name: 'a mandatory value',
        post: '/Maker?$method=update',
        body: { code: 'd' },
        status: 422,
        errors: [1116, 1534],
      },
      {
        spec: 'P5.9',
        name: 'a foreign key without an entity',
        post: '/Thing?$method=update',
        body: { makerCode: 'nobody' },
        status: 409,
        errors: [1155, 1534],
      },
      {
        spec: '4.4.1',
        name: 'entities of several relations; a mandatory number may be left out',
        post: '/Part?$method=update',
        body: [{ makerCode: 'b', thingID: 2, noteID: 1 }, { thingID: 1, number: 7 }, { makerCode: 'b' }],
        has: { __ENTITIES: [{ number: 1 }, { number: 7 }, { number: 8 }] },
      },
      {
        spec: 'P5.9',
        name: 'a text that no index of the database holds',
        post: '/Thing?$method=update',
        body: { title: LONG },
        status: 422,
        errors: [1200, 1534],
      },
      { spec: 'P5.7', name: 'restrict', post: '/Maker(a)?$method=delete', status: 409, errors: [1120, 1518] },
      {
        spec: 'P5.7',
        name: 'set to null, which the stamp shows',
        post: '/Maker(b)?$method=delete',
        json: { ok: true },
        afterwards: { '/Part?$filter="number = 8"': { __ENTITIES: [{ makerCode: null, __STAMP: 2 }] } },
      },
      {
        spec: 'P5.7',
        name: 'cascade',
        post: '/Thing(2)?$method=delete',
        json: { ok: true },
        afterwards: { '/Part': { __COUNT: 2 } },
      },
      {
        spec: 'P1.6',
        name: 'in an order, an entity that is not there has no stamp',
        get: '/Part?$orderby=thing.__STAMP,number',
        has: { __ENTITIES: [{ number: 8 }, { number: 7 }] },
      },
      ...['', '&$atomic=true'].flatMap((atomic): ProtocolCase[] => [
        {
          spec: '4.4.1',
          name: `entities of one dataclass that refer to one another${atomic}`,
          post: '/Place?$method=update',
          body: [{ ID: 1 }, { ID: 2, nearID: 1, withinID: 1 }, { ID: 3, nearID: 2, withinID: 1 }],
          has: { __ENTITIES: [{ __KEY: '1' }, { __KEY: '2' }, { __KEY: '3' }] },
        },
        {
          spec: 'P5.7',
          name: `some stay because of another${atomic}`,
          post: `/Place?$filter="ID < 3"&$method=delete${atomic}`,
          status: 409,
          errors: [1120, 1518, 1121],
        },
        {
          spec: 'P5.7',
          name: `they are deleted together${atomic}`,
          post: `/Place?$method=delete${atomic}`,
          json: { ok: true },
          left: { Place: [] },
        },
      ]),
    ],
    // A second transport would find the entities of the first.
    { config, on: transports.slice(0, 1) },
  )

  t.test('a start changes nothing that fits', async t => {
    const before = await catalog()
    const restarted = await startServer(t, { model: MODEL, rows: {} }, { config })
    t.match((await restarted.get('/Thing(1)')).json, { title: VALUES.title, price: VALUES.price })
    t.same(await catalog(), before)
  })

  t.test('two servers that start at once', async t => {
    const { Maker, Thing, Part, Note } = structuredClone(MODEL.dataClasses)
    for (const each of [Maker, Thing, Part]) each.storage.schema = 'twice'
    const model = { name: 'shop', dataClasses: { Maker, Thing, Part, Note } }
    const servers = await Promise.all([1, 2].map(() => startServer(t, { model, rows: {} }, { config })))
    const answers = await Promise.all(
      servers.flatMap(each => [1, 2, 3].map(() => each.post('/Thing?$method=update', [{}, {}]))),
    )
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200],
    )
    t.equal((await servers[0]!.get('/Thing')).json.__COUNT, 12)
  })

  t.test('the tables are there soon after the start, without a request', async t => {
    const { Note, Maker } = structuredClone(MODEL.dataClasses)
    const { things: _, parts: __, ...attributes } = Maker.attributes
    const early = { ...Maker, storage: { ...storage, schema: 'early' }, attributes }
    await startServer(t, { model: { name: 'shop', dataClasses: { Early: early, Note } }, rows: {} }, { config })
    for (;;) {
      const { rows } = await client.query(`SELECT obj_description(to_regclass('early."Early"'), 'pg_class') AS mark`)
      if (/^Tesser \w/.test(rows[0].mark)) break
    }
  })

  t.test('a database that is away at the start', async t => {
    const folder = temporaryFolder(t)
    const [address, socket] = server.url.split('host=').map(decodeURIComponent) as [string, string]
    const url = `${address}host=${encodeURIComponent(folder)}`
    const { Maker, Thing, Part, Note } = structuredClone(MODEL.dataClasses)
    for (const each of [Maker, Thing, Part]) each.storage.schema = 'late'
    const model = { name: 'shop', dataClasses: { Maker, Thing, Part, Note } }
    const late = await startServer(
      t,
      { model, rows: { Note: [{ text: 'x' }] } },
      { config: { connections: { shop: { url } } } },
    )
    t.match(await late.get('/Maker'), { status: 503, headers: { 'retry-after': '1' } })
    t.equal((await late.get('/Note')).json.__COUNT, 1, 'dataclasses of the store answer')
    for (const file of readdirSync(socket)) {
      if (file.startsWith('.s.PGSQL')) symlinkSync(join(socket, file), join(folder, file))
    }
    t.equal((await late.post('/Maker?$method=update', { code: 'a', name: 'x' })).status, 200)
  })
}
