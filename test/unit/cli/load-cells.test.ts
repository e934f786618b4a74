import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeXlsx } from 'hucre/xlsx'
import t, { type Test } from 'tap'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadWorld } from '../../support/commands/load-world.ts'

/** Texts in the cells of a spreadsheet: dates and amounts that the spreadsheet program did not recognize. */

const sheetOf = async (rows: (string | number | null)[][]): Promise<Buffer> =>
  Buffer.from(await writeXlsx({ sheets: [{ name: 'S', rows }] }))

const world = async (t: Test, columns: Record<string, (string | number | null)[]>, length = 2) => {
  const rows = Array.from({ length }, (_, i) => Object.values(columns).map(values => values[i] ?? null))
  const content = await sheetOf([Object.keys(columns), ...rows])
  const model = {
    name: 'm',
    dataClasses: {
      Person: { key: 'ID', attributes: { ID: { type: 'long' }, born: { type: 'date' }, paid: { type: 'number' } } },
    },
  }
  return loadWorld(t, model, { 'a.xlsx': content, 'a.xlsm': content })
}

t.test('a column of texts that are all dates or amounts has their type', async t => {
  const columns = {
    id: [1, 2],
    written: ['Jun 12 1998', '12-Jun-98'],
    numeric: ['25/12/2024', '03/04/2024'],
    price: ['$13.37', '$1,234.00'],
    size: [1.234, 2.5],
    code: ['0042', '0043'],
    digits: ['12.5', '13.5'],
    mixed: ['$1', 'free'],
    currencies: ['$1', '€2'],
    version: ['1.2.24', '1.3.24'],
  }
  const { config, entities, load } = await world(t, columns)
  const { notes } = await load('a.xlsx', { create: { newClass: 'Row', yes: true, key: 'id' } })
  const { attributes } = JSON.parse(readFileSync(config.model, 'utf8')).dataClasses.Row
  t.match(attributes, {
    written: { type: 'date', simpleDate: true },
    numeric: { type: 'date', simpleDate: true },
    price: { type: 'decimal', scale: 2 },
    size: { type: 'number' },
    ...Object.fromEntries(['code', 'digits', 'mixed', 'currencies', 'version'].map(name => [name, { type: 'string' }])),
  })
  t.match(notes, /^price: the amounts are without their currency, \$\.$/m)
  const [first] = await entities('Row')
  t.match(first, { written: '1998-06-12', numeric: '2024-12-25', size: 1.234, code: '0042' })
  t.equal(Number(first!.price), 13.37)
})

t.test('amounts with a decimal comma stay texts, because numbers of a sheet have a point', async t => {
  const { entities, load } = await world(t, { id: [1, 2], price: ['1.234,50 €', '2 €'], size: [1.234, 2.5] })
  await load('a.xlsm', { create: { newClass: 'Row', yes: true, key: 'id' } })
  t.match(await entities('Row'), [{ price: '1.234,50 €', size: 1.234 }])
})

t.test('texts that may be several dates are a question', async t => {
  const { config, entities, load } = await world(t, { id: [1, 2], day: ['03/04/2024', '05/06/2024'] })
  const create = (options: Partial<LoadArguments> = {}) =>
    load('a.xlsx', { create: { newClass: 'Row', yes: true, key: 'id' }, ...options })
  await t.rejects(create(), { name: 'InputError', message: /03\/04\/2024 may have the day or the month first/ })
  t.notMatch(readFileSync(config.model, 'utf8'), 'Row')
  await create({ dates: 'mdy' })
  t.match(await entities('Row'), [{ day: '2024-03-04' }, { day: '2024-05-06' }])
})

t.test('into a dataclass, texts are dates and amounts too, and numbers keep their point', async t => {
  const { cwd, people, load } = await world(t, { ID: [1, 2], born: ['12. Juni 1998', null], paid: [1.234, '$1,234.5'] })
  t.match(await load('a.xlsx', { decimal: ',' }), { text: /2 rows read: 1 inserted, 1 rejected/ })
  rmSync(join(cwd, 'errors.ndjson'))
  t.match(await people(), [{ born: '1998-06-12T00:00:00.000Z', paid: 1.234 }])
  await load('a.xlsx', { update: true, decimal: '.', currencies: ['$'] })
  t.notOk(existsSync(join(cwd, 'errors.ndjson')))
  t.match(await people(), [{ paid: 1.234 }, { paid: 1234.5 }])
})

t.test('texts for null are recognized, and yes and no are booleans', async t => {
  const columns = {
    'Staff No.': ['0042', '0043', '0044'],
    Born: ['Jun 12 1998', 'n/a', '3 May 2001'],
    Size: [1.5, 2, 'N/A'],
    'Paid?': ['Yes', 'no', '-'],
    Remark: ['N/A', 'x', 'y'],
  }
  const { config, entities, load } = await world(t, columns, 3)
  const { notes } = await load('a.xlsx', { create: { newClass: 'Row', yes: true, key: 'Staff No.' } })
  t.match(notes, /^ {2}3 texts for null, except in columns of texts: "n\/a" "N\/A" "-"$/m)
  const { key, attributes } = JSON.parse(readFileSync(config.model, 'utf8')).dataClasses.Row
  t.equal(key, 'staffNo')
  t.match(attributes, { born: { type: 'date' }, size: { type: 'number' }, paid: { type: 'bool' } })
  t.match(await entities('Row'), [
    { born: '1998-06-12', size: 1.5, paid: true, remark: 'N/A' },
    { born: null, size: 2, paid: false },
    { born: '2001-05-03', size: null, paid: null, remark: 'y' },
  ])
  const { rejected } = await load('a.xlsx', { into: 'Row', update: true })
  t.strictSame(rejected, [], 'into a dataclass too')
  const { attributes: kept } = await proposed(t, { Born: ['Jun 12 1998', 'n/a'] }, { nulls: ['?'] })
  t.match(kept, { born: { type: 'string' } }, 'unless an option names them')
})

const proposed = async (
  t: Test,
  columns: Record<string, (string | number | null)[]>,
  more: Partial<LoadArguments> = {},
): Promise<{ attributes: object; notes: string }> => {
  const length = Math.max(...Object.values(columns).map(values => values.length))
  const { config, load } = await world(t, columns, length)
  const { notes } = await load('a.xlsx', { create: { newClass: 'Row', yes: true, newKey: true }, ...more })
  return { attributes: JSON.parse(readFileSync(config.model, 'utf8')).dataClasses.Row.attributes, notes }
}

t.test('the value for whose sake a column is a string is told', async t => {
  const prices = ['$1,234.50', '$2.00', '$3.10', '$4.20', 10.9]
  const columns = {
    price: prices,
    size: [1, 2, 3, 4, 'ca. 5'],
    day: ['12-Jun-98', '13-Jun-98', '14-Jun-98', '15-Jun-98', '31-Jun-98'],
    zip: [1, 2, 3, 4, '00501'],
    word: ['a', 'b', 'c', '12-Jun-98', '1'],
  }
  const { attributes, notes } = await proposed(t, columns)
  t.match(attributes, Object.fromEntries(Object.keys(columns).map(name => [name, { type: 'string' }])))
  t.strictSame(notes.match(/^\w+ is a string: .*$/gm), [
    'price is a string: 4 of 5 values are amounts in $, "10.9" is not; correct it, or give --nulls if it stands for null.',
    'size is a string: 4 of 5 values are numbers, "ca. 5" is not; correct it, or give --nulls if it stands for null.',
    'day is a string: 4 of 5 values are dates, "31-Jun-98" is not; correct it, or give --nulls if it stands for null.',
  ])
  const { config, entities, load } = await world(t, { price: prices }, prices.length)
  const create = { newClass: 'Row', yes: true, newKey: true, types: { price: 'decimal(2)' } }
  await t.rejects(load('a.xlsx', { create }), { message: /--currencies "\$" reads them$/ })
  await load('a.xlsx', { create, currencies: ['$'] })
  t.match(JSON.parse(readFileSync(config.model, 'utf8')).dataClasses.Row.attributes.price, { type: 'decimal' })
  t.match(
    (await entities('Row')).map(({ price }) => Number(price)),
    [1234.5, 2, 3.1, 4.2, 10.9],
  )
})

t.test('the proposal says what is not read of a sheet', async t => {
  const area = { startRow: 1, startCol: 0, endRow: 2, endCol: 0 }
  const rows = [
    ['region', 'town'],
    ['West', 'Bern'],
    [null, 'Biel'],
  ] as never
  const content = Buffer.from(await writeXlsx({ sheets: [{ name: 'S', rows, merges: [area] }] }))
  const { load } = loadWorld(t, { name: 'm', dataClasses: {} }, { 'a.xlsx': content })
  const { notes } = await load('a.xlsx', { create: { newClass: 'Row', yes: true } })
  t.match(notes, /^ {2}1 merged area: the value belongs to the first cell, the others are empty$/m)
})
