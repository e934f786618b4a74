/**
 * `/health/data` and the log, while databases end, hang, come back, or no longer fit the model. Skipped where PostgreSQL is not installed.
 */
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { type LogLine, logSink } from '../support/base/log-sink.ts'
import { until } from '../support/base/until.ts'
import { MortalPostgres } from '../support/databases/mortal-postgres.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { openNetwork } from '../support/services/dead-network.ts'

const SQL = `
CREATE TABLE film (id int PRIMARY KEY, title text);
CREATE TABLE actor (id int PRIMARY KEY, title text);
CREATE ROLE reader LOGIN; GRANT SELECT ON film, actor TO reader;
CREATE ROLE stranger LOGIN PASSWORD 'p'`
const of = (table: string) => ({
  storage: { postgres: 'cinema', table },
  key: 'ID',
  attributes: { ID: { type: 'long', column: 'id' }, title: { type: 'string' } },
})
const MODEL = {
  name: 'cinema',
  dataClasses: {
    Film: of('film'),
    Actor: of('actor'),
    Review: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' } } },
  },
}

const postgres = await MortalPostgres.start()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.query(SQL)
  tests(postgres)
}

function tests(postgres: MortalPostgres): void {
  /** A server with its threads, as `tesser start` starts it. */
  async function start(t: Test, url = postgres.url) {
    const { lines, logger } = logSink()
    const key = createKey()
    const keys = [{ name: 'monitor', hash: hashKey(key), privileges: ['WebAdmin'] }]
    const { ask, server } = await startConfigured(t, {
      fixture: { model: MODEL, rows: {} },
      logger: () => logger,
      files: { 'tesser.directory.json': { users: [], keys }, 'roles.json': { permissions: { allowed: [] } } },
      config: { connections: { cinema: { url } } },
    })
    server.engine.warmUp()
    const asAdministrator = { headers: { authorization: `Bearer ${key}` } }
    const both = () => Promise.all([ask('/health/data'), ask('/health/data', asAdministrator)])
    const health = async () => {
      const [guest, administrator] = await both()
      t.equal(administrator.status, guest.status, 'guests and administrators get one status')
      const expected = guest.status === 200 ? '{"status":"ready"}' : '{"status":"unavailable"}'
      t.equal(guest.text, expected, 'a guest gets no more than the state')
      const { status, store, databases } = JSON.parse(administrator.text)
      t.match({ status, store }, { status: JSON.parse(guest.text).status, store: { status: 'ready' } })
      return { status: guest.status, cinema: databases.cinema }
    }
    // The state may change between the two answers.
    const becomes = (status: number) => until(async () => (await both()).every(answer => answer.status === status))
    return { ask, asAdministrator, health, becomes, lines, server }
  }
  const linesAbout = (lines: readonly LogLine[], subject: RegExp) =>
    lines.filter(({ msg, level }) => level > 20 && subject.test(msg)).map(({ msg, level }) => `${level} ${msg}`)

  t.test('a database that answers', async t => {
    const { health, ask, asAdministrator, lines } = await start(t)
    t.same(await health(), { status: 200, cinema: { status: 'ready' } })
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('/health/data')))
    for (const { status } of answers) if (status !== 200) t.equal(status, 200)
    const sessions = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'tesser'`
    t.same(await postgres.query(sessions), [{ n: 1 }], 'probes have one connection')
    const { text } = await ask('/metrics', asAdministrator)
    t.match(text, /^tesser_database_up\{database="cinema"\} 1$/m)
    t.same(linesAbout(lines, /cinema|cannot be/), [])
  })

  t.test('a database that ends and comes back has one line for each', async t => {
    const { ask, asAdministrator, health, becomes, lines } = await start(t)
    t.equal((await health()).status, 200)
    await postgres.kill()
    t.ok(await becomes(503))
    t.match(await health(), { cinema: { status: 'unavailable', reason: /ENOENT|ECONNREFUSED/ } })
    for (let i = 0; i < 20; i++) t.equal((await ask('/rest/Film')).status, 503)
    t.match((await ask('/metrics', asAdministrator)).text, /^tesser_database_up\{database="cinema"\} 0$/m)
    await postgres.restart()
    t.ok(await becomes(200))
    t.equal((await ask('/rest/Film')).status, 200)
    const [away, back, ...more] = linesAbout(lines, /database cinema/)
    t.match(
      away,
      /^40 database cinema is unavailable: .+; requests that need it get 503 until it is back, and each of them/,
    )
    t.equal(back, '30 database cinema is available again')
    t.same(more, [])
  })

  t.test('a database that is not there at the start', async t => {
    await postgres.kill()
    const { health, becomes, lines } = await start(t)
    t.ok(await until(() => linesAbout(lines, /database cinema/).length === 1), 'there is a line without a request')
    t.equal((await health()).status, 503)
    await postgres.restart()
    t.ok(await becomes(200))
    t.match(linesAbout(lines, /database cinema/), [/^40 .* is unavailable: /, /^30 .* is available again$/])
  })

  t.test('a database that hangs at the start holds up neither the start nor the stop', async t => {
    const network = await openNetwork(t, postgres.socket)
    network.hang()
    const url = `postgres://bench@127.0.0.1:${network.port}/postgres`
    const { health, lines, ask, becomes } = await start(t, url)
    t.equal((await ask('/health/ready')).status, 200)
    const other = await start(t, url)
    await other.server.stop()
    t.match(await health(), { status: 503, cinema: { status: 'unavailable', reason: /does not answer in time/ } })
    t.ok(await until(() => linesAbout(lines, /database cinema/).length === 1))
    t.match(linesAbout(lines, /database cinema/), [/^40 .* is unavailable: it does not answer a connection in time; /])
    network.goOn()
    t.ok(await becomes(200))
  })

  t.test('a database that does not admit the role', async t => {
    const { health, lines, ask } = await start(t, postgres.url.replace('/postgres?', '/nowhere?'))
    t.match(await health(), { status: 503, cinema: { reason: 'database "nowhere" does not exist' } })
    const { status, text, headers } = await ask('/rest/Film')
    t.equal(status, 503)
    t.match(text, /the database .*cinema.* does not exist on its server; try again in a moment/)
    t.equal(headers['retry-after'], '1')
    t.match(linesAbout(lines, /database cinema/), [/^40 .* is unavailable: database "nowhere" does not exist; /])
  })

  t.test('tables that do not fit', async t => {
    const { health, becomes, lines } = await start(t, postgres.url.replace('bench@', 'reader@'))
    t.equal((await health()).status, 200)
    for (const [change, undo, dataClasses, logged] of [
      [
        'ALTER TABLE film RENAME TO gone; ALTER TABLE actor RENAME title TO name',
        'ALTER TABLE gone RENAME TO film; ALTER TABLE actor RENAME name TO title',
        {
          Film: /^there is no table or view "public"."film", or this role may not see it$/,
          Actor: /^"public"."actor" has no column "title"$/,
        },
        [
          /^40 Film cannot be used: there is no table/,
          /^40 Actor cannot be used: .*has no column/,
          '30 Film can be used again',
          '30 Actor can be used again',
        ],
      ],
      [
        'REVOKE SELECT ON film FROM reader',
        'GRANT SELECT ON film TO reader',
        { Film: /^permission denied for table film$/ },
        [/^40 Film cannot be read: permission denied/, '30 Film can be read again'],
      ],
    ] as const) {
      lines.length = 0
      await postgres.query(change)
      t.ok(await becomes(503), change)
      const { cinema } = await health()
      t.match(cinema, { status: 'incomplete', reason: undefined })
      t.match(cinema.dataClasses, dataClasses)
      t.same(Object.keys(cinema.dataClasses), Object.keys(dataClasses))
      await postgres.query(undo)
      t.ok(await becomes(200), undo)
      t.match(linesAbout(lines, /can/), logged)
    }
  })
}
