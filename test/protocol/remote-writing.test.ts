/**
 * Saves and deletions of entities that are in PostgreSQL. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { CINEMA_MODEL, CINEMA_SQL } from '../support/fixtures/cinema.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

const RULES = `
ALTER TABLE film ADD CONSTRAINT rate_is_low CHECK (rate < 50);
CREATE UNIQUE INDEX ON actor (last_name);
CREATE UNIQUE INDEX ON film ("Long text");
CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER stay BEFORE DELETE ON actor FOR EACH ROW WHEN (OLD.last_name = 'A') EXECUTE FUNCTION stay();
CREATE FUNCTION speak() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no films called %', NEW.title; END $$;
CREATE TRIGGER speak BEFORE INSERT ON film FOR EACH ROW WHEN (NEW.title = 'Forbidden') EXECUTE FUNCTION speak();
`

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(CINEMA_SQL)
  await server.run(RULES)
  protocolTable(
    'writing',
    { model: CINEMA_MODEL, rows: { Review: [{ text: 'x' }] } },
    [
      {
        spec: '4.4.1',
        name: 'a new entity gets the key and the defaults of the database',
        post: '/Film?$method=update',
        body: { title: 'Solaris', length: 166, language: { __KEY: '2' } },
        has: { __KEY: '5', __STAMP: 1, ID: 5, title: 'Solaris', rate: 1, length: 166, languageID: 2 },
        afterwards: { '/Film(5)': { title: 'Solaris', language: { __deferred: { __KEY: '2' } } } },
      },
      {
        spec: '4.4.2',
        name: 'an alias through a relation may be sent back as it was read, with the whole entity',
        post: '/Film?$method=update',
        body: { __KEY: '1', __STAMP: 3, title: 'Alien', languageName: 'English' },
        has: { __KEY: '1', __STAMP: 3, languageName: 'English' },
      },
      {
        spec: '4.4.2',
        name: 'but it cannot be changed',
        post: '/Film?$method=update',
        body: { __KEY: '1', __STAMP: 3, languageName: 'Klingon' },
        status: 422,
        has: { __ERROR: [{ errCode: 1516 }] },
      },
      {
        spec: '4.4.2',
        name: 'an alias of an entity of the store that leads to a database is not compared',
        post: '/Review?$method=update',
        body: { __KEY: '1', __STAMP: 1, text: 'y', filmTitle: 'Alien' },
        has: { __KEY: '1', __STAMP: 2, text: 'y' },
      },
      {
        spec: '4.4.1',
        name: 'values of all kinds are kept',
        post: '/Film?$method=update',
        body: {
          title: 'Stalker "é" \\ ~',
          text: 'a\nb',
          rate: '9.99',
          score: 0.1,
          share: -2.5e-7,
          released: '1979-05-25',
          tags: ['a,b', '{"c"}', ''],
          info: { deep: [1, { x: null }], s: '☃' },
          rated: 'PG',
          code: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12',
          running: 9_660_500,
          starts: '21:30:05.25',
          isNew: false,
          seen: '9007199254740995',
        },
        has: { __KEY: '6' },
        afterwards: {
          '/Film(6)': {
            title: 'Stalker "é" \\ ~',
            text: 'a\nb',
            rate: 9.99,
            score: 0.1,
            share: -2.5e-7,
            released: '1979-05-25',
            tags: ['a,b', '{"c"}', ''],
            info: { deep: [1, { x: null }], s: '☃' },
            rated: 'PG',
            code: 'A0EEBC999C0B4EF8BB6D6BB9BD380A12',
            running: 9_660_500,
            starts: 77_405_250,
            isNew: false,
          },
          '/Film?$filter="seen = 9007199254740995"': { __COUNT: 1 },
        },
      },
      {
        spec: '4.4.2',
        name: 'an entity changes, and its stamp with it',
        post: '/Film?$method=update',
        body: { __KEY: '5', __STAMP: 1, length: 167, text: null },
        has: { __KEY: '5', __STAMP: 2, length: 167, title: 'Solaris' },
        afterwards: { '/Film(5)': { __STAMP: 2, length: 167 } },
      },
      {
        spec: '4.4.2',
        name: 'nothing changes if the values are the same',
        post: '/Film?$method=update',
        body: { __KEY: '5', __STAMP: 2, length: 167 },
        has: { __STAMP: 2 },
      },
      {
        spec: '7.1',
        name: 'a stale stamp is refused',
        post: '/Film?$method=update',
        body: { __KEY: '5', __STAMP: 1, length: 1 },
        status: 409,
        errors: [1263, 1046, 1517],
        afterwards: { '/Film(5)': { length: 167 } },
      },
      {
        spec: '7.1',
        name: 'a key that does not exist',
        post: '/Film?$method=update',
        body: { __KEY: '99', __STAMP: 1, length: 1 },
        status: 404,
        errors: [1543, 1517],
      },
      {
        spec: 'P5.5',
        name: 'each entity of a batch by itself',
        post: '/Actor?$method=update',
        body: [{ lastName: 'Weaver' }, { lastName: 'Rosa' }, { firstName: 'Giulietta', lastName: 'MASINA' }],
        status: 409,
        has: {
          __ENTITIES: [
            { __STATUS: { success: false }, __ERROR: [{ errCode: 1115 }, { errCode: 1534 }] },
            { lastName: 'Rosa' },
            { lastName: 'MASINA' },
          ],
        },
        afterwards: { '/Actor': { __COUNT: 5 } },
      },
      {
        spec: '4.4.3',
        name: 'all or none with $atomic',
        post: '/Actor?$method=update&$atomic=true',
        body: [{ lastName: 'Bondarchuk' }, { lastName: 'Weaver' }],
        status: 409,
        afterwards: { '/Actor': { __COUNT: 5 } },
      },
      {
        spec: '4.4.3',
        name: 'all with $atomic',
        post: '/Actor?$method=update&$atomic=true',
        body: [{ lastName: 'A' }, { lastName: 'B' }],
        afterwards: { '/Actor': { __COUNT: 7 } },
      },
      {
        spec: '4.4.4',
        name: 'a validation saves nothing',
        post: '/Actor?$method=validate',
        body: [{ lastName: 'C' }],
        afterwards: { '/Actor': { __COUNT: 7 } },
      },
      {
        spec: 'P5.9',
        name: 'a foreign key without a row',
        post: '/Film?$method=update',
        body: { title: 'x', languageID: 77 },
        status: 409,
        errors: [1155, 1534],
      },
      {
        spec: 'P5.9',
        name: 'a missing value',
        post: '/Language?$method=update',
        body: {},
        status: 422,
        errors: [1116, 1534],
      },
      {
        spec: 'P5.9',
        name: 'a check of the table',
        post: '/Film?$method=update',
        body: { title: 'x', rate: 50 },
        status: 422,
        has: { __ERROR: [{ message: /rate_is_low/ }, {}] },
      },
      {
        spec: 'P5.9',
        name: 'a trigger speaks to the user',
        post: '/Film?$method=update',
        body: { title: 'Forbidden' },
        status: 422,
        has: { __ERROR: [{ message: /no films called Forbidden/ }, {}] },
      },
      {
        spec: 'P5.9',
        name: 'a text that is too long',
        post: '/Film?$method=update',
        body: { title: 'x'.repeat(81) },
        status: 422,
      },
      {
        spec: 'P5.9',
        name: 'a value that is not one of an enumeration',
        post: '/Film?$method=update',
        body: { title: 'x', rated: 'X' },
        status: 422,
      },
      {
        spec: 'P5.9',
        name: 'a text with the character 0',
        post: '/Film?$method=update',
        body: { title: 'a\u0000b' },
        status: 422,
      },
      {
        spec: 'P5.9',
        name: 'a value of the wrong type',
        post: '/Film?$method=update',
        body: { title: 'x', length: 'many' },
        status: 422,
        errors: [1508, 1534],
      },
      {
        spec: '4.4.1',
        name: 'a key of several columns is made of them',
        post: '/Part?$method=update',
        body: { filmID: 5, actorID: 1, name: 'Hari' },
        has: { __KEY: '5~1', name: 'Hari' },
      },
      {
        spec: '4.4.1',
        name: 'or they of it',
        post: '/Part?$method=update',
        body: { ID: '5~2' },
        has: { __KEY: '5~2', filmID: 5, actorID: 2 },
      },
      {
        spec: 'P5.9',
        name: 'it exists once',
        post: '/Part?$method=update',
        body: { filmID: 5, actorID: 1 },
        status: 409,
        errors: [1115, 1545, 1534],
        text: /another entity has ..5~1.. as ID/,
      },
      {
        spec: 'P5.9',
        name: 'a value that exists, in a column whose name needs quotes',
        post: '/Film?$method=update',
        body: { title: 'x', text: 'In space' },
        status: 409,
        errors: [1115, 1534],
        text: /another entity has .*In space.* as text/,
      },
      {
        spec: 'P5.7',
        name: 'a deletion that a trigger leaves out is refused, and not to be repeated',
        post: '/Actor?$filter="lastName==A"&$method=delete',
        status: 422,
        text: /a policy, a rule or a trigger of the table leaves it out/,
      },
      {
        spec: '4.4.2',
        name: 'views are read-only',
        post: '/LongFilm?$method=update',
        body: { title: 'x' },
        status: 422,
        errors: [1516],
      },
      {
        spec: '4.4.5',
        name: 'a deletion',
        post: '/Part(5~2)?$method=delete',
        json: { ok: true },
        afterwards: { '/Part?$filter="filmID = 5"': { __COUNT: 1 } },
      },
      {
        spec: 'P5.7',
        name: 'what is referred to stays',
        post: '/Film(5)?$method=delete',
        status: 409,
        errors: [1120, 1518],
        afterwards: { '/Film(5)': { ID: 5 } },
      },
      {
        spec: '4.4.5',
        name: 'a deletion by a filter',
        post: '/Film?$filter="title = stalker@"&$method=delete',
        json: { ok: true },
        afterwards: { '/Film': { __COUNT: 5 } },
      },
      { spec: '4.4.5', name: 'of what does not exist', post: '/Film(77)?$method=delete', status: 404, errors: [1543] },
    ],
    { config: { connections: { cinema: { url: server.url } } } },
  )

  t.test('§4.4.2 the parts of a key never change', async t => {
    const config = { connections: { cinema: { url: server.url } } }
    const served = await startServer(t, { model: CINEMA_MODEL, rows: {} }, { config })
    const part = (await served.get('/Part(1~1)')).json
    const { status, json } = await served.post('/Part?$method=update', { ...part, actorID: 3 })
    t.equal(status, 422)
    t.match(json.__ERROR, [{ errCode: 1516, message: /it is a part of the primary key/ }])
    t.equal((await served.post('/Part?$method=update', part)).status, 200, 'the whole entity as it was read')
  })

  t.test('a condition over a relation to a database may find many of its entities', async t => {
    const config = { connections: { cinema: { url: server.url } } }
    const rows = {
      Review: [
        { text: 'of one of many', filmID: 1 },
        { text: 'of nothing', filmID: null },
      ],
    }
    const served = await startServer(t, { model: CINEMA_MODEL, rows }, { config })
    await server.run("INSERT INTO film (title) SELECT 'many' FROM generate_series(1, 1500)")
    const { json } = await served.get('/Review?$filter="film.rate > 0"&$attributes=text')
    t.match(json, { __COUNT: 1, __ENTITIES: [{ text: 'of one of many' }] })
  })
}
