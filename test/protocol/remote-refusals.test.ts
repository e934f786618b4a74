/**
 * Errors that clients receive when PostgreSQL refuses an entity or a statement: an attribute and a reason, but no code, and no name that only the
 * database knows. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { type SqlServer, startPostgres } from '../support/databases/sql-servers.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { logSink } from '../support/base/log-sink.ts'
import { MODEL, NAMES, REFUSALS, SQL, TAKEN } from './refusal-cases.ts'

const database = await startPostgres()
if (typeof database === 'string') t.comment(`skipped: ${database}`)
else {
  t.teardown(() => database.stop())
  await database.run(SQL)
  await testRefusals(database)
}

async function testRefusals({ url, run }: SqlServer): Promise<void> {
  const { lines, logger } = logSink()
  const { ask } = await startConfigured(t, {
    fixture: { model: MODEL, rows: {} },
    logger: () => logger,
    config: { connections: { main: { url } } },
  })
  const send = async (path: string, body?: unknown) => {
    const answer = await ask(`/rest/${path}`, body === undefined ? {} : { body: JSON.stringify(body) })
    return { ...answer, json: JSON.parse(answer.text) }
  }
  const save = (dataClass: string, body: unknown, options = '') => send(`${dataClass}?$method=update${options}`, body)
  await run(TAKEN)

  for (const [name, values, attribute, message] of REFUSALS) {
    t.test(name, async t => {
      for (const [form, body, options] of [
        ['a new entity', { id: 2, ...values }, ''],
        [
          'one of several',
          [
            { id: 2, ...values },
            { id: 3, mood: 'odd' },
          ],
          '',
        ],
        ['all or none', [{ id: 2, ...values }, { id: 3 }], '&$atomic=true'],
      ] as const) {
        const { status, json } = await save('Booking', body, options)
        const [error] = json.__ERROR ?? json.__ENTITIES[0].__ERROR
        t.ok(status === 422 || status === 409, `${form}: ${status}`)
        t.match(error.message, message, form)
        t.equal(error.attribute, attribute, form)
        t.notMatch(error.message, NAMES, form)
      }
    })
  }

  t.test('a change of an entity names the attribute, too', async t => {
    const { __STAMP } = (await send('Booking(1)')).json
    const { status, json } = await save('Booking', { __KEY: '1', __STAMP, address: 'no' })
    t.equal(status, 422)
    t.match(json.__ERROR[0], { attribute: 'address', message: /an IP address is expected/ })
  })

  t.test('a change that conflicts by values which it does not contain', async t => {
    await run(`INSERT INTO tbl_booking (id, price, ticket_part) VALUES (8, 2, 2)`)
    const { __STAMP } = (await send('Booking(8)')).json
    for (const [change, message] of [
      [{ floor: 1 }, /^price is taken: another entity has it in a unique index of the database$/],
      [{ ticket: 1 }, /^another entity has ticket 1 and the same ticketPart, which are unique together$/],
    ] as const) {
      const { status, json } = await save('Booking', { __KEY: '8', __STAMP, ...change })
      t.equal(status, 409)
      t.match(json.__ERROR[0].message, message)
    }
  })

  t.test('a number of a sequence that another entity has', async t => {
    const { status, json } = await save('Counted', { day: 1 })
    t.equal(status, 409)
    t.match(json.__ERROR[0], { attribute: 'id', message: 'another entity has 1 as id, which is unique' })
  })

  t.test('a key to which another row refers', async t => {
    await run(`INSERT INTO guest VALUES (1, 5); UPDATE tbl_booking SET guest_no = 5 WHERE id = 1`)
    const { __STAMP } = (await send('Guest(1)')).json
    const { status, json } = await save('Guest', { __KEY: '1', __STAMP, no: 6 })
    t.equal(status, 409)
    t.match(json.__ERROR[0].message, /^the database refuses the entity of Guest: a row refers to it$/)
    t.notMatch(json.__ERROR[0].message, NAMES)
  })

  t.test('a hidden value', async t => {
    await run(`ALTER TABLE tbl_booking ALTER hidden SET DEFAULT 'x'`)
    const { status, json } = await save('Booking', { id: 2 })
    await run('ALTER TABLE tbl_booking ALTER hidden DROP DEFAULT')
    t.equal(status, 422)
    t.match(json.__ERROR[0], { errCode: 1570, attribute: undefined, message: /a hidden value of Booking/ })
  })

  t.test('values that exist together with a hidden one', async t => {
    const { status, json } = await save('Booking', { id: 2, ticket: 1 })
    t.equal(status, 422)
    t.match(json.__ERROR[0], { errCode: 1570, attribute: undefined, message: /a hidden value of Booking/ })
  })

  t.test('a row without a partition', async t => {
    const { status, json } = await save('Parted', { id: 1, kind: 2 })
    t.equal(status, 422)
    t.match(json.__ERROR[0].message, /the database refuses the entity of Parted: a check of the table$/)
    t.notMatch(json.__ERROR[0].message, NAMES)
  })

  t.test('statements', async t => {
    const role = 'refusals_reader'
    await run(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA public TO ${role}; GRANT SELECT ON secret TO ${role}`)
    t.teardown(() => run(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
    const { ask } = await startConfigured(t, {
      fixture: { model: { name: 'one', dataClasses: { Secret: MODEL.dataClasses.Secret } }, rows: {} },
      logger: () => logger,
      config: { connections: { main: { url: url.replace('bench@', `${role}@`) } } },
    })
    const refused = await ask('/rest/Secret?$method=update', { body: JSON.stringify({ id: 2 }) })
    t.equal(refused.status, 500)
    t.match(refused.text, /refused a statement: the role of the connection has no right to do this; the operator/)
    t.ok(lines.some(({ msg }) => msg === 'database main: 42501: permission denied for table secret'))

    const broken = await send('Broken')
    t.equal(broken.status, 500)
    t.match(broken.text, /refused a statement: a value cannot be computed or converted; the operator/)
    t.ok(lines.some(({ msg }) => msg === 'database main: 22012: division by zero'))

    t.equal((await send('Gone')).status, 200)
    await run('DROP VIEW gone')
    const gone = await send('Gone')
    t.equal(gone.status, 503)
    t.match(gone.text, /tables of the database .*main.* have changed, or do not fit the model; try again in a moment/)
    const unusable = await send('Gone')
    t.equal(unusable.status, 503, 'it does not come back by itself')
    t.match(unusable.text, /the table of Gone does not fit its model; the operator finds the reason in the log/)
    t.equal(unusable.headers['retry-after'], '5')
    await run('CREATE VIEW gone AS SELECT 2 AS id')
  })

  t.test('a server that has no connection left', async t => {
    const role = 'refusals_full'
    await run(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 0`)
    t.teardown(() => run(`DROP ROLE ${role}`))
    const { ask } = await startConfigured(t, {
      fixture: { model: { name: 'one', dataClasses: { Room: MODEL.dataClasses.Room } }, rows: {} },
      logger: () => logger,
      config: { connections: { main: { url: url.replace('bench@', `${role}@`) } } },
    })
    const { status, text, headers } = await ask('/rest/Room')
    t.equal(status, 503)
    t.match(text, /the database .*main.* has no connection left; try again in a moment/)
    t.equal(headers['retry-after'], '1')
  })
}
