import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeXlsx } from 'hucre/xlsx'
import t, { type Test } from 'tap'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadWorld } from '../../support/commands/load-world.ts'

/** Texts in the cells of a spreadsheet: dates and amounts that the spreadsheet program did not recognize. */

const sheetOf = async (rows: (string | number | null)[][]): Promise<Buffer> =>
  Buffer.from(await writeXlsx({ sheets: [{ name: 'S', rows }] }))

const world = async (t: Test, columns: Record<string, (string | number | null)[]>) => {
  const rows = Array.from({ length: 2 }, (_, i) => Object.values(columns).map(values => values[i] ?? null))
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
