/**
 * A table with columns of all types that attributes can have, and values at the edges of both; with filters at these edges.
 */

/** A column of the table, with operands for its attribute. */
interface Column {
  /** Attribute of the model. */
  readonly attribute: { readonly type: string; readonly [option: string]: unknown }
  /** Type in the database. */
  readonly type: string
  /** SQL of values; NULL is always one more. */
  readonly values: readonly string[]
  /** JSON values of operands. */
  readonly operands: readonly unknown[]
  /** Operands for all comparators but these. */
  readonly gaps?: readonly string[]
  /** Comparators besides `=`, `!=`, `<`, `<=`, `>`, `>=` and `in`. */
  readonly more?: readonly string[]
}

const INTEGERS = ['-1', '0', '1', '2', '5', '127', '-128']
const INTEGER_OPERANDS = [-1, 0, 1, 1.5, -0.5, 5, '0.0000001', '1e400', '-1e400', 128, 32768, '2147483648']
const BIG_OPERANDS = [
  '9007199254740993',
  '9007199254740992',
  '9007199254740993.5',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1e30',
  '-1e30',
]
const DOUBLES = ['0', '-0', '0.1', '-0.1', '1', '0.30000000000000004', '1e300', '-1e300', '5e-324', '123456789.125']
const DOUBLE_OPERANDS = [0, 0.1, 0.2, -0.1, 1, 0.30000000000000004, 1e300, -1e300, 5e-324, 1e308, -1e308, '1e-7', 1e21]
const SPECIAL = ["'NaN'", "'Infinity'", "'-Infinity'"]
const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'Ab c',
  'abc',
  'Émile',
  'emile',
  'ÉMILE',
  'straße',
  'strasse',
  '100%',
  '100_',
  'a\\b',
  'a_b',
  "it's",
  '"quoted"',
  '😀',
  'x😀y',
  '\ue000',
  'ｆｕｌｌ',
  '\u{10ffff}',
  '\u{10fffe}x',
  'ΟΔΟΣ',
  'οδος ΟΔΟΣΑ',
  'e\u0301',
  '\u0301',
  'İstanbul',
  'word another-word',
  'a@b',
  '12 34',
  '漢字 かな',
  '  padded  ',
  'tab\tline\n',
  '$1',
  "'; DROP TABLE thing; --",
]
const TEXT_OPERANDS = [
  '',
  'a',
  'ab@',
  '@b',
  'a@b',
  '@',
  'a@b@c',
  'ab@b',
  'EMILE',
  'emi@',
  '100%',
  '100_',
  '@%@',
  '@_@',
  '@\\@',
  'a\\b',
  "it's",
  '😀',
  '@😀@',
  'x\u{1f600}@',
  '\ue000',
  '\uffff',
  '\u{10ffff}',
  '\u{10fffe}@',
  'ｆｕｌｌ',
  'ﾯ',
  'οδοσ',
  'οδος@',
  '\u0301',
  'i',
  'word',
  'wor@',
  '@ther',
  'another word',
  '12',
  'かな',
  'tab',
  'a\0b@',
  '$1',
  '\u{10ffff}@',
]
/** Texts that no database holds, which lie between others. */
const GAPS = ['a\0', 'A\0b', '\0', '\ud83d', '\ud83d\uffff', '\ud83dx', 'x\udc00', '\udbff\ue000', '\ud800', '\udbff']
const quote = (text: string): string => `E'${text.replace(/[\\']/g, '\\$&')}'`
const TEXT = { values: TEXTS.map(quote), operands: TEXT_OPERANDS, gaps: GAPS, more: ['==', '!==', 'begin', '%'] }
const DATES = ["'2020-01-31'", "'1969-12-31'", "'1970-01-01'", "'0044-03-15 BC'", "'9999-12-31'", "'0099-01-01'"]
const MOMENTS = [
  ...DATES,
  "'2020-01-31 00:00:00.001'",
  "'2020-01-31 15:23:00.0009'",
  "'2020-01-31 15:23:00.9999'",
  "'1969-12-31 23:59:59.9999'",
  "'9999-12-31 23:59:59.999'",
  "'9999-12-31 23:59:59.999999'",
  "'4713-01-01 BC'",
  "'infinity'",
  "'-infinity'",
  "'275760-09-13'",
  "'275760-09-13 00:00:00.001'",
  "'294276-12-31'",
]
const LATE_DAYS = ["'275760-09-13'", "'275760-09-14'", "'5874897-12-31'", "'4713-11-24 BC'"]
const DATE_OPERANDS = [
  '2020-01-31',
  '2020-01-30',
  '1970-01-01',
  '1969-12-31',
  '2020-01-31T15:23:00.000Z',
  '2020-01-31T15:23:00.999Z',
  '1969-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31',
  '-000043-03-15',
  '-271821-04-20',
  '+275760-09-13',
  '-004713-11-24',
  '0099-01-01',
]
const JSON_VALUES = [
  '{}',
  '[]',
  '{"p":null}',
  '{"p":1}',
  '{"p":1.0}',
  '{"p":0.1}',
  '{"p":0.10000000000000000001}',
  '{"p":1e400}',
  '{"p":9007199254740993}',
  '{"p":"1"}',
  '{"p":"Émile"}',
  '{"p":"a_b"}',
  '{"p":"x y"}',
  '{"p":""}',
  '{"p":true}',
  '{"p":false}',
  '{"p":{"q":5}}',
  '{"p":[1,2]}',
  '{"p":[{"q":1},{"q":"z"}]}',
  '{"p":[[1]]}',
  '[{"p":1},{"p":2}]',
  '[1,"p",null]',
  '{"length":7}',
  '{"0":"zero","-1":"minus"}',
  '{"p":{"length":3,"0":"x"}}',
  'null',
  ' null ',
  '5',
  '"text"',
  'true',
]

export const COLUMNS: Readonly<Record<string, Column>> = {
  bool: { attribute: { type: 'bool' }, type: 'bool', values: ['true', 'false'], operands: [true, false] },
  byte_int2: { attribute: { type: 'byte' }, type: 'int2', values: INTEGERS, operands: INTEGER_OPERANDS },
  word_int4: { attribute: { type: 'word' }, type: 'int4', values: INTEGERS, operands: INTEGER_OPERANDS },
  long_int2: { attribute: { type: 'long' }, type: 'int2', values: INTEGERS, operands: INTEGER_OPERANDS },
  long_int4: {
    attribute: { type: 'long' },
    type: 'int4',
    values: [...INTEGERS, '2147483647', '-2147483648'],
    operands: [...INTEGER_OPERANDS, ...BIG_OPERANDS],
  },
  long_oid: { attribute: { type: 'long64' }, type: 'oid', values: ['0', '5', '4294967295'], operands: BIG_OPERANDS },
  long_numeric: {
    attribute: { type: 'long' },
    type: 'numeric',
    values: [...INTEGERS, "'NaN'", "'Infinity'", '1.5', '-0.5', '9223372036854775808', '1e30'],
    operands: INTEGER_OPERANDS,
  },
  long64_int8: {
    attribute: { type: 'long64' },
    type: 'int8',
    values: [...INTEGERS, '9223372036854775807', '-9223372036854775808', '9007199254740993', '9007199254740992'],
    operands: [...INTEGER_OPERANDS, ...BIG_OPERANDS],
  },
  long64_numeric: {
    attribute: { type: 'long64' },
    type: 'numeric(19)',
    values: [...INTEGERS, '9007199254740993', '9999999999999999999', '-9223372036854775808', '-9223372036854775809'],
    operands: [...INTEGER_OPERANDS, ...BIG_OPERANDS],
  },
  number_float8: {
    attribute: { type: 'number' },
    type: 'float8',
    values: [...DOUBLES, ...SPECIAL],
    operands: DOUBLE_OPERANDS,
  },
  float_float8: { attribute: { type: 'float' }, type: 'float8', values: DOUBLES, operands: DOUBLE_OPERANDS },
  number_float4: {
    attribute: { type: 'number' },
    type: 'float4',
    values: ['0', '-0', '0.1', '-0.1', '1', '1e38', '-1e38', '16777217', '1e-45', '0.3', '123456.7', ...SPECIAL],
    operands: [...DOUBLE_OPERANDS, 1e38, 16777216, 16777217, 3.5e38, 0.3, 0.10000000149011612, 123456.7, 1e-45],
  },
  number_numeric: {
    attribute: { type: 'number' },
    type: 'numeric',
    values: [
      '0',
      '0.1',
      '0.10',
      '0.10000000000000000001',
      '0.30000000000000004',
      '0.3000000000000000444',
      '-7',
      '9007199254740993',
      '1e300',
      '1e400',
      '-1e400',
      ...SPECIAL,
    ],
    operands: [...DOUBLE_OPERANDS, ...BIG_OPERANDS],
  },
  number_money: {
    attribute: { type: 'number' },
    type: 'numeric(10,2)',
    values: ['0.10', '-5', '12345678.91', "'NaN'"],
    operands: [0.1, 0.1 + 0.2, -5, 12345678.91, 0, '12345678.910000001'],
  },
  number_int8: {
    attribute: { type: 'number' },
    type: 'int8',
    values: [...INTEGERS, '9007199254740992'],
    operands: [...DOUBLE_OPERANDS, 9007199254740992, 1.5],
  },
  decimal_numeric: {
    attribute: { type: 'decimal', scale: 2 },
    type: 'numeric',
    values: [
      '0',
      '0.1',
      '0.10',
      '-0.01',
      '1234567890123456.78',
      '9007199254740993.01',
      '0.001',
      '1e16',
      '-1e16',
      "'NaN'",
      "'Infinity'",
    ],
    operands: [0, '0.1', '0.105', '-0.01', '-0.015', '1234567890123456.78', '9007199254740993.01', '1e400', '1e-300'],
  },
  decimal_money: {
    attribute: { type: 'decimal', scale: 2 },
    type: 'money',
    values: ["'0.1'", "'-3'", "'92233720368547758.07'", "'-10000000000000000'", "'9999999999999999.99'"],
    operands: [0.1, -3, '0.105'],
  },
  decimal_int4: {
    attribute: { type: 'decimal', scale: 2 },
    type: 'int4',
    values: INTEGERS,
    operands: [0, '0.5', 5, '-1', '1e30'],
  },
  decimal_int8: {
    attribute: { type: 'decimal', scale: 2 },
    type: 'int8',
    values: [...INTEGERS, '9223372036854775807', '9999999999999999', '10000000000000000'],
    operands: [0, '0.5', '9999999999999999', '10000000000000000', '1e30'],
  },
  decimal_few: {
    attribute: { type: 'decimal', scale: 2 },
    type: 'numeric(20,4)',
    values: ['0', '1.5', '1.5001', '9999999999999999', "'NaN'"],
    operands: [0, '1.5', '1e30'],
  },
  date_timestamptz: { attribute: { type: 'date' }, type: 'timestamptz', values: MOMENTS, operands: DATE_OPERANDS },
  date_timestamp: { attribute: { type: 'date' }, type: 'timestamp', values: MOMENTS, operands: DATE_OPERANDS },
  date_date: {
    attribute: { type: 'date' },
    type: 'date',
    values: [...DATES, "'infinity'", ...LATE_DAYS],
    operands: DATE_OPERANDS,
  },
  day_date: {
    attribute: { type: 'date', simpleDate: true },
    type: 'date',
    values: [...DATES, "'infinity'", "'-infinity'", ...LATE_DAYS],
    operands: DATE_OPERANDS,
  },
  duration_time: {
    attribute: { type: 'duration' },
    type: 'time',
    values: ["'00:00'", "'23:59:59.9999'", "'08:30:00.001'", "'24:00'"],
    operands: [0, 1, 30600001, 30600001.5, 86400000, 86399999, -1, 1e300, '08:30'],
  },
  duration_interval: {
    attribute: { type: 'duration' },
    type: 'interval',
    values: [
      "'0'",
      "'1 day'",
      "'-1 day 00:00:00.0005'",
      "'1 day -00:00:00.0005'",
      "'25:00'",
      "'-00:00:00.0005'",
      "'1 mon'",
      "'-2 years 3 days'",
      "'178000000 years'",
      "'2147483647 days'",
      "'30 days'",
    ],
    operands: [0, 1, -1, 86400000, 86399999, 90000000, 2592000000, 1e300, -1e300, 0.5],
  },
  duration_int8: { attribute: { type: 'duration' }, type: 'int8', values: INTEGERS, operands: [0, 0.5, 1e300, -1] },
  uuid: {
    attribute: { type: 'uuid' },
    type: 'uuid',
    values: [
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      "'00000000-0000-0000-0000-000000000000'",
      "'ff000000-0000-0000-0000-000000000000'",
    ],
    operands: [
      'a0eebc999c0b4ef8bb6d6bb9bd380a11',
      'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
      'a0@',
      '@11',
      'a',
      'zz',
      '',
      '00000000000000000000000000000000',
      '000000000000000000000000000000000',
      'a\0',
    ],
    more: ['begin'],
  },
  uuid_text: {
    attribute: { type: 'uuid' },
    type: 'text',
    values: ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "'00000000000000000000000000000000'", "'no'", "'a0'", "''"],
    operands: ['a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0@', '@11', 'no', 'zz', '', 'a\0'],
    more: ['begin'],
  },
  string_text: { attribute: { type: 'string' }, type: 'text', ...TEXT },
  string_collated: { attribute: { type: 'string' }, type: 'text COLLATE "und-x-icu"', ...TEXT },
  string_varchar: { attribute: { type: 'string' }, type: 'varchar(40)', ...TEXT },
  string_bpchar: { attribute: { type: 'string' }, type: 'char(40)', ...TEXT },
  string_name: { attribute: { type: 'string' }, type: 'name', ...TEXT },
  string_enum: {
    attribute: { type: 'string' },
    type: 'mood',
    values: ["'sad'", "'Ok'", "'x y'"],
    operands: ['sad', 'OK', 'o@', 'z', 'sa\0'],
    more: ['%'],
  },
  string_int4: { attribute: { type: 'string' }, type: 'int4', values: INTEGERS, operands: ['1', '01', '1@', 'x'] },
  string_uuid: {
    attribute: { type: 'string' },
    type: 'uuid',
    values: ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
    operands: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0@', 'b'],
  },
  string_inet: {
    attribute: { type: 'string' },
    type: 'inet',
    values: ["'10.0.0.1'"],
    operands: ['10.0.0.1/32', '10@'],
  },
}

/** Model and table with a key and a column of each kind, of as many rows as the longest list of values. */
const attributes = Object.fromEntries(Object.entries(COLUMNS).map(([name, { attribute }]) => [name, attribute]))
export const MODEL = {
  name: 'columns',
  dataClasses: {
    Thing: {
      storage: { postgres: 'db', table: 'thing' },
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        ...attributes,
        json: { type: 'object', properties: { p: { type: 'number', indexed: true } } },
        jsonb: { type: 'object' },
        array: { type: 'object' },
        bytes: { type: 'blob' },
        vector: { type: 'vector', dimension: 2 },
        vector8: { type: 'vector', dimension: 2 },
      },
    },
  },
}
const OTHERS: Readonly<Record<string, { type: string; values: readonly string[] }>> = {
  json: { type: 'json', values: [...JSON_VALUES, '"a\\u0000"'].map(each => `'${each}'`) },
  jsonb: { type: 'jsonb', values: JSON_VALUES.map(each => `'${each}'`) },
  array: { type: 'text[]', values: ["'{}'", "'{a,B,NULL}'", '\'{"x y",é}\''] },
  bytes: { type: 'bytea', values: ["''", "'\\x00'"] },
  vector: { type: 'float4[]', values: ["'{0.1,0.2}'", "'{1}'", "'{1,NULL}'", "'{{1},{2}}'", "'{NaN,1}'", "'{}'"] },
  vector8: { type: 'float8[]', values: ["'{0.1,1e300}'", "'{0,1e-40}'", "'{1e-60,1}'", "'{Infinity,1}'", "'{1,2}'"] },
}
export const columns = { ...COLUMNS, ...OTHERS }
const rowCount = 1 + Math.max(...Object.values(columns).map(({ values }) => values.length))
const names = Object.keys(columns)
export const SQL = `
CREATE TYPE mood AS ENUM ('sad', 'Ok', 'x y');
CREATE TABLE thing ("ID" int PRIMARY KEY, ${names.map(name => `"${name}" ${columns[name]!.type}`).join(', ')});
${Array.from({ length: rowCount }, (_, row) => {
  // Later rows have values out of order, so that the order of keys is not that of values.
  const value = (name: string): string => columns[name]!.values[(row * 7) % rowCount] ?? 'NULL'
  return `INSERT INTO thing VALUES (${row + 1}, ${names.map(value).join(', ')});`
}).join('\n')}`

/** Filters of a column, with the values of their placeholders. */
function* filtersOf(name: string, { operands, gaps = [], more = [] }: Column): Generator<readonly [string, unknown[]]> {
  for (const filter of [`${name} = null`, `${name} != null`, `not(${name} = null)`]) yield [filter, []]
  for (const operand of operands) {
    for (const comparator of ['=', '!=', '<', '<=', '>', '>=', ...more]) yield [`${name} ${comparator} :1`, [operand]]
    yield [`not(${name} = :1)`, [operand]]
    yield [`not(${name} > :1)`, [operand]]
  }
  for (const operand of gaps) {
    for (const comparator of ['=', '!=', '<', '<=', '>', '>=']) yield [`${name} ${comparator} :1`, [operand]]
  }
  for (const operand of [...gaps, ...operands].slice(1)) yield [`${name} in :1`, [[operand, operands[0]]]]
  yield [`${name} in :1`, [operands]]
  yield [`not(${name} in :1)`, [operands]]
  yield [`${name} in :1`, [[]]]
  yield [`${name} >= :1 and ${name} < :2`, [operands[0], operands[1] ?? operands[0]]]
}

const JSON_OPERANDS = [
  1,
  0.1,
  0,
  5,
  '1',
  'emile',
  'A_B',
  'a@',
  '',
  true,
  false,
  'x',
  '9007199254740992',
  'a\0',
  1e300,
  2,
  3,
]
const JSON_PATHS = [
  'p',
  'p.q',
  'p.0.q',
  'p.1',
  'p.01',
  'p.q.r.s.t',
  'p.length.length',
  'p.length',
  'length',
  'p.0',
  '0',
  '-1',
  'p[]',
  'p[].q',
  '[]',
  '[].p',
  'p[].0',
  'no.such',
]

function* jsonFilters(name: string): Generator<readonly [string, unknown[]]> {
  for (const path of JSON_PATHS) {
    const full = path.startsWith('[') ? `${name}${path}` : `${name}.${path}`
    for (const each of [
      `${name} = null`,
      `not(${name} = null)`,
      `${full} = null`,
      `${full} != null`,
      `not(${full} = null)`,
      `not(${full} != null)`,
    ])
      yield [each, []]
    for (const operand of JSON_OPERANDS) {
      for (const comparator of ['=', '!=', '<', '<=', '>', '>=', '===']) yield [`${full} ${comparator} :1`, [operand]]
      yield [`not(${full} = :1)`, [operand]]
      yield [`not(${full} < :1)`, [operand]]
      yield [`${full} % :1`, [String(operand)]]
    }
    yield [`${full} in :1`, [JSON_OPERANDS]]
    yield [`not(${full} in :1)`, [JSON_OPERANDS]]
  }
}

/** Filters of each column. */
export const ALL_FILTERS: Readonly<Record<string, () => Iterable<readonly [string, unknown[]]>>> = {
  ...Object.fromEntries(Object.entries(COLUMNS).map(([name, column]) => [name, () => filtersOf(name, column)])),
  json: () => jsonFilters('json'),
  jsonb: () => jsonFilters('jsonb'),
  array: () => jsonFilters('array'),
  bytes: () => ['bytes = null', 'bytes != null', 'not(bytes = null)'].map(each => [each, []] as const),
  vector: () => ['vector = null', 'vector != null', 'not(vector = null)'].map(each => [each, []] as const),
  vector8: () => ['vector8 = null', 'vector8 != null', 'not(vector8 = null)'].map(each => [each, []] as const),
}
