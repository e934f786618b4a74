/** Locks that several servers share, beside transactions with one snapshot. Skipped where PostgreSQL is not installed. */
import pg from 'pg'
import t from 'tap'
import { LOCKED_CODE, LOCKS_EXIST, MAKE_LOCKS } from '../../../../engine/postgres/locks/lock-schema.ts'
import { startPostgres } from '../../../support/databases/sql-servers.ts'

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  const [change, lock] = [new pg.Client(server.url), new pg.Client(server.url)]
  for (const client of [change, lock]) {
    await client.connect()
    t.teardown(() => client.end())
  }
  const exist = async () => Object.values((await lock.query(LOCKS_EXIST.text)).rows[0])
  const taken = async (key: number) =>
    (await lock.query('SELECT tesser.lock($1, $2, $3, $4, NULL) AS lock', ['Film', String(key), 'Ada', '{}'])).rows[0]
      .lock
  const unlocked = (key: number) =>
    change.query('SELECT tesser.unlocked($1, $2, $3)', ['Film', String(key), 'Kurt']).then(
      () => 'unlocked',
      error => error.code,
    )

  t.test('they are made as often as servers like', async t => {
    t.same(await exist(), [false])
    for (let i = 0; i < 2; i++) for (const { text } of MAKE_LOCKS) await lock.query(text)
    t.same(await exist(), [true])
  })

  for (const level of ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']) {
    t.test(`a change in a transaction that is ${level} does not miss a lock`, async t => {
      await lock.query('DELETE FROM tesser.entity_lock')
      await change.query(`BEGIN ISOLATION LEVEL ${level}`)
      await change.query('SELECT count(*) FROM tesser.entity_lock')
      t.equal(await taken(1), 'taken')
      t.equal(await unlocked(2), 'unlocked', 'that of another entity is none')
      t.equal(await taken(2), 'busy', 'it waits for the change')
      t.equal(await unlocked(1), level === 'READ COMMITTED' ? LOCKED_CODE : '40001')
      await change.query('ROLLBACK')
      await change.query(`BEGIN ISOLATION LEVEL ${level}`)
      t.equal(await unlocked(1), LOCKED_CODE)
      await change.query('ROLLBACK')
    })
  }
}
