/** Copies of values of which a store keeps a part: each column is listed once, and in a key such a value is refused. */
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { cloneWorld } from '../../support/commands/database-clones.ts'
import { startPostgres } from '../../support/databases/sql-servers.ts'
import { sqliteFile } from '../../support/databases/sqlite-file.ts'

t.setTimeout(600_000)

const AT = '2020-01-31 08:30:00'

/** Tables with columns of the names of the database's types. */
const tables = (moment: string, time: string): string => `
CREATE TABLE part (id integer PRIMARY KEY, at ${moment}, clock ${time}, again ${moment});
INSERT INTO part VALUES (1, '${AT}.123', '08:30:00.5', '${AT}'), (7, '${AT}.123999', '08:30:00.0001', '${AT}.120000'), (8, '${AT}.0001', NULL, NULL);
CREATE TABLE moment (at ${moment} PRIMARY KEY, n integer);
INSERT INTO moment VALUES ('${AT}.123', 1), ('${AT}.123456', 2), ('${AT}.123999', 3);
CREATE TABLE lead (id integer PRIMARY KEY, at ${moment} REFERENCES moment);
INSERT INTO lead VALUES (1, '${AT}.123'), (2, '${AT}.123999');
CREATE TABLE pair (a integer, b text, at ${moment}, PRIMARY KEY (a, b));
INSERT INTO pair VALUES (1, 'x', '${AT}.1239');
CREATE TABLE whole (id integer PRIMARY KEY, at ${moment});
INSERT INTO whole VALUES (1, '${AT}.123')`

async function testLosses(t: Test, world: ReturnType<typeof cloneWorld>, source: string): Promise<void> {
  const { isComplete, text } = await world.clone(source)
  t.equal(isComplete, false, 'keys are refused')
  const lost = text.split('\n').filter(line => line.includes(' lost '))
  const what = 'digits after the milliseconds are lost in'
  t.same(lost.sort(), [
    `pair.at: ${what} 1 row, first in the key "1~x": "${AT}.1239"`,
    `part.at: ${what} 2 rows, first in the key "7": "${AT}.123999"`,
    `part.clock: ${what} 1 row, first in the key "7": "08:30:00.0001"`,
  ])
  const reason =
    /at: "2020-01-31 08:30:00.123\d+" has digits after the milliseconds, which a key cannot lose; a "string"/
  t.match(world.rejected(), {
    moment: [
      { row: { n: '2' }, errors: [reason] },
      { row: { n: '3' }, errors: [reason] },
    ],
    lead: [{ row: { id: '2' }, errors: [reason] }],
  })
  const get = await world.serve()
  const shown = JSON.parse((await get('part?$asArray=true&$orderby=id')).toString())
  t.match(shown, [
    { at: '2020-01-31T08:30:00.123Z', clock: 30_600_500 },
    { at: '2020-01-31T08:30:00.123Z', clock: 30_600_000 },
    { at: '2020-01-31T08:30:00.000Z' },
  ])
  t.match(JSON.parse((await get('moment?$asArray=true')).toString()), [{ n: 1 }])
}

t.test('SQLite', async t => {
  const world = cloneWorld(t)
  await testLosses(t, world, sqliteFile(join(world.cwd, 'a.db'), tables('DATETIME', 'TIME')))
})

t.test('PostgreSQL', async t => {
  const server = await startPostgres()
  if (typeof server === 'string') {
    t.comment(`skipped: ${server}`)
    return
  }
  t.teardown(() => server.stop())
  await server.run(tables('timestamp', 'interval'))
  await testLosses(t, cloneWorld(t), server.url)

  await t.test(
    'a key of an edited model that is a string keeps all digits, numbers that are rounded are listed',
    async t => {
      await server.run(`CREATE TABLE number (id numeric PRIMARY KEY, v numeric);
      INSERT INTO number VALUES (1, 0.1), (2, 1234567890.12345678), (12345678901234567.5, 0.12345678901234567890)`)
      const world = cloneWorld(t)
      const key = { type: 'string' }
      const number = { type: 'number' }
      writeFileSync(
        world.config.model,
        JSON.stringify({
          name: 'edited',
          dataClasses: {
            moment: { key: 'at', attributes: { at: key, n: { type: 'long' } } },
            number: { key: 'id', attributes: { id: number, v: number } },
          },
        }),
      )
      const { text } = await world.clone(server.url)
      t.match(text, 'moment: 3 entities')
      t.match(text, 'number.v: digits that a double does not have are lost in 2 rows, first in the key "2"')
      t.match(world.rejected().number, [
        { errors: [/"12345678901234567.5" has digits that a double does not have, which a key cannot lose/] },
      ])
    },
  )
})
