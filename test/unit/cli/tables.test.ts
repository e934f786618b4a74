import { writeXlsx } from 'hucre/xlsx'
import { parquetWriteBuffer } from 'hyparquet-writer'
import t, { type Test } from 'tap'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadWorld } from '../../support/commands/load-world.ts'
import { xlsxFile } from '../../support/commands/xlsx-file.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

/** Excel and Parquet files. */

const model = modelWith({ Person: {} })
const world = (t: Test, files: Record<string, string | Uint8Array>) =>
  loadWorld(t, model, Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)])))
const utc = (text: string): Date => new Date(`${text}Z`)

/** @param day that Excel counts as 0 */
const shopRows = (day: string) => [
  [],
  ['Shop name', 'Opened', 'Changed', 'Opens', 'Zip', 'Size', 'Open?', 'Note', 'Big', null, 'Sum'],
  ['Bern', utc('2024-12-25T00:00'), utc('2024-12-25T13:30'), utc(`${day}T08:30`), '03000', 1.5, true, 'a "b"\nc', 5e9],
  [],
  ['Zürich', utc('2024-02-29T00:00'), utc('2024-02-29T00:00'), utc(`${day}T23:59:59`), '08001', 2, false, null, 7],
  ['Wrong', null, null, null, null, '#DIV/0!'],
  ['Beyond', null, null, null, null, null, null, null, null, null, null, null, 'x'],
  ['Lyon', null, null, null, '69000', '  '],
]

const shops = (dateSystem: '1900' | '1904' = '1900'): Promise<Uint8Array> => {
  const sheets = [
    {
      name: 'Shops',
      rows: shopRows(dateSystem === '1900' ? '1899-12-31' : '1904-01-01') as never,
      cells: new Map([['2,10', { formula: 'F3*2', formulaResult: 3 }]]),
    },
    { name: 'Other', rows: [['x'], [1]] },
  ]
  return writeXlsx({ sheets, dateSystem } as never)
}

t.test('an Excel file becomes a dataclass', async t => {
  const { load, entities } = await world(t, { 'shops.xlsx': await shops() })
  const { text, notes, rejected } = await load('shops.xlsx', {
    create: { newClass: 'Shop', yes: true },
    sheet: 'shops',
  })
  t.match(text, /^5 rows read: 3 inserted, 2 rejected/)
  t.match(notes, /^shops\.xlsx: Excel, sheet "Shops"; 11 columns, 3 rows/)
  t.match(notes, /Opened +opened +date \(day\)/)
  t.match(rejected, [
    { line: 6, errors: ['cell F6 is the error #DIV/0!'] },
    { line: 7, errors: ['cell M7 is in a column without a header'] },
  ])
  t.match(await entities('Shop'), [
    {
      ID: 1,
      shopName: 'Bern',
      opened: '2024-12-25',
      changed: '2024-12-25T13:30:00.000Z',
      opens: 30_600_000,
      zip: '03000',
      size: 1.5,
      open: true,
      note: 'a "b"\nc',
      big: 5e9,
      sum: 3,
    },
    { ID: 2, shopName: 'Zürich', opened: '2024-02-29', opens: 86_399_000, size: 2, open: false, note: null, sum: null },
    { ID: 3, shopName: 'Lyon', zip: '69000', size: null },
  ])
})

t.test('sheets, dates of Macs, other columns, and what is not an Excel file', async t => {
  const old = await shops('1904')
  const { load, entities } = await world(t, { 'old.xlsx': old, 'text.xlsx': 'name\n1\n', 'a.csv': 'x\n1\n' })
  await load('old.xlsx', { create: { newClass: 'Other', yes: true }, sheet: 'Other' })
  t.match(await entities('Other'), [{ x: 1 }])
  const columns = { 'Shop name': 'name', Opened: 'day', 'Open?': null }
  const create = { newClass: 'Shop', yes: true, columns }
  await load('old.xlsx', { create, sheet: '1' })
  t.match(await load('old.xlsx', { into: 'Shop', columns, sheet: '1' }), { text: /^5 rows read: 3 inserted/ })
  t.match(await entities('Shop'), [{ name: 'Bern', day: '2024-12-25' }, {}, {}, { name: 'Bern', zip: '03000' }, {}, {}])
  const refused: readonly (readonly [string, Partial<LoadArguments>, RegExp])[] = [
    [
      'old.xlsx',
      {},
      /old\.xlsx has several sheets with rows; choose one with --sheet, by its name or number: 1 "Shops", 2 "Other"$/,
    ],
    ['old.xlsx', { sheet: 'None' }, /has no sheet "None"; it has 1 "Shops", 2 "Other"$/],
    ['old.xlsx', { sheet: '3' }, /has no sheet "3"; it has 1 "Shops", 2 "Other"$/],
    ['a.csv', { sheet: '3' }, /^--sheet is for Excel files/],
    ['a.csv', { headerRow: 3 }, /^--header-row is for Excel files/],
    ['a.csv', { links: true }, /^--links is for Excel files/],
    ['text.xlsx', {}, /is not an Excel file/],
    ['none.xlsx', {}, /there is no file/],
    ['old.xlsx', { into: 'Shop', sheet: '1' }, /column "Shop name" is not an attribute of Shop/],
  ]
  for (const [file, more, message] of refused) await t.rejects(load(file, { into: 'Other', ...more }), { message })
})

t.test('a time sheet keeps its hours, and texts stay texts', async t => {
  const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`
  const rows =
    `<row>${['Who', 'Hours', 'At', 'Number', 'Code'].map(text).join('')}</row>` +
    `<row>${text('Ada')}<c s="1"><v>1.25</v></c><c s="2"><v>0.354166666666667</v></c><c><v>1</v></c>${text('#N/A')}</row>` +
    `<row>${text('Bo')}<c s="1"><v>-0.0625</v></c><c s="2"><v>0.5000057870370370</v></c><c><v>9007199254740993</v></c>${text('x')}</row>` +
    `<row>${text('Cy')}<c><f>SUM(B2)</f></c></row>`
  const { load, entities } = await world(t, { 'a.xlsx': await xlsxFile({ rows, formats: ['[h]:mm', 'h:mm:ss.000'] }) })
  const {
    text: summary,
    notes,
    rejected,
  } = await load('a.xlsx', { create: { newClass: 'Shift', yes: true, key: 'number' } })
  t.match(summary, /^3 rows read: 2 inserted, 1 rejected/)
  t.match(notes, /Hours +hours +duration/)
  t.match(rejected, [{ line: 4, errors: [/^cell B4 is a formula without a result/] }])
  t.match(await entities('Shift'), [
    { __KEY: '1', who: 'Ada', hours: 108_000_000, at: 30_600_000, code: '#N/A' },
    { __KEY: '9007199254740993', who: 'Bo', hours: -5_400_000, at: 43_200_500, code: 'x' },
  ])
})

t.test('sums of hours are durations, amounts of money decimals, percentages fractions', async t => {
  const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`
  const cells = (...values: (number | undefined)[]): string =>
    values.map((value, i) => (value === undefined ? '<c/>' : `<c s="${i + 1}"><v>${value}</v></c>`)).join('')
  const rows =
    `<row>${['Hours', 'Price', 'Sum', 'Share', 'Rate'].map(text).join('')}</row>` +
    `<row>${cells(0.354166666666667, 13.37, 5, 0.255, 1.5)}</row>` +
    `<row>${cells(1.25, 5, 33.333333333333336, 1, 2)}</row><row>${cells(-40.5, undefined, 1)}</row>`
  const formats = ['h:mm', '$#,##0.00', '#,##0.00 "€"', '0.0%', '0.00']
  const { load, entities } = await world(t, { 'a.xlsx': await xlsxFile({ rows, formats }) })
  const { text: summary, notes } = await load('a.xlsx', { create: { newClass: 'Shift', yes: true } })
  t.match(summary, /^3 rows read: 3 inserted/)
  t.match(notes, /Hours +hours +duration +0 +08:30:00 · 30:00:00 · -972:00:00/)
  t.match(notes, /Price +price +decimal\(2\)/)
  t.match(await entities('Shift'), [
    { hours: 30_600_000, price: 13.37, sum: 5, share: 0.255, rate: 1.5 },
    { hours: 108_000_000, price: 5, sum: 33.333333333333336, share: 1, rate: 2 },
    { hours: -3_499_200_000, price: null, sum: 1 },
  ])
})

const DECIMAL = {
  type: 'FIXED_LEN_BYTE_ARRAY',
  type_length: 16,
  converted_type: 'DECIMAL',
  precision: 38,
  scale: 2,
}

t.test('digits that an attribute does not keep are told, in a new and in an existing dataclass', async t => {
  const file = parquetWriteBuffer({
    columnData: [
      { name: 'sum', data: [12345678901234567890n, 150n] },
      { name: 'half', data: [0.5, 0.123456789] },
    ],
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'sum', ...DECIMAL },
      { name: 'half', type: 'DOUBLE' },
    ],
  } as never)
  const { load, entities } = await world(t, { 'a.parquet': new Uint8Array(file), 'a.csv': 'sum,half\n0.1,x\n' })
  const types = { sum: 'number', half: 'float' }
  const { notes } = await load('a.parquet', { create: { newClass: 'Sum', yes: true, types } })
  t.match(notes, /^sum: numbers are doubles, which have fewer digits than 123456789012345678\.90\.$/m)
  t.match(notes, /^half: numbers of this type have 32 bits, fewer than 0\.123456789\.$/m)
  const again = await load('a.parquet', { into: 'Sum' })
  t.equal(
    again.notes,
    'a.parquet: Parquet\n  sum: numbers are doubles, which have fewer digits than 123456789012345678.90\n  half: numbers of this type have 32 bits, fewer than 0.123456789',
  )
  t.notMatch((await load('a.csv', { into: 'Sum' })).notes, /fewer/)
  await load('a.parquet', { create: { newClass: 'Exact', yes: true } })
  t.match(await entities('Exact'), [{ sum: '123456789012345678.90' }, { sum: '1.50' }])
})

t.test('a Parquet file with its types', async t => {
  const uuid = '01234567-89ab-cdef-0123-456789abcdef'
  const file = parquetWriteBuffer({
    columnData: [
      { name: 'id', data: [1, 2] },
      { name: 'big', data: [9007199254740993n, -1n] },
      { name: 'Full name', data: ['Zürich "x"', null] },
      { name: 'digits', data: ['007', '008'] },
      { name: 'at', data: [utc('2024-12-25T13:30'), null] },
      { name: 'half', data: [0.5, 1e-7] },
      { name: 'isNew', data: [true, false] },
      { name: 'uid', data: [uuid, null] },
      { name: 'info', data: [{ a: [1] }, null] },
      { name: 'bytes', data: [Uint8Array.of(1, 255), null] },
      {
        name: 'meaning',
        data: [
          [1, 2, 3, 4, 5, 6, 7, 8],
          [0, 0, 0, 0, 0, 0, 0, 0.5],
        ],
      },
      { name: 'price', data: [12.57, 0.1] },
      { name: 'day', data: [utc('2024-12-25T00:00'), null] },
    ],
    schema: [
      { name: 'root', num_children: 13 },
      { name: 'id', type: 'INT32' },
      { name: 'big', type: 'INT64' },
      { name: 'Full name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      { name: 'digits', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
      { name: 'at', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'OPTIONAL' },
      { name: 'half', type: 'DOUBLE' },
      { name: 'isNew', type: 'BOOLEAN' },
      {
        name: 'uid',
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: 16,
        logical_type: { type: 'UUID' },
        repetition_type: 'OPTIONAL',
      },
      { name: 'info', type: 'BYTE_ARRAY', converted_type: 'JSON', repetition_type: 'OPTIONAL' },
      { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
      { name: 'meaning', type: 'BYTE_ARRAY', converted_type: 'JSON' },
      { name: 'price', type: 'INT32', converted_type: 'DECIMAL', scale: 2, precision: 9 },
      { name: 'day', type: 'INT32', converted_type: 'DATE', repetition_type: 'OPTIONAL' },
    ],
  } as never)
  const { load, entities } = await world(t, { 'a.parquet': new Uint8Array(file), 'b.parquet': 'PAR1 nothing' })
  const { text, notes, rejected } = await load('a.parquet', { create: { newClass: 'Thing', yes: true } })
  t.equal(text.split('\n')[0], '2 rows read: 2 inserted', JSON.stringify(rejected))
  t.match(notes, /^a\.parquet: Parquet; 13 columns, 2 rows/)
  t.match(notes, /meaning +meaning +vector\(8\)/)
  t.match(notes, /price +price +decimal\(2\)/)
  t.match(await entities('Thing'), [
    {
      id: 1,
      fullName: 'Zürich "x"',
      digits: '007',
      at: '2024-12-25T13:30:00.000Z',
      half: 0.5,
      isNew: true,
      uid: '0123456789ABCDEF0123456789ABCDEF',
      info: { a: [1] },
      meaning: [1, 2, 3, 4, 5, 6, 7, 8],
      price: 12.57,
      day: '2024-12-25',
    },
    { id: 2, big: -1, fullName: null, at: null, half: 1e-7, bytes: null },
  ])
  t.match(await load('a.parquet', { into: 'Thing', update: true }), { text: '2 rows read: 0 inserted, 2 updated\n' })
  await t.rejects(load('b.parquet', { into: 'Thing' }), { message: /is not a Parquet file/ })
  await t.rejects(load('a.parquet', { into: 'Thing', sheet: 'x' }), { message: /^--sheet is for Excel files/ })
})
