/**
 * A save to PostgreSQL stores what was sent, or is refused: the database itself rounds, cuts and wraps values of many types without an
 * error. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { startServer } from '../support/servers/test-server.ts'

interface Column {
  readonly sql: string
  readonly attribute: { readonly type: string; readonly [property: string]: unknown }
  /** Values that are read as they were sent, or as the second of a pair. */
  readonly kept: readonly unknown[]
  readonly refused: readonly unknown[]
  /** Part of the message of each that is refused; none where the database itself refuses them. */
  readonly expected?: RegExp
}

const string = { type: 'string' }
const number = { type: 'number' }
const long64 = { type: 'long64' }
const date = { type: 'date' }
const duration = { type: 'duration' }
const object = { type: 'object' }
const decimal = (scale: number) => ({ type: 'decimal', scale })
const column = (
  sql: string,
  attribute: Column['attribute'],
  kept: readonly unknown[],
  refused: readonly unknown[],
  expected?: RegExp,
): Column => ({ sql, attribute, kept, refused, ...(expected && { expected }) })

const DAY = 86_400_000
const WHOLE = /a whole number from/
const BLANKS = /without blanks at its end/

const COLUMNS: readonly Column[] = [
  column('smallint', { type: 'long' }, [32_767, -32_768], [32_768, -32_769], WHOLE),
  column('smallint', number, [5], [1.5, 1e21], WHOLE),
  column('integer', decimal(2), [5, -7], [5.5, 2 ** 31], WHOLE),
  column('bigint', duration, [1500], [1.5], WHOLE),
  column('oid', long64, [0, 4_294_967_295], [-1, 4_294_967_296], WHOLE),
  column('oid', string, ['4294967295'], ['-1', '4294967296', '010'], WHOLE),
  column('xid', string, ['4294967295'], ['-1', '4294967296', 'no', '0x10'], WHOLE),
  column('xid8', string, ['18446744073709551615'], ['18446744073709551616', '-1', '1.5'], WHOLE),
  column('numeric(5,2)', number, [1.25, -999.99], [1.255, 1e-7], /at most 2 digits after the point/),
  column('numeric(5,2)', decimal(4), [1.25], [1.255], /at most 2 digits after the point/),
  column(
    'numeric(5,2)',
    string,
    ['1.25', ['1.5', '1.50'], ['12.500e-1', '1.25'], 'NaN'],
    ['1.255', '1e-3'],
    /at most 2/,
  ),
  column('numeric(5,2)', long64, [7, -999], [1000]),
  column('numeric(3,-2)', { type: 'long' }, [99_900], [150], /a multiple of 100/),
  column('numeric', string, ['0.12345678901234567890123'], []),
  column('real', number, [0.1, 1e30, -0.5], [0.123456789, 16_777_217], /such as (0.12345679|16777216)/),
  column('real', number, [3.4028235e38], [1e39]),
  column('real', string, ['0.1', 'NaN', ['1.50', '1.5']], ['0.123456789'], /such as 0.12345679/),
  column('double precision', string, ['0.1', '1e-300'], ['0.12345678901234567890'], /such as 0.1234567890123456/),
  column('money', decimal(3), [1234.5, -0.01], [12.345], /at most 2 digits after the point/),
  column('money', string, [['12.34', '$12.34'], '$1,234.50'], ['12.345', '1,234'], /at most 2 digits after the point/),
  column('varchar(3)', string, ['ab ', '😀😀😀'], ['abc ', 'abcd'], /at most 3 characters/),
  column('char(3)', string, ['ab', ' a'], ['ab ', 'abc ', ' '], BLANKS),
  column('char(3)', string, [], ['abcd'], /at most 3 characters/),
  column('bpchar', string, ['abc'], ['abc '], BLANKS),
  column('name', string, ['x'.repeat(63)], ['x'.repeat(64), 'é'.repeat(32)], /at most 63 bytes/),
  column('"char"', string, ['x', ''], ['xy', 'é'], /one ASCII character/),
  column('varchar(36)', { type: 'uuid' }, ['A0EEBC999C0B4EF8BB6D6BB9BD380A11'], []),
  column('bit(3)', string, ['101'], ['1010', '10']),
  column('varbit(3)', string, ['1'], ['1010']),
  column('mood', string, ['happy'], ['sad']),
  column('short', string, ['ab'], ['ab  '], /at most 3 characters/),
  column('date', date, ['2020-01-31T00:00:00.000Z'], ['2020-01-31T08:30:00.000Z'], /without a time/),
  column(
    'date',
    string,
    ['2020-01-31', 'infinity', '0044-03-15 BC'],
    ['2020-01-31 08:30', 'today'],
    /such as 2020-01-31/,
  ),
  column('timestamp(0)', date, ['2020-01-31T08:30:00.000Z'], ['2020-01-31T08:30:00.600Z'], /whole number of seconds/),
  column('timestamptz(2)', date, ['2020-01-31T08:30:00.120Z'], ['2020-01-31T08:30:00.125Z'], /of 10 milliseconds/),
  column('timestamp', string, ['2020-01-31 08:30:00.123456'], ['2020-01-31 08:30:00.1234567'], /at most 6 digits/),
  column('timestamp', string, ['-infinity'], ['2020-01-31 08:30:00+02', 'now'], /such as 2020-01-31 08:30/),
  column('timestamptz', string, [['2020-01-31 08:30:00+02', '2020-01-31 06:30:00+00']], ['tomorrow'], /such as/),
  column('time', duration, [1500], [1.5], /whole number of milliseconds/),
  column('time(0)', duration, [2000], [1500], /whole number of seconds/),
  column('time', string, ['08:30:00.123456'], ['08:30:00.1234567'], /at most 6 digits/),
  column('time', string, ['08:30:00'], ['08:30:00+02', '2020-01-31 08:30:00'], /such as 08:30:00/),
  column('timetz(1)', string, ['08:30:00.5+02'], ['08:30:00.55+02'], /at most 1 digit/),
  column('interval', duration, [90_061_001, -1500], [1.5], /whole number of milliseconds/),
  column('interval(0)', duration, [2000], [1500], /whole number of seconds/),
  column('interval day', duration, [3 * DAY, -DAY], [3_600_000], /whole number of days/),
  column('interval day to hour', duration, [30 * 3_600_000], [90_000], /whole number of hours/),
  column('interval hour to minute', duration, [90 * 60_000], [90_500], /whole number of minutes/),
  column('interval year to month', duration, [0], [DAY], /0, since the column keeps years or months alone/),
  column(
    'interval',
    string,
    ['1 mon 2 days 03:04:05.000006', ['P1M', '1 mon']],
    ['1.1234567 seconds'],
    /at most 6 digits/,
  ),
  column(
    'interval day to minute',
    string,
    ['1 day 02:03:00'],
    ['1 day 02:03:04', '90 seconds'],
    /smaller than a minute/,
  ),
  column('interval year to month', string, ['1 year 2 mons'], ['1 year 2 days', '1 day'], /smaller than a month/),
  column('interval year', string, ['2 years'], ['1 year 2 mons'], /smaller than a year/),
  column(
    'text[]',
    object,
    [['a', null, '1'], [['a'], ['b']], []],
    [['a', 1], [true], [{ a: 1 }], [['a'], [2]]],
    /a text as each element/,
  ),
  column('varchar(3)[]', object, [['abc']], [[1], ['abcd']], /as each element/),
  column('real[]', object, [[0.1, null]], [[0.1, 0.123456789]], /as each element/),
  column('numeric(4,1)[]', object, [[[1.5], [2]]], [[[1.5], [2.25]]], /at most 1 digit/),
  column('varchar(2)[]', object, [['ab']], [['ab ']], /at most 2 characters/),
  column('oid[]', object, [[1]], [[-1]], WHOLE),
  column('hstore', object, [{ a: '1', b: null }, {}], [{ a: 1 }, { a: { b: '1' } }], /values are texts or null/),
  column('timestamp(0)[]', object, [['2020-01-31T08:30:00']], [['2020-01-31T08:30:00.5']], /at most 0 digits/),
]

const SQL = `
CREATE EXTENSION hstore;
CREATE TYPE mood AS ENUM ('happy');
CREATE DOMAIN short AS varchar(3);
CREATE TABLE of_parts (a numeric(4,1), b text, PRIMARY KEY (a, b));
${COLUMNS.map(({ sql }, i) => `CREATE TABLE t${i} (id int PRIMARY KEY, v ${sql});`).join('\n')}`

const of = (table: string, attributes: object) => ({ storage: { postgres: 'db', table }, key: 'id', attributes })
const model = {
  name: 'lossless',
  dataClasses: {
    OfParts: of('of_parts', { id: { type: 'string', column: ['a', 'b'] } }),
    ...Object.fromEntries(
      COLUMNS.map(({ attribute }, i) => [`T${i}`, of(`t${i}`, { id: { type: 'long' }, v: attribute })]),
    ),
  },
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  await postgres.run(SQL)
  const server = await startServer(t, { model, rows: {} }, { config: { connections: { db: { url: postgres.url } } } })

  for (const [i, { sql, attribute, kept, refused, expected }] of COLUMNS.entries()) {
    await t.test(`${attribute.type} in ${sql}`, async t => {
      for (const [id, value] of kept.entries()) {
        const [sent, shown] = attribute.type !== 'object' && Array.isArray(value) ? value : [value, value]
        const saved = await server.post(`/T${i}?$method=update`, { id, v: sent })
        t.equal(saved.status, 200, `${JSON.stringify(sent)} is saved: ${saved.text.slice(0, 300)}`)
        t.same((await server.get(`/T${i}(${id})`)).json.v, shown, `${JSON.stringify(sent)} is kept`)
      }
      for (const value of refused) {
        const answer = await server.post(`/T${i}?$method=update`, { id: 1000, v: value })
        t.equal(answer.status, 422, `${JSON.stringify(value)} is refused: ${answer.text.slice(0, 300)}`)
        if (expected) t.match(answer.json.__ERROR?.[0], { errCode: 1508, message: expected }, JSON.stringify(value))
        if (kept.length === 0) continue
        const { __STAMP } = (await server.get(`/T${i}(0)`)).json
        const changed = await server.post(`/T${i}?$method=update`, { __KEY: '0', __STAMP, v: value })
        t.equal(changed.status, 422, `a change to ${JSON.stringify(value)} is refused`)
      }
      t.equal((await server.get(`/T${i}`)).json.__COUNT, kept.length)
    })
  }

  await t.test('a part of a key', async t => {
    t.equal((await server.post('/OfParts?$method=update', { id: '1.5~x' })).json.__KEY, '1.5~x')
    const { status, json } = await server.post('/OfParts?$method=update', { id: '1.55~x' })
    t.equal(status, 422)
    t.match(json.__ERROR[0], { errCode: 1508, message: /at most 1 digit after the point as part 1/ })
  })

  await t.test('a filter beyond the values of a column finds nothing', async t => {
    const tableOf = (sql: string, type: string) =>
      COLUMNS.findIndex(each => each.sql === sql && each.attribute.type === type)
    for (const [sql, type, filter] of [
      ['oid', 'long64', 'v = -1'],
      ['oid', 'string', 'v = "-1"'],
      ['xid8', 'string', 'v = "18446744073709551616"'],
    ] as const) {
      const { json } = await server.get(`/T${tableOf(sql, type)}?$filter=${encodeURIComponent(filter)}`)
      t.equal(json.__COUNT, 0, `${filter} of ${sql}`)
    }
  })
}
