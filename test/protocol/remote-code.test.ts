/**
 * Plugin code of dataclasses that are in PostgreSQL: functions, events, calculated attributes. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { CINEMA_MODEL, CINEMA_SQL, REVIEWS } from '../support/fixtures/cinema.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { cinemaPlugin } from '../support/plugins/test-plugins.ts'

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  await server.run(CINEMA_SQL)
  protocolTable(
    'code',
    { model: CINEMA_MODEL, rows: { Review: REVIEWS } },
    [
      {
        spec: 'P7.1',
        name: 'a function reads entities, selections, aggregates and related entities',
        get: '/Film/facts',
        json: {
          result: {
            count: 4,
            long: ['Alien', 'La strada'],
            longCount: 2,
            first: 'Alien',
            last: 'La strada',
            second: ['Alien', 'Été 85'],
            languages: ['English', 'Français'],
            cast: ['La strada'],
            sum: 325,
            longest: 117,
            rated: ['G', 'PG', 'R'],
            both: 2,
            either: ['Alien', 'La strada'],
            rest: ['Été 85', '100 % Wolf'],
            nested: ['La strada'],
            missing: null,
            key: 1,
            path: 'English',
            dangling: null,
            reviews: ['great', 'slow'],
            ofReviews: ['Alien', 'La strada'],
            reviewed: ['Alien'],
          },
        },
      },
      { spec: 'P7.1', name: 'of an entity', get: '/Film(1)/shout', json: { result: 'ALIEN' } },
      {
        spec: 'P7.1',
        name: 'of an entity with a key of several columns',
        get: '/Part(3~3)/who',
        json: { result: 'Quinn' },
      },
      { spec: 'P7.1', name: 'of no entity', get: '/Film(99)/shout', status: 404, errors: [1543] },
      {
        spec: 'P7.1',
        name: 'of a selection',
        get: '/Film/names?$filter="length > 100"&$orderby="title desc"',
        json: { result: ['La strada', 'Alien'] },
      },
      { spec: 'P7.4', name: 'that returns a selection', get: '/Film/short?$orderby="length"', keys: ['2', '3'] },
      { spec: 'P7.1', name: 'that waits', post: '/Film/later', body: [], json: { result: ['Alien', 3] } },
      {
        spec: 'P3.8',
        name: 'calculated attributes are shown',
        get: '/Film(1)?$attributes=label,parts',
        has: { label: 'Alien (English)', parts: 1 },
      },
      {
        spec: 'P3.8',
        name: 'in pages, of hidden and missing related entities, too',
        get: '/Film?$attributes=label&$orderby="ID"',
        has: { __ENTITIES: [{ label: 'Alien (English)' }, { label: 'Été 85 (Français)' }, { label: 'La strada (?)' }] },
      },
      { spec: 'P3.8', name: 'filtered by their handlers', get: '/Film?$filter="label = Alien"', keys: ['1'] },
      { spec: 'P3.8', name: 'and ordered', get: '/Film?$orderby="label desc"', keys: ['3', '2', '1', '4'] },
      { spec: 'P8.9', name: 'a hidden entity is in no page', get: '/Actor', keys: ['1', '3'] },
      { spec: 'P8.9', name: 'nor counted', get: '/Actor?$top=1', count: 2 },
      { spec: 'P8.9', name: 'nor found by its key', get: '/Actor(2)', status: 404 },
      { spec: 'P8.9', name: 'nor by a filter', get: '/Actor?$filter="firstName = Giulietta"', count: 0 },
      { spec: 'P8.9', name: 'nor over a relation', get: '/Film?$filter="cast.actor.lastName = Masina"', count: 0 },
      {
        spec: 'P8.9',
        name: 'nor by what it lacks',
        get: '/Part?$filter="not(actor.lastName = Quinn)"',
        keys: ['1~1'],
      },
      {
        spec: 'P8.9',
        name: 'nor expanded',
        get: '/Part(3~2)?$expand=actor',
        has: { actor: null },
      },
      { spec: 'P8.9', name: 'nor in an order', get: '/Part?$orderby="actor.lastName"', keys: ['3~2', '3~3', '1~1'] },
      { spec: 'P8.9', name: 'nor in an aggregate', get: '/Actor/lastName?$compute=count', json: 2 },
      { spec: 'P8.9', name: 'nor distinct', get: '/Actor/lastName?$distinct=true', json: ['Quinn', 'Weaver'] },
      { spec: 'P8.9', name: 'nor seen by code', get: '/Actor/seen', json: { result: [2, ['Weaver', 'Quinn'], null] } },
      { spec: 'P8.9', name: 'entities may be named one by one', get: '/Language', keys: ['1', '2'] },
      { spec: 'P8.9', name: 'which hides the others', get: '/Film?$filter="language.name = Italiano"', count: 0 },
      {
        spec: 'P5.7',
        name: 'and of new entities that are not saved',
        post: '/Film?$method=update&$refresh=true',
        body: [
          { title: 'Solaris', languageID: 1 },
          { __KEY: '1', __STAMP: 3, title: 'Aliens' },
        ],
        has: {
          __ENTITIES: [
            { label: 'Solaris (English)', parts: 0 },
            { label: 'Aliens (English)', parts: 1 },
          ],
        },
      },
      {
        spec: 'P9',
        name: 'events complete what a client saves',
        post: '/Film?$method=update',
        body: { title: 'log Solaris', length: 166 },
        has: { __KEY: '5', text: 'written by an event', label: 'log Solaris (?)', rate: 1 },
        afterwards: { '/Review?$filter="text = \'success log@\'"': { __COUNT: 1 } },
      },
      {
        spec: 'P9',
        name: 'and refuse it',
        status: 422,
        post: '/Film?$method=update',
        body: [{ title: 'refused' }, { title: 'fine' }],
        has: { __ENTITIES: [{ __ERROR: [{ errCode: 7001 }] }, { title: 'fine', text: 'written by an event' }] },
      },
      {
        spec: 'P5.5',
        name: 'which refuses all of an atomic request',
        status: 422,
        post: '/Film?$method=update&$atomic=true',
        body: [{ title: 'refused' }, { title: 'not kept' }],
        afterwards: { '/Film?$filter="title = \'not kept\'"': { __COUNT: 0 } },
      },
      {
        spec: 'P9',
        name: 'an event may enqueue a job',
        post: '/Film?$method=update',
        body: { title: 'enqueues' },
        has: { title: 'enqueues' },
      },
      {
        spec: 'P9',
        name: 'an entity changes',
        post: '/Film?$method=update',
        body: { __KEY: '5', __STAMP: 1, length: 167 },
        has: { __STAMP: 2, length: 167 },
      },
      {
        spec: 'P9',
        name: 'a stale stamp is refused',
        post: '/Film?$method=update',
        body: { __KEY: '5', __STAMP: 1, length: 1 },
        status: 409,
      },
      {
        spec: 'P9',
        name: 'a hidden entity cannot be changed',
        post: '/Actor?$method=update',
        body: { __KEY: '2', __STAMP: 1, lastName: 'x' },
        status: 404,
      },
      { spec: 'P9', name: 'nor deleted', post: '/Actor(2)?$method=delete', status: 404 },
      { spec: 'P6', name: 'nor locked', post: '/Actor(2)?$lock=true', status: 404 },
      {
        spec: 'P6',
        name: 'others can be',
        post: '/Actor(3)?$lock=true',
        json: { result: true, __STATUS: { success: true } },
      },
      {
        spec: 'P9',
        name: 'a deletion by a filter spares what is hidden',
        post: '/Part?$filter="actor.lastName = Masina"&$method=delete',
        afterwards: { '/Part': { __COUNT: 3 } },
      },
      {
        spec: 'P7.1',
        name: 'a function saves',
        post: '/Film/rename',
        body: [5, 'renamed'],
        has: { result: { success: true } },
        afterwards: { '/Film(5)': { title: 'renamed', __STAMP: 3 } },
      },
      {
        spec: 'P7.1',
        name: 'and inserts',
        post: '/Film/insert',
        body: ['Mirror'],
        has: { result: { success: true, rate: 1, again: 'Mirror' } },
      },
      {
        spec: 'P7.1',
        name: 'events refuse its saves, too',
        post: '/Film/rename',
        body: [5, 'refused'],
        has: { result: { success: false } },
      },
      { spec: 'P7.1', name: 'a stamp that is stale', post: '/Film/stale', body: [], has: { result: [true, 2] } },
      {
        spec: 'P9',
        name: 'a name that stays',
        post: '/Film/rename',
        body: [5, 'stays'],
        has: { result: { success: true } },
      },
      {
        spec: 'P9',
        name: 'an event keeps an entity',
        post: '/Film(5)?$method=delete',
        status: 422,
        errors: [7002, 1518],
        afterwards: { '/Film(5)': { title: 'stays' } },
      },
      {
        spec: 'P9',
        name: 'a name that goes',
        post: '/Film/rename',
        body: [5, 'goes'],
        has: { result: { success: true } },
      },
      {
        spec: 'P9',
        name: 'an event sees an entity go',
        post: '/Film?$filter="title = goes"&$method=delete',
        json: { ok: true },
        afterwards: {
          '/Film?$filter="ID = 5"': { __COUNT: 0 },
          '/Review?$filter="text = \'success drop goes\'"': { __COUNT: 1 },
        },
      },
      {
        spec: 'P9',
        name: 'an entity that others refer to stays',
        post: '/Film/remove',
        body: [1],
        has: { result: { success: false } },
      },
      {
        spec: 'P7.1',
        name: 'a transaction of the store cannot have it',
        post: '/Film/together',
        body: [],
        status: 500,
      },
    ],
    {
      config: {
        plugins: [cinemaPlugin],
        functions: { threads: 2 },
        connections: { cinema: { url: server.url, maxConnections: 6 } },
      },
      on: ['node-http'],
    },
  )
}
