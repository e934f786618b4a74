/**
 * A database that is away, slow or full of work: its dataclasses answer 503 or run out of time, and nothing else does. Skipped where
 * PostgreSQL is not installed.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { openNetwork } from '../support/services/dead-network.ts'
import { MortalPostgres } from '../support/databases/mortal-postgres.ts'
import { isLong } from '../support/runner/rounds.ts'
import { startServer, type TestAnswer, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const TABLES = `
CREATE TABLE film (id int PRIMARY KEY, title text, stamp int NOT NULL DEFAULT 1);
INSERT INTO film SELECT i, 'film ' || i FROM generate_series(1, 500) AS i;
CREATE VIEW slow_film AS SELECT id, title FROM film, pg_sleep(3600);`

const attributes = { ID: { type: 'long', column: 'id' }, title: { type: 'string' } }
const MODEL = {
  name: 'cinema',
  dataClasses: {
    Film: { storage: { postgres: 'cinema', table: 'film', stamp: 'stamp' }, key: 'ID', attributes },
    SlowFilm: { storage: { postgres: 'cinema', table: 'slow_film' }, key: 'ID', attributes },
    Review: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        filmID: { type: 'long' },
        film: { kind: 'relatedEntity', type: 'Film', foreignKey: 'filmID' },
      },
    },
  },
}
const REVIEWS = [{ filmID: 1 }, { filmID: 2 }, { filmID: null }]

/** Number of times that the database is killed. */
const ROUNDS = isLong ? 20 : 2

const postgres = await MortalPostgres.start()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.query(TABLES)
  tests(postgres)
}

function tests(postgres: MortalPostgres): void {
  const start = (t: Test, config: object = {}, maxConnections = 10, url = postgres.url): Promise<TestServer> =>
    startServer(
      t,
      { model: MODEL, rows: { Review: REVIEWS } },
      { setting: 'normal', config: { connections: { cinema: { url, maxConnections } }, ...config } },
    )
  /** Number of statements that sleep in the database. */
  const slow = async (): Promise<number> => {
    const [row] = await postgres.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)
    return row!.n as number
  }

  t.test('a database that is not there at the start', async t => {
    await postgres.kill()
    const server = await start(t)
    isAway(t, await server.get('/Film'))
    isAway(t, await server.get('/Film(1)'))
    isAway(t, await server.get('/Film?$filter="title = film@"&$orderby=title&$top=1000'))
    t.equal((await server.get('/Review?$filter="filmID = 1"')).json.__COUNT, 1, 'the store answers')
    t.equal((await server.get('/$catalog')).status, 200, 'the catalog is there')
    isAway(t, await server.get('/Review?$filter="film.title = film@"'), 'a filter over a relation')
    isAway(t, await server.get('/Review(1)?$expand=film'), 'an expanded relation')
    await postgres.restart()
    t.ok(
      await until(async () => (await server.get('/Film?$top=1')).status === 200),
      'it is used as soon as it is there',
    )
    t.equal((await server.get('/Review?$filter="film.title = \'film 2\'"')).json.__COUNT, 1)
  })

  t.test('a database that is killed and comes back', async t => {
    const server = await start(t)
    for (let round = 1; round <= ROUNDS; round++) {
      t.equal((await server.get('/Film')).json.__COUNT, 500)
      const unanswered = Array.from({ length: 3 }, () => server.get('/SlowFilm'))
      t.ok(await until(async () => (await slow()) === 3), 'statements are under way')
      await postgres.kill()
      for (const answer of await Promise.all(unanswered)) isAway(t, answer, 'a statement under way')
      isAway(t, await server.get('/Film'))
      isAway(t, await server.post('/Film?$method=update', { __KEY: '1', __STAMP: 1, title: 'other' }), 'a save')
      t.equal((await server.get('/Review')).json.__COUNT, REVIEWS.length, 'the store answers')
      await postgres.restart()
      t.ok(await until(async () => (await server.get('/Film(1)')).status === 200), `it is back, round ${round}`)
      t.equal((await server.get('/Film(1)')).json.title, 'film 1', 'nothing has been saved')
    }
  })

  t.test('a statement that takes too long is cancelled in the database', async t => {
    const server = await start(t, { query: { timeoutMs: 2_000 } })
    const paths = ['/SlowFilm', '/SlowFilm(1)', '/SlowFilm?$filter="title = film@"', '/SlowFilm/ID?$compute=sum']
    const answers = await Promise.all(paths.map(path => server.get(path)))
    for (const [i, answer] of answers.entries()) {
      t.match(answer, { status: 503, json: { __ERROR: [{ errCode: 1200 }] } }, `${paths[i]}: ${answer.text}`)
    }
    t.ok(await until(async () => (await slow()) === 0), 'no statement goes on')
    t.equal((await server.get('/Film(3)')).json.title, 'film 3', 'its connections can be used')
  })

  t.test('a client that disconnects cancels its statement', async t => {
    const server = await start(t)
    for (const path of ['/SlowFilm', '/SlowFilm(1)', '/SlowFilm?$top=1000', '/SlowFilm/title?$distinct=true']) {
      const socket = connect(server.port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`GET /rest${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      t.ok(await until(async () => (await slow()) === 1), `a statement runs: ${path}`)
      socket.destroy()
      t.ok(await until(async () => (await slow()) === 0), `it was cancelled: ${path}`)
    }
    t.equal((await server.get('/Film(3)')).json.title, 'film 3', 'the next statement is not')
  })

  t.test('slow statements hold up no read of the store', async t => {
    const server = await start(t, {}, 20)
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const socket = connect(server.port, '127.0.0.1')
        await once(socket, 'connect')
        socket.write(`GET /rest/SlowFilm${i % 2 ? '' : '?$top=1000'} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        return socket
      }),
    )
    t.ok(await until(async () => (await slow()) >= 10), 'statements are under way')
    for (let i = 0; i < 50; i++) {
      t.equal((await server.get(`/Review?$filter="filmID = 1"&$top=${i + 1}`)).json.__COUNT, 1)
      t.equal((await server.get('/Review(1)')).json.filmID, 1)
      t.equal((await server.post('/Review?$method=update', { filmID: 9 })).status, 200)
    }
    t.ok((await slow()) >= 10, 'they have not ended meanwhile')
    for (const socket of sockets) {
      t.equal(socket.bytesRead, 0, 'none was answered')
      socket.destroy()
    }
    t.ok(await until(async () => (await slow()) === 0), 'all are cancelled')
    t.equal((await server.get('/Film(3)')).json.title, 'film 3')
  })

  t.test('a network that loses everything', async t => {
    const network = await openNetwork(t, postgres.socket)
    const config = { query: { timeoutMs: 2_000 }, pool: { overrunMs: 500 } }
    const server = await start(t, config, 10, `postgres://bench@127.0.0.1:${network.port}/postgres`)
    t.equal((await server.get('/Film?$top=1000')).json.__COUNT, 500)
    t.equal((await server.get('/Film(1)')).json.title, 'film 1')
    network.hang()
    const paths = [
      '/Film(2)',
      '/Film?$top=1000',
      '/Film?$filter="title = film@"',
      '/Film(3)',
      '/Review(1)?$expand=film',
    ]
    const answers = await Promise.all([...paths, ...paths].map(path => server.get(path)))
    for (const [i, { status, text }] of answers.entries()) t.equal(status, 503, `${paths[i % paths.length]}: ${text}`)
    t.equal((await server.get('/Review')).json.__COUNT, REVIEWS.length, 'the store answers')
    network.goOn()
    t.ok(await until(async () => (await server.get('/Film(1)')).status === 200), 'it works again')
    t.ok(await until(async () => (await server.get('/Film?$top=1000')).status === 200))
  })

  t.test('a server stops while statements are slow', async t => {
    const server = await start(t)
    const unanswered = [server.get('/SlowFilm'), server.get('/SlowFilm?$top=1000')].map(each => each.catch(() => {}))
    t.ok(await until(async () => (await slow()) === 2), 'statements are under way')
    await server.stop()
    await Promise.all(unanswered)
    t.ok(await until(async () => (await slow()) === 0), 'they end with it')
  })

  t.test('all connections in use', async t => {
    const server = await start(t, {}, 2)
    const sockets = [0, 1, 2, 3].map(i => {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(`GET /rest/SlowFilm${i % 2 ? '' : '?$top=1000'} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      return socket
    })
    t.ok(await until(async () => (await slow()) === 2), 'no more statements than connections')
    const further = await server.get('/Film')
    isAway(t, further, 'no connection for a further one')
    t.match(further.text, /all connections to the database \\"cinema\\" have been in use/)
    t.equal((await server.get('/Review')).status, 200)
    for (const socket of sockets) socket.destroy()
    t.ok(await until(async () => (await server.get('/Film')).status === 200), 'connections are free again')
  })

  t.test('a database that refuses further connections', async t => {
    await postgres.query('CREATE ROLE visitor LOGIN CONNECTION LIMIT 0; GRANT SELECT ON film TO visitor')
    const server = await start(t, {}, 10, postgres.url.replace('bench@', 'visitor@'))
    isAway(t, await server.get('/Film'))
    await postgres.query('ALTER ROLE visitor CONNECTION LIMIT 10')
    t.equal((await server.get('/Film')).json.__COUNT, 500)
  })

  t.test('a table that disappears, and comes back', async t => {
    const server = await start(t)
    t.equal((await server.get('/Film')).status, 200)
    await postgres.query('ALTER TABLE film RENAME TO gone')
    const gone = await server.get('/Film')
    t.ok(gone.status === 500 || gone.status === 503, gone.text)
    t.notMatch(gone.text, /relation|SELECT/, 'the client does not see the reason')
    await postgres.query('ALTER TABLE gone RENAME TO film')
    t.ok(await until(async () => (await server.get('/Film')).status === 200))
  })
}

function isAway(t: Test, answer: TestAnswer, name = 'a read'): void {
  t.match(
    answer,
    { status: 503, json: { __ERROR: [{ errCode: 1200 }] } },
    `${name}: ${answer.status} ${answer.text.slice(0, 300)}`,
  )
  t.match(answer.headers, { 'retry-after': /^\d+$/ }, `${name} can be repeated`)
}
