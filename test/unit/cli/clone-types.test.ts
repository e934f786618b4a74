/** Every type of each database: a value in its table, and what REST answers. */
import { join } from 'node:path'
import Sqlite from 'libsql'
import t, { type Test } from 'tap'
import { sqliteFile } from '../../support/databases/sqlite-file.ts'
import { cloneWorld } from '../../support/commands/database-clones.ts'
import { type SqlServer, startMariadb, startPostgres } from '../../support/databases/sql-servers.ts'

t.setTimeout(600_000)

/** Type, SQL of a value, attribute, JSON of the value; a regular expression: the reason why there is none. */
type TypeCase = readonly [declared: string, value: string, attribute: object | string, json: string | RegExp]

const POSTGRES: readonly TypeCase[] = [
  ['boolean', 'true', 'bool', 'true'],
  ['smallint', '-32768', 'word', '-32768'],
  ['integer', '2147483647', 'long', '2147483647'],
  ['bigint', '9223372036854775807', 'long64', '9223372036854775807'],
  ['real', '0.1', 'number', '0.1'],
  ['double precision', '1e-300', 'number', '1e-300'],
  ['double precision', "'NaN'", 'number', /NaN is not a finite number/],
  ['double precision', "'-Infinity'", 'number', /-Infinity is not a finite number/],
  ['numeric(10,2)', '12345678.5', { type: 'decimal', scale: 2 }, '12345678.50'],
  ['numeric(18,4)', '12345678901234.5678', { type: 'decimal', scale: 4, asText: true }, '"12345678901234.5678"'],
  ['numeric', '1.123456789', { type: 'decimal', scale: 9, asText: true }, '"1.123456789"'],
  ['numeric', "'NaN'", { type: 'decimal', scale: 4, asText: true }, /NaN is not a finite/],
  [
    'numeric(40,10)',
    '123456789012345678901234567890.0123456789',
    'string',
    '"123456789012345678901234567890.0123456789"',
  ],
  ['numeric(40,10)', '12.5', { type: 'decimal', scale: 1, asText: true }, '"12.5"'],
  ['money', "'12.34'", { type: 'decimal', scale: 2, asText: true }, '"12.34"'],
  ['text', "E'quote \" \\\\ é 😀 \\n'", 'string', '"quote \\" \\\\ é 😀 \\n"'],
  ['varchar(5)', "'abc'", { type: 'string', maxLength: 5 }, '"abc"'],
  ['char(5)', "'ab'", { type: 'string', maxLength: 5 }, '"ab"'],
  ['uuid', "'01234567-89ab-cdef-0123-456789abcdef'", 'uuid', '"0123456789ABCDEF0123456789ABCDEF"'],
  ['date', "'2020-01-31'", { type: 'date', simpleDate: true }, '"2020-01-31"'],
  ['date', "'0044-03-15 BC'", { type: 'date', simpleDate: true }, '"-000043-03-15"'],
  ['date', "'infinity'", { type: 'date', simpleDate: true }, /"infinity" is not a date/],
  ['timestamp', "'2020-01-31 13:23:00.123456'", 'date', '"2020-01-31T13:23:00.123Z"'],
  ['timestamptz', "'2020-01-31 13:23:00+02'", 'date', '"2020-01-31T11:23:00.000Z"'],
  ['timestamp', "'10000-01-01 00:00:00'", 'date', '"+010000-01-01T00:00:00.000Z"'],
  ['timestamp', "'294276-12-31 00:00:00'", 'date', /is not a date that can be stored/],
  ['timestamptz', "'-infinity'", 'date', /"-infinity" is not a date/],
  ['time', "'08:30:00.25'", 'duration', '30600250'],
  ['timetz', "'08:30:00+02'", 'string', '"08:30:00+02"'],
  ['interval', "'1 day 02:03:04.5'", 'duration', '93784500'],
  ['interval', "'-1 day +02:00:00'", 'duration', '-79200000'],
  ['interval', "'1 mon'", 'string', '"1 mon"'],
  ['json', `'{"b":1,"a":[null]}'`, 'object', '{"b":1,"a":[null]}'],
  ['jsonb', `'[1,2]'`, 'object', '[1,2]'],
  ['jsonb', "'null'", 'object', 'null'],
  ['jsonb', "'5'", 'object', /"5" is JSON, but not an object or an array/],
  ['integer[]', "'{{1,2},{3,NULL}}'", 'object', '[[1,2],[3,null]]'],
  ['text[]', `'{"a,b",c}'`, 'object', '["a,b","c"]'],
  ['bytea', "'\\x00ff10'", 'blob', '00ff10'],
  ['mood', "'so so'", { type: 'string', choices: ['so so', 'a|b'] }, '"so so"'],
  ['positive', '5', 'long', '5'],
  ['pair', "'(1,x)'", 'string', '"(1,x)"'],
  ['inet', "'10.0.0.1/8'", 'string', '"10.0.0.1/8"'],
  ['macaddr', "'08:00:2b:01:02:03'", 'string', '"08:00:2b:01:02:03"'],
  ['bit(3)', "B'101'", 'string', '"101"'],
  ['point', "'(1,2)'", 'string', '"(1,2)"'],
  ['int4range', "'[1,5)'", 'string', '"[1,5)"'],
  ['tsvector', "'a b'", 'string', `"'a' 'b'"`],
  ['xml', "'<a/>'", 'string', '"<a/>"'],
  ['integer GENERATED ALWAYS AS (6 * 7) STORED', 'DEFAULT', 'long', '42'],
]

const MARIADB: readonly TypeCase[] = [
  ['tinyint(1)', '1', 'bool', 'true'],
  ['tinyint(1)', '2', 'bool', /"2" is neither 0 nor 1/],
  ['tinyint', '-128', 'byte', '-128'],
  ['tinyint unsigned', '255', 'word', '255'],
  ['smallint unsigned', '65535', 'long', '65535'],
  ['mediumint', '-8388608', 'long', '-8388608'],
  ['int', '-2147483648', 'long', '-2147483648'],
  ['int unsigned', '4294967295', 'long64', '4294967295'],
  ['bigint', '-9223372036854775808', 'long64', '-9223372036854775808'],
  ['bigint unsigned', '18446744073709551615', 'long64', /whole number/],
  ['bit(1)', "b'1'", 'bool', 'true'],
  ['bit(12)', "b'101'", 'long64', '5'],
  ['year', '2026', 'word', '2026'],
  ['float', '0.5', 'number', '0.5'],
  ['double', '0.1', 'number', '0.1'],
  ['decimal(10,2)', '12.5', { type: 'decimal', scale: 2 }, '12.50'],
  ['decimal(65,30)', '1.5', { type: 'decimal', scale: 1, asText: true }, '"1.5"'],
  ['decimal(65,0)', '12345678901234567890123', 'string', '"12345678901234567890123"'],
  ['char(5)', "'ab'", { type: 'string', maxLength: 5 }, '"ab"'],
  ['varchar(20) CHARACTER SET latin1', "'Été'", { type: 'string', maxLength: 20 }, '"Été"'],
  ['varchar(20)', "'a\\0b😀'", { type: 'string', maxLength: 20 }, '"a\\u0000b😀"'],
  ['tinytext', "'x'", 'string', '"x"'],
  ['longtext', "'x'", 'string', '"x"'],
  ["enum('a','b''c')", "'b''c'", { type: 'string', choices: ['a', "b'c"] }, '"b\'c"'],
  ["set('a','b')", "'a,b'", 'string', '"a,b"'],
  ['json', `'{"a": 1}'`, 'object', '{"a":1}'],
  ['uuid', "'123e4567-e89b-12d3-a456-426655440000'", 'uuid', '"123E4567E89B12D3A456426655440000"'],
  ['binary(16)', "X'0123456789abcdef0123456789abcdef'", 'uuid', '"0123456789ABCDEF0123456789ABCDEF"'],
  ['binary(3)', "X'00ff10'", 'blob', '00ff10'],
  ['varbinary(9)', "X'00ff'", 'blob', '00ff'],
  ['longblob', "X'fe'", 'blob', 'fe'],
  ['inet6', "'::1'", 'string', '"::1"'],
  ['date', "'2020-01-31'", { type: 'date', simpleDate: true }, '"2020-01-31"'],
  ['date', "'0000-00-00'", { type: 'date', simpleDate: true }, /"0000-00-00" is not a date/],
  ['date', "'2020-02-00'", { type: 'date', simpleDate: true }, /"2020-02-00" is not a date/],
  ['datetime(6)', "'2020-01-31 13:23:00.123456'", 'date', '"2020-01-31T13:23:00.123Z"'],
  ['timestamp NULL', "'2020-01-31 13:23:00'", 'date', '"2020-01-31T13:23:00.000Z"'],
  ['time', "'-838:59:59'", 'duration', '-3020399000'],
  ['point', 'POINT(1,2)', 'string', '"POINT(1 2)"'],
  ['int AS (6 * 7) STORED', 'DEFAULT', 'long', '42'],
]

const SQLITE: readonly TypeCase[] = [
  ['INTEGER', '9223372036854775807', 'long64', '9223372036854775807'],
  ['INT', "'many'", 'long64', /"many" is text, not a number/],
  ['INT', '1.5', 'long64', /whole number/],
  ['BOOLEAN', '0', 'bool', 'false'],
  ['BOOLEAN', "'true'", 'bool', 'true'],
  ['REAL', '0.1', 'number', '0.1'],
  ['REAL', '9e999', 'number', /Infinity is not a finite number/],
  ['DECIMAL(10,2)', '12.5', 'number', '12.5'],
  ['NUMERIC', '9007199254740993', 'number', /more digits than a number/],
  ['VARCHAR(2)', "'longer'", 'string', '"longer"'],
  ['', '5', 'string', '"5"'],
  ['', "x'00'", 'string', /bytes \(1 of them\) are not a string/],
  ['BLOB', "x'00ff10'", 'blob', '00ff10'],
  ['BLOB', "'text'", 'blob', /is a text, not bytes/],
  ['DATE', "'2020-01-31'", { type: 'date', simpleDate: true }, '"2020-01-31"'],
  ['DATE', "'2020-01-31 00:00:00'", { type: 'date', simpleDate: true }, '"2020-01-31"'],
  ['DATE', "'2020-01-31T00:00:00.000Z'", { type: 'date', simpleDate: true }, '"2020-01-31"'],
  ['DATE', "'2020-01-31 13:23:00'", 'date', '"2020-01-31T13:23:00.000Z"'],
  ['DATE', "'2020-01-31 00:00:00+02:00'", 'date', '"2020-01-30T22:00:00.000Z"'],
  ['DATE', "'some time, 10:30'", { type: 'date', simpleDate: true }, /"some time, 10:30" is not a date/],
  ['DATE', "'2020-01-31 25:61'", 'date', /"2020-01-31 25:61" is not a date that can be stored/],
  ['DATE', "'-0044-03-15'", { type: 'date', simpleDate: true }, /"-0044-03-15" is not a date/],
  ['DATETIME', "'2020-01-31 13:23:00.5+02:00'", 'date', '"2020-01-31T11:23:00.500Z"'],
  ['DATETIME', '1580477000', 'date', /1580477000 is a number, not the text of a date/],
  ['TIME', "'08:30'", 'duration', '30600000'],
  ['TIME', "'25:61'", 'duration', /"25:61" is not a time/],
  ['TIME', "'08:30:75'", 'duration', /"08:30:75" is not a time/],
  ['TIME', '30600', 'duration', /30600 is a number, not the text of a time; a "number" in the model keeps it/],
  ['TIME', '1.5', 'duration', /1.5 is a number, not the text of a time/],
  ['TIME_MS', '30600', 'duration', '30600'],
  ['TIME_MS', '1500.1234', 'duration', '1500.1234'],
  ['TIME', "'838:59:59'", 'duration', '3020399000'],
  ['JSON', `'{"a":[1]}'`, 'object', '{"a":[1]}'],
  ['UUID', "'01234567-89ab-cdef-0123-456789abcdef'", 'uuid', '"0123456789ABCDEF0123456789ABCDEF"'],
  ['INT AS (6 * 7) STORED', '', 'long64', '42'],
]

const PREPARE = `CREATE TYPE mood AS ENUM ('so so', 'a|b');
CREATE DOMAIN whole AS integer; CREATE DOMAIN positive AS whole CHECK (VALUE > 0); CREATE TYPE pair AS (a int, b text)`

/** A table for each case, with a row that has the value and one that has none. */
function statements(cases: readonly TypeCase[]): string {
  return cases
    .map(([declared, value], i) => {
      const isGenerated = declared.includes(' AS (')
      const row = isGenerated ? `(id) VALUES (1)` : `(id, v) VALUES (1, ${value}), (2, NULL)`
      return `CREATE TABLE t${i} (id integer PRIMARY KEY, v ${declared}); INSERT INTO t${i} ${row}`
    })
    .join(';\n')
}

async function testTypes(t: Test, source: string, cases: readonly TypeCase[], world = cloneWorld(t)): Promise<void> {
  const { isComplete } = await world.clone(source)
  t.equal(isComplete, false, 'some values are refused')
  const { dataClasses } = world.model()
  const rejected = world.rejected()
  const get = await world.serve()
  for (const [i, [declared, value, attribute, json]] of cases.entries()) {
    const name = `${declared} ${value}`.trim()
    const found = dataClasses[`t${i}`].attributes.v
    t.same(found, typeof attribute === 'string' ? { type: attribute } : attribute, `attribute of ${name}`)
    if (json instanceof RegExp) {
      t.match(rejected[`t${i}`]?.[0]?.errors.join(), json, `reason for ${name}`)
      continue
    }
    t.equal(rejected[`t${i}`], undefined, `${name} is saved`)
    if (found.type === 'blob') {
      const [row] = JSON.parse((await get(`t${i}?$asArray=true&$filter="id=1"`)).toString())
      const address = row.v.__deferred.uri.replace(/^.*\/rest\//, '')
      t.equal((await get(address)).toString('hex'), json, name)
    } else t.match((await get(`t${i}(1)?$attributes=v`)).toString(), `"v":${json}`, name)
  }
}

t.test('SQLite', async t => {
  const world = cloneWorld(t)
  const path = join(world.cwd, 'types.sqlite')
  const database = new Sqlite(path)
  database.exec(statements(SQLITE))
  database.close()
  await testTypes(t, path, SQLITE, world)
})

t.test('SQLite, a text with a NUL character', async t => {
  const world = cloneWorld(t)
  const path = sqliteFile(
    join(world.cwd, 'nul.sqlite'),
    "CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO a VALUES (1, 'a' || char(0) || '😀')",
  )
  if (process.getBuiltinModule?.('node:sqlite' as 'node:fs')) {
    t.ok((await world.clone(path)).isComplete)
    t.match((await (await world.serve())('a(1)')).toString(), '"v":"a\\u0000😀"')
  } else await t.rejects(world.clone(path), { message: /NUL character.*use Node\.js 22\.13 or later/ })
})

const servers = [
  ['PostgreSQL', startPostgres, POSTGRES, PREPARE],
  ['MariaDB', startMariadb, MARIADB, "SET sql_mode = ''"],
] as const
for (const [name, start, cases, prepare] of servers) {
  t.test(name, async t => {
    const server: SqlServer | string = await start()
    if (typeof server === 'string') {
      t.comment(`skipped: ${server}`)
      return
    }
    t.teardown(() => server.stop())
    await server.run(`${prepare};\n${statements(cases)}`)
    await testTypes(t, server.url, cases)
  })
}
