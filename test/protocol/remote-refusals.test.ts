/**
 * Errors that clients receive when PostgreSQL refuses an entity or a statement: an attribute and a reason, but no code, and no name that only the
 * database knows. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { type SqlServer, startPostgres } from '../support/databases/sql-servers.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { logSink } from '../support/base/log-sink.ts'

const SQL = `
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN score AS int CHECK (VALUE BETWEEN 0 AND 10);
CREATE EXTENSION btree_gist;
CREATE TABLE room (id int PRIMARY KEY);
CREATE TABLE tbl_booking (
  id int PRIMARY KEY, name varchar(8), mood mood, score score, price numeric(5,2) CONSTRAINT price_is_positive CHECK (price > 0),
  seats int CONSTRAINT tbl_booking_hidden_seats CHECK (seats <> 13), stay int4range, address inet, doc jsonb, raw json, code bit(3),
  room_id int REFERENCES room, note text UNIQUE, text_doc jsonb, hidden text CHECK (hidden <> 'x'),
  first_day int, last_day int, CONSTRAINT days_in_order CHECK (first_day <= last_day),
  EXCLUDE USING gist (room_id WITH =, stay WITH &&),
  half int GENERATED ALWAYS AS (100 / nullif(seats, -1) / (seats - 7)) STORED
);
CREATE TABLE parted (id int, kind int, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE VIEW broken AS SELECT 1 / (length(current_user) * 0) AS id;
CREATE VIEW gone AS SELECT 1 AS id;
CREATE TABLE secret (id int PRIMARY KEY, name text);
INSERT INTO room VALUES (1);
INSERT INTO secret VALUES (1, 'x');
`
const of = (table: string, attributes: object) => ({ storage: { postgres: 'main', table }, key: 'id', attributes })
const long = { type: 'long' }
const string = { type: 'string' }
const object = { type: 'object' }
const MODEL = {
  name: 'refusals',
  dataClasses: {
    Room: of('room', { id: long }),
    Booking: of('tbl_booking', {
      id: long,
      name: string,
      mood: string,
      score: long,
      price: { type: 'decimal', scale: 2 },
      seats: long,
      stay: string,
      address: string,
      doc: object,
      raw: object,
      code: string,
      roomID: { ...long, column: 'room_id' },
      room: { kind: 'relatedEntity', type: 'Room', foreignKey: 'roomID' },
      note: string,
      textDoc: { ...string, column: 'text_doc' },
      firstDay: { ...long, column: 'first_day' },
      lastDay: { ...long, column: 'last_day' },
      hidden: { ...string, scope: 'private' },
    }),
    Parted: {
      storage: { postgres: 'main', table: 'parted' },
      key: 'ID',
      attributes: { ID: { ...string, column: ['id', 'kind'] }, id: long, kind: long },
    },
    Broken: { ...of('broken', { id: long }), storage: { postgres: 'main', table: 'broken', readOnly: true } },
    Gone: { ...of('gone', { id: long }), storage: { postgres: 'main', table: 'gone', readOnly: true } },
    Secret: of('secret', { id: long, name: string }),
  },
}

/** Values of a booking, and what the client is told about them. */
const REFUSALS: readonly (readonly [string, object, string | undefined, RegExp])[] = [
  [
    'a check',
    { price: -1 },
    'price',
    /^price of Booking cannot be "-1.00": the check price_is_positive of the database/,
  ],
  [
    'a check whose name has the name of the table',
    { seats: 13 },
    'seats',
    /^seats of Booking cannot be 13: a check of/,
  ],
  ['a check of two columns', { firstDay: 2, lastDay: 1 }, undefined, /: a check of the table \(days_in_order\)$/],
  [
    'a check of a domain',
    { name: 'x', score: 11 },
    'score',
    /^score of Booking cannot be 11: the check score_check of/,
  ],
  ['a label of an enum', { mood: 'odd' }, 'mood', /^mood cannot be "odd"; one of "sad", "happy" is expected$/],
  ['a text that is too long', { name: 'x'.repeat(9) }, 'name', /a text of at most 8 characters is expected/],
  ['a number that is too large', { price: 1000 }, 'price', /^price cannot be "1000.00"; a number of less than 1000 is/],
  [
    'an address',
    { name: 'x', address: 'no', note: 'n' },
    'address',
    /^address cannot be "no"; an IP address is expected$/,
  ],
  ['a range', { stay: 'no' }, 'stay', /^stay cannot be "no"; a value that its column takes is expected$/],
  ['bits', { code: '10' }, 'code', /^code cannot be "10"; a text with as many bits as its column has is expected$/],
  ['JSON', { textDoc: '{' }, 'textDoc', /^textDoc cannot be "\{"; a text in JSON is expected$/],
  ['NUL', { name: 'a\0b' }, 'name', /^name cannot be "a\\u0000b"; one of the texts without NUL/],
  ['half a pair', { note: 'a\ud800' }, 'note', /^note cannot be "a\\ud800"; one of the texts without NUL/],
  ['NUL in an object', { doc: { a: ['\0'] } }, 'doc', /^doc cannot be .*; an object of texts without NUL/],
  ['half a pair in a name', { raw: { 'a\udc00': 1 } }, 'raw', /^raw cannot be .*; an object of texts without NUL/],
  ['NUL in a text of JSON', { textDoc: '{"a":"\\u0000"}' }, 'textDoc', /one of the texts without NUL/],
  ['a division by zero', { seats: 7 }, undefined, /: a rule of the table divides by zero$/],
  ['a foreign key', { roomID: 7 }, 'roomID', /7/],
  ['a conflict', { roomID: 1, stay: '[1,5)' }, undefined, /: it conflicts with another entity$/],
  ['a value that exists', { note: 'taken' }, 'note', /another entity has "taken" as note/],
]

/** Texts that no answer may have. */
const NAMES = /tbl_|_id\b|_day\b|\b[0-9][0-9A-Z]{4}\b(?!\.)|btree|parted_1|invalid input/

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
  await run(`INSERT INTO tbl_booking (id, room_id, stay, note) VALUES (1, 1, '[3,7)', 'taken')`)

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

  t.test('a hidden value', async t => {
    await run(`ALTER TABLE tbl_booking ALTER hidden SET DEFAULT 'x'`)
    const { status, json } = await save('Booking', { id: 2 })
    await run('ALTER TABLE tbl_booking ALTER hidden DROP DEFAULT')
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
    t.equal((await send('Gone')).status, 503, 'it does not come back by itself')
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
