import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type WriteSheet, writeXlsx } from 'hucre/xlsx'
import t, { type Test } from 'tap'
import type { TableOptions, TableRow } from '../../../../engine/import/table-file.ts'
import { openXlsx } from '../../../../engine/import/xlsx/open-xlsx.ts'
import { type XlsxParts, xlsxFile } from '../../../support/commands/xlsx-file.ts'

/** Sheets, headers, hyperlinks and formulas of Excel files, and files that are none. */

type Cells = readonly (string | number | null)[]

const BLANK: Cells = []
const sheet = (name: string, rows: readonly Cells[], more: Partial<WriteSheet> = {}): WriteSheet =>
  ({ name, rows, ...more }) as WriteSheet

async function open(t: Test, content: Uint8Array | string, options: TableOptions = {}, name = 'a.xlsx') {
  const path = join(t.testdir(), name)
  writeFileSync(path, content)
  const table = await openXlsx(path, options)
  const rows: TableRow[] = []
  for await (const some of table.rows()) rows.push(...some)
  return { names: table.columns.map(({ name }) => name), description: table.description, rows, notes: table.notes!() }
}

const openSheets = async (t: Test, sheets: readonly WriteSheet[], options: TableOptions = {}) =>
  open(t, await writeXlsx({ sheets: [...sheets] }), options)

const openParts = async (t: Test, parts: XlsxParts, options: TableOptions = {}) =>
  open(t, await xlsxFile(parts), options)

const NAMES = ['Name', 'Town', 'Size']
const ROWS: readonly Cells[] = [NAMES, ['Ada', 'Bern', 1], ['Bo', 'Rome', 2], ['Cy', 'Oslo', 3]]

t.test('the only sheet with rows is read, or the one that is chosen', async t => {
  const cover = sheet('Cover', [['Report']])
  const data = sheet('Data', ROWS)
  const more = sheet('2', [['x'], [7]])
  t.match(await openSheets(t, [cover, data]), { names: NAMES, description: 'Excel, sheet "Data"', notes: [] })
  t.match(await openSheets(t, [data]), { description: 'Excel' })
  t.match(await openSheets(t, [data, sheet('Hidden', ROWS, { hidden: true })]), { description: /"Data"/ })
  t.match(await openSheets(t, [cover, sheet('Empty', [])]), { names: ['Report'], rows: [] })
  const chosen: [string, string[]][] = [
    ['Data', NAMES],
    ['dATA', NAMES],
    ['3', NAMES],
    ['2', ['x']],
    ['1', ['Report']],
  ]
  for (const [name, names] of chosen)
    t.same((await openSheets(t, [cover, more, data], { sheet: name })).names, names, name)
  const message = /has several sheets with rows; choose one with --sheet, by its name or number: 2 "2", 3 "Data"$/
  await t.rejects(openSheets(t, [cover, more, data]), { message })
})

t.test('a header below a title is found where it is without doubt', async t => {
  const text = ['a', 'b', 'c', 'd']
  const cases: [string, readonly Cells[], readonly string[], RegExp?][] = [
    ['a title', [['Report 2024'], ...ROWS], NAMES],
    ['a title and a gap', [['Report 2024'], BLANK, ['x', 'y'], ['1', '2']], ['x', 'y']],
    [
      'a title, a date and a gap',
      [['Report'], ['As of', 45651], BLANK, [...NAMES, 'Sum'], ['Ada', 'Bern', 1, 2]],
      [...NAMES, 'Sum'],
    ],
    ['a note below', [['Report'], ...ROWS, ['Source: census']], NAMES],
    ['no title', ROWS, NAMES],
    ['one column', [['Name'], ['Ada'], ['Bo']], ['Name']],
    ['one column with a remark', [['Name'], ['Ada'], ['Bo', 'gone'], ['Cy'], ['Di']], ['Name']],
    ['no rows', [['Name', 'Town']], ['Name', 'Town']],
    ['nothing', [], []],
    ['texts in all rows', [['Report'], text, ['e', 'f', 'g', 'h'], ['i', 'j', 'k', 'l']], text],
    [
      'two columns directly below',
      [['Name'], ['Ada', 'Bern'], ['Bo', 'Rome']],
      ['Name'],
      /row 1 names 1 column, but rows below have values in 2: --header-row/,
    ],
    [
      'a column without a name',
      [
        [null, 'Town', 'Size'],
        ['Ada', 'Bern', 'S'],
        ['Bo', 'Rome', 'L'],
      ],
      ['', 'Town', 'Size'],
      /--header-row/,
    ],
    ['years as names', [['Report'], ['Town', 2019, 2020], ['Bern', 1, 2]], ['Report'], /--header-row/],
    [
      'groups of columns',
      [
        [null, 'Sales', null, 'Costs'],
        ['Town', 'Q1', 'Q2', 'Q1'],
        ['Bern', 1, 2, 3],
      ],
      ['', 'Sales', '', 'Costs'],
      /--header-row/,
    ],
  ]
  for (const [name, rows, names, note] of cases) {
    const found = await openSheets(t, [sheet('S', rows)])
    t.same(found.names, names, name)
    if (note) t.match(found.notes, [note], name)
    else t.same(found.notes, [], name)
  }
  const found = await openSheets(t, [sheet('S', [['Report 2024'], BLANK, ...ROWS])])
  t.equal(found.description, 'Excel, names of columns in row 3')
  t.match(found.rows, [{ line: 4, cells: ['Ada', 'Bern', 1] }, { line: 5 }, { line: 6 }])
})

t.test('--header-row names a row', async t => {
  const rows = [['Report'], ['Town', 2019, 2020], BLANK, ['Bern', 1, 2]]
  t.match(await openSheets(t, [sheet('S', rows)], { headerRow: 2 }), {
    names: ['Town', '2019', '2020'],
    description: 'Excel, names of columns in row 2',
    rows: [{ line: 4, cells: ['Bern', 1, 2] }],
    notes: [],
  })
  for (const headerRow of [3, 5, 99])
    await t.rejects(openSheets(t, [sheet('S', rows)], { headerRow }), {
      message: `--header-row ${headerRow}: row ${headerRow} of the sheet "S" is empty`,
    })
})

const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const cell = (name: string, text: string): string => `<c r="${name}" t="inlineStr"><is><t>${text}</t></is></c>`

/** A sheet with hyperlinks at its end, as Excel writes them, and in a formula. */
const LINKED: XlsxParts = {
  rows: '',
  others: {
    'xl/worksheets/sheet1.xml': `<worksheet xmlns:r="${RELATION}"><sheetData>
<row r="1">${cell('A1', 'Firm')}${cell('B1', 'Mail')}${cell('C1', 'Page')}</row>
<row r="2">${cell('A2', 'Acme')}${cell('B2', 'ada@acme.example')}<c r="C2" t="str"><f>HYPERLINK("https://acme.example/?q=""a""","page")</f><v>page</v></c></row>
<row r="3">${cell('A3', 'Bell')}${cell('B3', 'see A1')}<c r="C3" t="str"><f>HYPERLINK("#A1","top")</f><v>top</v></c></row>
<row r="4">${cell('A4', 'Core')}</row></sheetData>
<hyperlinks><hyperlink ref="A2" r:id="rId1"/><hyperlink ref="A3:A4" r:id="rId2" location="top"/><hyperlink ref="B2" r:id="rId3"/><hyperlink ref="B3" location="S!A1"/></hyperlinks></worksheet>`,
    'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships>${[
      'https://acme.example/',
      'https://bell.example/',
      'mailto:ada@acme.example',
    ]
      .map(
        (target, i) =>
          `<Relationship Id="rId${i + 1}" Type="${RELATION}/hyperlink" Target="${target}" TargetMode="External"/>`,
      )
      .join('')}</Relationships>`,
  },
}

t.test('hyperlinks: texts, with a note, or addresses', async t => {
  t.match(await openParts(t, LINKED), {
    rows: [
      { cells: ['Acme', 'ada@acme.example', 'page'] },
      { cells: ['Bell', 'see A1', 'top'] },
      { cells: ['Core', null, null] },
    ],
    notes: ['3 hyperlinks: --links reads the addresses in place of the texts'],
  })
  const { rows, notes } = await openParts(t, LINKED, { links: true })
  t.strictSame(
    rows.map(({ cells }) => cells),
    [
      ['https://acme.example/', 'mailto:ada@acme.example', 'https://acme.example/?q="a"'],
      ['https://bell.example/#top', 'see A1', 'top'],
      ['https://bell.example/#top', null, null],
    ],
  )
  t.same(notes, [])
})

const TOTALS: XlsxParts = {
  rows:
    `<row r="1">${cell('A1', 'Name')}${cell('B1', 'Sum')}${cell('C1', 'Other')}</row>` +
    `<row r="2">${cell('A2', 'Ada')}<c r="B2"><f>1+1</f></c></row>` +
    `<row r="3">${cell('A3', 'Bo')}<c r="B3"><f>1+2</f></c><c r="C3"><f>2+2</f><v>0</v></c></row>`,
}
const SHEET = (parts: string): string => `<worksheet><sheetData>${TOTALS.rows}</sheetData>${parts}</worksheet>`

t.test('formulas without a result are counted, and can be left out', async t => {
  t.match(await openParts(t, TOTALS), {
    rows: [{ problem: /^cell B2 is a formula without a result/ }, { problem: /^cell B3/ }],
    notes: [/^2 formulas without a result, whose rows are rejected: .* with --column "Sum="$/],
  })
  t.match(await openParts(t, TOTALS, { leftOut: new Set(['Sum']) }), {
    rows: [{ cells: ['Ada', null, null] }, { cells: ['Bo', null, 0] }],
    notes: [],
  })
  const workbook = `<workbook xmlns:r="${RELATION}"><sheets><sheet name="S" r:id="rId0"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>`
  const { notes } = await openParts(
    t,
    { ...TOTALS, others: { 'xl/workbook.xml': workbook } },
    { leftOut: new Set(['Sum']) },
  )
  t.match(notes, [/^1 formula whose results may be out of date or zero/])
})

t.test('merged areas below the header are counted', async t => {
  const areas = '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A2:A3"/></mergeCells>'
  const { notes } = await openParts(
    t,
    { ...TOTALS, others: { 'xl/worksheets/sheet1.xml': SHEET(areas) } },
    { leftOut: new Set(['Sum']) },
  )
  t.same(notes, ['1 merged area: the value belongs to the first cell, the others are empty'])
})

t.test('files that are not Excel files, or are damaged', async t => {
  const whole = Buffer.from(await xlsxFile(TOTALS))
  const part = (name: string): Promise<Buffer> => xlsxFile({ rows: '', others: { [name]: '<x/>' } })
  const cases: [string, string | Uint8Array, RegExp][] = [
    ['empty', '', /a\.xlsx is not an Excel file \(\.xlsx\): it is empty$/],
    ['text', 'name;town\n1;2\n', /it does not begin as one; if it is a text such as CSV, give --format csv$/],
    [
      'old',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /has the format of Excel before 2007 \(\.xls\), or a password; save it as an Excel workbook \(\.xlsx\) without one$/,
    ],
    ['cut', whole.subarray(0, whole.length - 200), /its end is missing; copy or download it again$/],
    [
      'ods',
      await part('content.xml'),
      /it is an OpenDocument file \(\.ods\); save it as an Excel workbook \(\.xlsx\)$/,
    ],
    ['xlsb', await part('xl/workbook.bin'), /it is a binary workbook \(\.xlsb\)/],
    ['numbers', await part('Index/Document.iwa'), /it is a file of Numbers/],
  ]
  for (const [name, content, message] of cases) await t.rejects(open(t, content), { name: 'InputError', message }, name)
  const rows = `<row><c t="inlineStr"><is><t>n</t></is></c></row>${'<row><c><v>1</v></c></row>'.repeat(60)}<row><c>`
  await t.rejects(openParts(t, { rows }), {
    name: 'InputError',
    message: /a\.xlsx is damaged: .*; copy or download it again, or open it in a spreadsheet program and save it$/,
  })
})
