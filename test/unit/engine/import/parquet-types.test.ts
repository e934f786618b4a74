import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t from 'tap'
import { parsers } from '../../../../engine/import/parquet-kinds.ts'
import { type GuessedFile, guessTable, loadGuessed, typesOf } from '../../../support/commands/guessed-class.ts'

/** The attributes and values that types of Parquet become. */

interface Case {
  readonly name: string
  /** Elements of the schema; the first one is the column. */
  readonly schema: readonly object[]
  readonly data: readonly unknown[]
  readonly type: string
  readonly values: readonly unknown[]
  readonly loss?: RegExp
  /** Lines of rows that are not loaded, with the reason. */
  readonly rejected?: Readonly<Record<number, RegExp>>
}

/** A column without children. */
const leaf = (
  name: string,
  element: object,
  data: readonly unknown[],
  type: string,
  values: readonly unknown[],
  more: Partial<Case> = {},
): Case => ({ name, schema: [{ repetition_type: 'OPTIONAL', ...element }], data, type, values, ...more })

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const text = (value: string): Uint8Array => new TextEncoder().encode(value)
function interval(months: number, days: number, ms: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(12))
  for (const [i, part] of [months, days, ms].entries()) view.setUint32(i * 4, part, true)
  return new Uint8Array(view.buffer)
}

const integer = (bitWidth: number, isSigned: boolean): object => ({
  type: bitWidth === 64 ? 'INT64' : 'INT32',
  logical_type: { type: 'INTEGER', bitWidth, isSigned },
})
const time = (type: string, unit: string): object => ({
  type: unit === 'MILLIS' && type === 'TIME' ? 'INT32' : 'INT64',
  logical_type: { type, isAdjustedToUTC: true, unit },
})
const decimal = (element: object, precision: number, scale: number): object => ({
  ...element,
  converted_type: 'DECIMAL',
  logical_type: { type: 'DECIMAL', precision, scale },
  precision,
  scale,
})
const FIXED_16 = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 }
const STRING = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }

const list = (element: object): object[] => [
  { repetition_type: 'OPTIONAL', converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', ...element },
]
const map = (key: object, value: object): object[] => [
  { repetition_type: 'OPTIONAL', converted_type: 'MAP', logical_type: { type: 'MAP' }, num_children: 1 },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  { name: 'key', repetition_type: 'REQUIRED', ...key },
  { name: 'value', repetition_type: 'OPTIONAL', ...value },
]
const struct = (...members: object[]): object[] => [
  { repetition_type: 'OPTIONAL', num_children: members.length },
  ...members.map(member => ({ repetition_type: 'OPTIONAL', ...member })),
]
const MICROS = 1_735_133_400_123_456n

const CASES: readonly Case[] = [
  leaf('BOOLEAN', { type: 'BOOLEAN' }, [true, false, null], 'bool', [true, false, null]),
  leaf('INT32', { type: 'INT32' }, [1, -(2 ** 31)], 'long', [1, -(2 ** 31)]),
  leaf('INT_8', { type: 'INT32', converted_type: 'INT_8' }, [-128], 'long', [-128]),
  leaf('UINT_8', { type: 'INT32', converted_type: 'UINT_8' }, [255], 'long', [255]),
  leaf('UINT_16', integer(16, false), [65_535], 'long', [65_535]),
  leaf('UINT_32', integer(32, false), [4_294_967_295, 1], 'long64', [4_294_967_295, 1]),
  leaf('INT64', { type: 'INT64' }, [9007199254740993n, -1n], 'long64', [9007199254740993n, -1]),
  leaf('INTEGER(64)', integer(64, true), [-(2n ** 63n)], 'long64', [-(2n ** 63n)]),
  leaf('UINT_64 that fits', integer(64, false), [2n ** 63n - 1n], 'long64', [2n ** 63n - 1n]),
  leaf('UINT_64', integer(64, false), [2n ** 64n - 1n, 7n], 'string', ['18446744073709551615', '7'], {
    loss: /kept as texts, as 18446744073709551615/,
  }),
  leaf('FLOAT', { type: 'FLOAT' }, [0.5, Number.NaN], 'number', [0.5, null]),
  leaf('DOUBLE', { type: 'DOUBLE' }, [0.1, Number.NaN, Number.POSITIVE_INFINITY], 'number', [0.1, null], {
    rejected: { 4: /finite number/ },
  }),
  leaf(
    'FLOAT16',
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } },
    [1.5, -2],
    'number',
    [1.5, -2],
  ),
  // Decimals
  leaf('DECIMAL in 32 bits', decimal({ type: 'INT32' }, 9, 2), [1257n, -5n], 'decimal(2)', [12.57, -0.05]),
  leaf('DECIMAL in 64 bits', decimal({ type: 'INT64' }, 18, 6), [123456789012345678n], 'decimal(6)', [
    '123456789012.345678',
  ]),
  leaf('DECIMAL of 38 digits', decimal(FIXED_16, 38, 10), [-(10n ** 37n + 1n)], 'string', [
    '-1000000000000000000000000000.0000000001',
  ]),
  leaf('DECIMAL of 38 digits with few', decimal(FIXED_16, 38, 2), [1257n, -1n], 'decimal(2)', [12.57, -0.01]),
  leaf('DECIMAL of 38 places', decimal(FIXED_16, 38, 38), [1n], 'string', [`0.${'0'.repeat(37)}1`]),
  // Dates and times
  leaf('DATE', { type: 'INT32', converted_type: 'DATE' }, [20_082, -1], 'day', ['2024-12-25', '1969-12-31']),
  leaf('DATE after all dates', { type: 'INT32', converted_type: 'DATE' }, [2 ** 31 - 1, 0], 'string', [
    '2147483647 days since 1970',
    '1970-01-01',
  ]),
  leaf('TIME in milliseconds', time('TIME', 'MILLIS'), [30_600_250], 'duration', [30_600_250]),
  leaf('TIME_MILLIS', { type: 'INT32', converted_type: 'TIME_MILLIS' }, [1], 'duration', [1]),
  leaf(
    'TIME_MICROS',
    { type: 'INT64', converted_type: 'TIME_MICROS' },
    [86_399_999_999n],
    'duration',
    [86_399_999.999],
  ),
  leaf(
    'TIME in nanoseconds',
    time('TIME', 'NANOS'),
    [86_399_999_999_999n, 1n],
    'duration',
    [86_399_999.999_999, 0.000_001],
  ),
  leaf('TIMESTAMP in milliseconds', time('TIMESTAMP', 'MILLIS'), [MICROS / 1000n, -1n], 'date', [
    '2024-12-25T13:30:00.123Z',
    '1969-12-31T23:59:59.999Z',
  ]),
  leaf(
    'TIMESTAMP in microseconds',
    time('TIMESTAMP', 'MICROS'),
    [MICROS, -1n],
    'date',
    ['2024-12-25T13:30:00.123Z', '1969-12-31T23:59:59.999Z'],
    { loss: /three places, not as many as 2024-12-25T13:30:00\.123456Z/ },
  ),
  leaf(
    'TIMESTAMP in nanoseconds',
    time('TIMESTAMP', 'NANOS'),
    [MICROS * 1000n + 7n],
    'date',
    ['2024-12-25T13:30:00.123Z'],
    { loss: /not as many as 2024-12-25T13:30:00\.123456007Z/ },
  ),
  leaf('TIMESTAMP after all dates', time('TIMESTAMP', 'MILLIS'), [2n ** 63n - 1n], 'string', [
    '9223372036854776000 milliseconds since 1970',
  ]),
  leaf(
    'INTERVAL',
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, converted_type: 'INTERVAL' },
    [interval(14, 3, 1500), interval(0, 0, 0), interval(0, 1, 0)],
    'string',
    ['P14M3DT1.5S', 'PT0S', 'P1D'],
  ),
  // Texts and bytes
  leaf('STRING', STRING, ['007', '', null, 'NaN'], 'string', ['007', '', null, 'NaN']),
  leaf('STRING that is not UTF-8', STRING, ['a', bytes(0xff), 'c'], 'string', ['a', 'c'], {
    rejected: { 3: /column "v": it has bytes that are not UTF-8/ },
  }),
  leaf('ENUM', { type: 'BYTE_ARRAY', converted_type: 'ENUM' }, [text('NO')], 'string', ['NO']),
  leaf('JSON', { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } }, [text('{"a":[1]}')], 'object', [{ a: [1] }]),
  leaf(
    'JSON with long integers',
    { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
    [text('{"a":9007199254740993}')],
    'object',
    [{ a: 9007199254740992n }],
    { loss: /fewer digits than 9007199254740993/ },
  ),
  leaf(
    'JSON of other kinds',
    { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
    [text('9007199254740993'), text('{"a":9007199254740993}'), text('"x"')],
    'string',
    ['9007199254740993', '{"a":9007199254740993}', '"x"'],
    { loss: /values other than texts are kept as texts/ },
  ),
  leaf('BSON', { type: 'BYTE_ARRAY', converted_type: 'BSON' }, [bytes(5, 0, 0, 0, 0)], 'blob', ['(deferred)']),
  leaf(
    'UUID',
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
    ['01234567-89ab-cdef-0123-456789abcdef'],
    'uuid',
    ['0123456789ABCDEF0123456789ABCDEF'],
  ),
  // Nested values
  {
    name: 'LIST of INT64',
    schema: list({ type: 'INT64' }),
    data: [[1n, null, -2n], [], null, [9007199254740993n]],
    type: 'object',
    values: [[1, null, -2], [], null, [9007199254740992n]],
    loss: /fewer digits than 9007199254740993/,
  },
  { name: 'LIST of STRING', schema: list(STRING), data: [['é', '1']], type: 'object', values: [['é', '1']] },
  {
    name: 'LIST of DECIMAL',
    schema: list(decimal({ type: 'INT32' }, 9, 2)),
    data: [[1257n]],
    type: 'object',
    values: [[12.57]],
  },
  { name: 'LIST of UINT_64', schema: list(integer(64, false)), data: [[7n]], type: 'object', values: [[7]] },
  {
    name: 'LIST of TIMESTAMP',
    schema: list(time('TIMESTAMP', 'MILLIS')),
    data: [[0n]],
    type: 'object',
    values: [['1970-01-01T00:00:00.000Z']],
  },
  {
    name: 'LIST of bytes',
    schema: list({ type: 'BYTE_ARRAY' }),
    data: [[bytes(1, 255)]],
    type: 'object',
    values: [['Af8=']],
  },
  {
    name: 'LIST of DOUBLE that are no numbers of JSON',
    schema: list({ type: 'DOUBLE' }),
    data: [[1, Number.NaN, Number.POSITIVE_INFINITY]],
    type: 'object',
    values: [[1, null, 'Infinity']],
  },
  {
    name: 'LIST of FLOAT of one length',
    schema: list({ type: 'FLOAT' }),
    data: [[1, 2, 3, 4, 5, 6, 7, 0.5], null],
    type: 'vector(8)',
    values: [[1, 2, 3, 4, 5, 6, 7, 0.5], null],
  },
  {
    name: 'LIST of DOUBLE of one length',
    schema: list({ type: 'DOUBLE' }),
    data: [[1, 2, 3, 4, 5, 6, 7, 0.123456789]],
    type: 'vector(8)',
    values: [[1, 2, 3, 4, 5, 6, 7, 0.12345679]],
    loss: /numbers of vectors have 32 bits, fewer than 0\.123456789/,
  },
  {
    name: 'LIST of INT64, of one length',
    schema: list({ type: 'INT64' }),
    data: [[1n, 2n, 3n, 4n, 5n, 6n, 7n, 2n ** 53n + 1n], null],
    type: 'object',
    values: [[1, 2, 3, 4, 5, 6, 7, 9007199254740992n], null],
    loss: /fewer digits than 9007199254740993/,
  },
  {
    name: 'LIST of TIME',
    schema: list(time('TIME', 'NANOS')),
    data: [[30_600_000_000_000n, 1n]],
    type: 'object',
    values: [['08:30:00', '00:00:00.000000001']],
  },
  {
    name: 'MAP of STRING to INT64',
    schema: map(STRING, { type: 'INT64' }),
    data: [{ a: 1n, 'b c': null }, {}, null],
    type: 'object',
    values: [{ a: 1, 'b c': null }, {}, null],
  },
  {
    name: 'MAP of INT32 to STRING',
    schema: map({ type: 'INT32' }, STRING),
    data: [[{ key: 7, value: 'x' }]],
    type: 'object',
    values: [{ 7: 'x' }],
  },
  {
    name: 'MAP of DATE to BOOLEAN',
    schema: map({ type: 'INT32', converted_type: 'DATE' }, { type: 'BOOLEAN' }),
    data: [[{ key: 0, value: true }]],
    type: 'object',
    values: [{ '1970-01-01': true }],
  },
  {
    name: 'structure',
    schema: struct(
      { name: 'id', type: 'INT64' },
      { name: 'name', ...STRING },
      { name: 'at', ...time('TIME', 'MICROS') },
    ),
    data: [{ id: 9007199254740993n, name: 'x', at: 1500n }, null, { id: 1n, name: null, at: null }],
    type: 'object',
    values: [{ id: 9007199254740992n, name: 'x', at: '00:00:00.001500' }, null, { id: 1, name: null, at: null }],
    loss: /fewer digits than 9007199254740993/,
  },
]

t.test('each type', async t => {
  const folder = t.testdir({ store: {} })
  const files: GuessedFile[] = []
  for (const [i, { schema, data }] of CASES.entries()) {
    const path = join(folder, `${i}.parquet`)
    const [column, ...others] = schema
    const file = parquetWriteBuffer({
      columnData: [
        { name: 'n', data: data.map((_, row) => row) },
        { name: 'v', data: data as never },
      ],
      schema: [{ name: 'root', num_children: 2 }, { name: 'n', type: 'INT32' }, { ...column, name: 'v' }, ...others],
    } as never)
    writeFileSync(path, Buffer.from(file))
    files.push(await guessTable(path))
  }
  const loaded = await loadGuessed(t, files, join(folder, 'store'))
  for (const [i, { name, type, values, loss, rejected = {} }] of CASES.entries()) {
    const { v } = typesOf(files[i]!)
    t.equal(v, type, name)
    t.strictSame(
      loaded[i]!.rows.map(([, value]) => ((value as { __deferred?: object })?.__deferred ? '(deferred)' : value)),
      values,
      `${name}: values`,
    )
    const found = files[i]!.proposed.columns[1]!.loss
    if (loss) t.match(found, loss, `${name}: loss`)
    else t.equal(found, undefined, `${name}: loss`)
    t.strictSame(
      loaded[i]!.rejected.map(({ line }) => String(line)),
      Object.keys(rejected),
      `${name}: rejected rows`,
    )
    for (const { line, errors } of loaded[i]!.rejected) t.match(errors[0], rejected[line], name)
  }
})

t.test('the moments of INT96', async t => {
  const { timestampFromNanoseconds } = parsers
  t.equal(timestampFromNanoseconds(MICROS * 1000n), '2024-12-25T13:30:00.123456000Z')
  t.equal(timestampFromNanoseconds(-1n), '1969-12-31T23:59:59.999999999Z')
  t.equal(timestampFromNanoseconds(-2_000_000n), '1969-12-31T23:59:59.998Z')
})
