import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { TableRow } from '../../../../engine/import/table-file.ts'
import { formatOfBuiltIn, formatOfCode } from '../../../../engine/import/xlsx/number-format.ts'
import { openXlsx } from '../../../../engine/import/xlsx/open-xlsx.ts'
import { type XlsxParts, xlsxFile } from '../../../support/commands/xlsx-file.ts'

/** Cells of Excel files, as Excel and other programs write them. */

async function write(t: Test, parts: XlsxParts): Promise<string> {
  const path = join(t.testdir(), 'a.xlsx')
  writeFileSync(path, await xlsxFile(parts))
  return path
}

async function rowsOf(t: Test, parts: XlsxParts): Promise<TableRow[]> {
  const rows: TableRow[] = []
  for await (const some of (await openXlsx(await write(t, parts), {})).rows()) rows.push(...some)
  return rows
}

/** Value of a cell, given as XML below a header. */
async function cellOf(t: Test, cell: string, parts: Omit<XlsxParts, 'rows'> = {}): Promise<unknown> {
  const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
  const [row] = await rowsOf(t, { ...parts, rows: `${header}<row r="2">${cell}</row>` })
  return row === undefined ? null : (row.problem ?? row.cells[0])
}

t.test('kinds of formats', async t => {
  const kinds = {
    number: [
      'General',
      '0',
      '0.00E+00',
      '0.00 "days"',
      '0.00 USD',
      '0.00 "USDX"',
      '#,##0.00_€',
      '0.0%',
      '@',
      '',
      '[Red]0;[Blue]-0',
      '0\\h',
      '# ?/?',
      ';;;',
    ],
    money: [
      '#,##0.00 [$€-407]',
      '$#,##0.00',
      '"$"#,##0.00_);("$"#,##0.00)',
      '\\$#,##0',
      '_-* #,##0.00 "€"_-',
      '[$CHF-807] 0.00',
      '[Red]#,##0.00 "EUR"',
      '¥0',
    ],
    date: [
      'yyyy-mm-dd',
      'd.m.yy',
      'mmm',
      'm:d',
      'd hh:mm',
      '[$-409]m/d/yy h:mm AM/PM;@',
      'ggge"年"m"月"d"日"',
      '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy',
      '"Day" d;0',
    ],
    clock: [
      'h:mm',
      'h:mm:ss',
      'mm:ss.0',
      'hh:mm:ss.000',
      '[$-F400]h:mm:ss AM/PM',
      'h"時"mm"分"',
      'h "h" mm',
      'hh',
      'h AM/PM',
    ],
    duration: [
      '[<1]h:mm;[h]:mm',
      '[h]:mm',
      '[hh]:mm:ss',
      '[mm]:ss',
      '[s]',
      '[$-409][h]:mm:ss;@',
      '[Red][h]:mm;-[h]:mm',
      '[H]:MM',
    ],
  } as const
  for (const [kind, codes] of Object.entries(kinds))
    for (const code of codes) t.equal(formatOfCode(code).kind, kind, code)
  const builtIn = {
    0: 'number',
    4: 'number',
    14: 'date',
    20: 'clock',
    22: 'date',
    44: 'money',
    45: 'clock',
    46: 'duration',
    49: 'number',
  }
  for (const [id, kind] of Object.entries(builtIn)) t.equal(formatOfBuiltIn(Number(id)).kind, kind, id)
})

t.test('numbers', async t => {
  const cases: [string, unknown][] = [
    ['1.5', 1.5],
    ['-0.25', -0.25],
    ['1E-3', 0.001],
    ['1.1000000000000001', 1.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['9007199254740993', 9007199254740993n],
    ['1.152921504606847E+18', 1152921504606847000n],
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993E15', 9007199254740993n],
    ['1e-400', 'cell A2 has "1e-400" for a number'],
    ['12345678901234567890123', 12345678901234567890123n],
    ['', null],
    ['abc', 'cell A2 has "abc" for a number'],
    ['1e999', 'cell A2 has "1e999" for a number'],
    ['0x10', 'cell A2 has "0x10" for a number'],
    [' 5 ', 5],
    [' ', 'cell A2 has "" for a number'],
  ]
  for (const [text, value] of cases) t.equal(await cellOf(t, `<c r="A2"><v>${text}</v></c>`), value, text)
  t.equal(String(await cellOf(t, '<c r="A2"><v>0.1234567890123456789</v></c>')), '0.1234567890123456789')
})

t.test('days, times of day and durations', async t => {
  const cases: [string | number, string, unknown][] = [
    ['yyyy-mm-dd', '45651', '2024-12-25'],
    ['yyyy-mm-dd', '45651.5625', '2024-12-25T13:30:00.000Z'],
    ['yyyy-mm-dd', '1', '1900-01-01'],
    ['yyyy-mm-dd', '59', '1900-02-28'],
    ['yyyy-mm-dd', '60', 'cell A2 has the number 60, which is not a date'],
    ['yyyy-mm-dd', '61', '1900-03-01'],
    ['yyyy-mm-dd', '2958465', '9999-12-31'],
    ['yyyy-mm-dd', '2958466', 'cell A2 has the number 2958466, which is not a date'],
    ['yyyy-mm-dd', '-1', 'cell A2 has the number -1, which is not a date'],
    ['yyyy-mm-dd', 'x', 'cell A2 has "x" for a number'],
    ['yyyy-mm-dd', ' ', 'cell A2 has "" for a number'],
    [14, '45651', '2024-12-25'],
    [20, '0.354166666666667', '08:30:00'],
    ['h:mm:ss.000', '0.99999998842592593', '23:59:59.999'],
    ['h:mm', '0', '00:00:00'],
    ['h:mm', '1.25', '30:00:00'],
    ['h:mm', '365.5', '8772:00:00'],
    ['h:mm:ss', '-0.0625', '-01:30:00'],
    ['h:mm', '366', '1900-12-31'],
    ['h:mm', '45651.5', '2024-12-25T12:00:00.000Z'],
    ['d.m.yyyy h:mm', '1.25', '1900-01-01T06:00:00.000Z'],
    ['[h]:mm', '1.25', '30:00:00'],
    ['[h]:mm', '0.5', '12:00:00'],
    ['[h]:mm', '-0.0625', '-01:30:00'],
    ['[h]:mm', '45651', '1095624:00:00'],
    ['[h]:mm', 'x', 'cell A2 has "x" for a number'],
    [46, '41.666666666666664', '1000:00:00'],
    ['[mm]:ss', '0.00001157407', '00:00:01'],
    ['General', '45651', 45651],
    ['0.00 "days"', '1.25', 1.25],
  ]
  for (const [format, text, value] of cases)
    t.equal(await cellOf(t, `<c r="A2" s="1"><v>${text}</v></c>`, { formats: [format] }), value, `${format} ${text}`)
  const old = { formats: ['yyyy-mm-dd'], is1904: true }
  t.equal(await cellOf(t, '<c r="A2" s="1"><v>44189</v></c>', old), '2024-12-25')
  t.equal(await cellOf(t, '<c r="A2" s="1"><v>60</v></c>', old), '1904-03-01')
  t.equal(await cellOf(t, '<c r="A2" s="1"><v>0.5</v></c>', old), '12:00:00')
  t.equal(await cellOf(t, '<c r="A2" t="d" s="1"><v>2024-12-25T13:30:00</v></c>', old), '2024-12-25T13:30:00')
})

t.test('amounts of money keep the places of their format, and never lose any', async t => {
  const cases: [string | number, string, string][] = [
    ['$#,##0.00', '13.37', '13.37'],
    ['$#,##0.00', '5', '5.00'],
    ['#,##0.00 "€"', '-0.30000000000000004', '-0.30'],
    [44, '1000000', '1000000.00'],
    ['$#,##0.00', '33.333333333333336', '33.333333333333336'],
    ['$#,##0.00', '1.005', '1.005'],
    ['$#,##0.00', '1e20', '100000000000000000000'],
    ['¥0', '500', '500'],
    ['0.0%', '0.255', '0.255'],
  ]
  for (const [format, text, value] of cases)
    t.equal(String(await cellOf(t, `<c r="A2" s="1"><v>${text}</v></c>`, { formats: [format] })), value, text)
})

t.test('texts, bools, errors and formulas', async t => {
  const texts =
    '<si><t>plain</t></si><si><r><t xml:space="preserve">rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>' +
    '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><t>a_x000D_b_x005F_x0041_ &amp;</t></si><si><t><![CDATA[<c>]]></t></si>'
  const cases: [string, unknown][] = [
    ['<c t="s"><v>0</v></c>', 'plain'],
    ['<c t="s"><v>1</v></c>', 'rich text'],
    ['<c t="s"><v>2</v></c>', '東京'],
    ['<c t="s"><v>3</v></c>', 'a\rb_x0041_ &'],
    ['<c t="s"><v>4</v></c>', '<c>'],
    ['<c t="s"><v>9</v></c>', 'cell A2 refers to a text that the file does not have'],
    ['<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>', 'inline'],
    ['<c t="str"><f>A1</f><v>#N/A</v></c>', '#N/A'],
    ['<c t="str" s="1"><f>TEXT(1,"x")</f><v>007</v></c>', '007'],
    ['<c t="str"><f>""</f><v></v></c>', null],
    ['<c t="str"><f>B1</f></c>', /^cell A2 is a formula without a result/],
    ['<c t="b"><f>B1</f></c>', /^cell A2 is a formula without a result/],
    ['<c><f t="shared" si="0"/></c>', /^cell A2 is a formula without a result/],
    ['<c t="b"><v>1</v></c>', true],
    ['<c t="b"><v>0</v></c>', false],
    ['<c t="b"><v>yes</v></c>', 'cell A2 has "yes" for a truth value'],
    ['<c t="b"/>', null],
    ['<c t="s"/>', null],
    ['<c t="s"><v></v></c>', null],
    ['<c t="z"><v>1</v></c>', 'cell A2 has the type "z"'],
    ['<c t="e"><v>#N/A</v></c>', 'cell A2 is the error #N/A'],
    ['<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'cell A2 is the error #DIV/0!'],
    ['<c><f>SUM(1,2)</f><v>3</v></c>', 3],
    ['<c><f>SUM(1,2)</f></c>', /^cell A2 is a formula without a result/],
    ['<c><f>SUM(1,2)</f><v/></c>', /^cell A2 is a formula without a result/],
    ['<c s="1"/>', null],
    ['<c/>', null],
  ]
  for (const [cell, value] of cases) t.match([await cellOf(t, cell, { texts, formats: ['yyyy'] })], [value], cell)
})

t.test('cells and rows without names, prefixes, and rows with gaps', async t => {
  const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`
  t.strictSame(
    await rowsOf(t, {
      rows:
        `<row r="3">${text('a')}${text('b')}<c r="D3" t="inlineStr"><is><t>d</t></is></c></row><row/>` +
        '<row><c><v>1</v></c><c r="D5"><v>4</v></c></row><row r="9"><c r="B9"><v>2</v></c></row>' +
        '<row><c r="XFD10"><v>1</v></c></row>',
    }),
    [
      { line: 5, cells: [1, null, null, 4] },
      { line: 9, cells: [null, 2, null, null] },
      { line: 10, cells: [null, null, null, null], problem: 'cell XFD10 is in a column without a header' },
    ],
  )
  const sheet =
    '<x:worksheet xmlns:x="urn:x"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>n</x:t></x:is></x:c></x:row>' +
    '<x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
  t.strictSame(await rowsOf(t, { rows: '', others: { 'xl/worksheets/sheet1.xml': sheet } }), [{ line: 2, cells: [1] }])
})

t.test('elements behind the rows do not change the last cell', async t => {
  const rows = '<row><c t="inlineStr"><is><t>n</t></is></c></row><row><c s="0"/><c><v>3</v></c><c r="C2" s="0"/></row>'
  const behind =
    '<extLst><ext xmlns:xm="urn:x"><xm:f>Sheet2!A1</xm:f><xm:sqref>A1</xm:sqref><v>77</v><c r="A9"><is><t>x</t></is></c></ext></extLst>'
  const sheet = `<worksheet><sheetData>${rows.replace('<c s="0"/>', '')}</sheetData>${behind}</worksheet>`
  t.strictSame(await rowsOf(t, { rows: '', others: { 'xl/worksheets/sheet1.xml': sheet } }), [{ line: 2, cells: [3] }])
})

t.test('parts with blanks and letters beyond ASCII in their names, percent-encoded or not', async t => {
  const rows = `<row><c t="inlineStr"><is><t>n</t></is></c></row><row><c><v>1</v></c></row>`
  const sheet = `<worksheet><sheetData>${rows}</sheetData></worksheet>`
  const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet'
  for (const [target, part] of [
    ['Größe 1.xml', 'Größe 1.xml'],
    ['Gr%C3%B6%C3%9Fe%201.xml', 'größe 1.xml'],
    ['Größe 1.xml', 'Gr%c3%b6%c3%9fe%201.xml'],
    ['50%.xml', '50%.xml'],
  ] as const) {
    const relations = `<Relationships><Relationship Id="rId0" Type="${relation}" Target="${target}"/></Relationships>`
    const others = { 'xl/_rels/workbook.xml.rels': relations, [`xl/${part}`]: sheet }
    t.strictSame(await rowsOf(t, { rows: '', others }), [{ line: 2, cells: [1] }], part)
  }
})

t.test('damaged files', async t => {
  const cases: [Partial<XlsxParts>, RegExp][] = [
    [{ others: { '_rels/.rels': '<Relationships/>' } }, /a\.xlsx is not an Excel file \(\.xlsx\): it has no workbook$/],
    [{ others: { 'xl/workbook.xml': '<workbook' } }, /is not an Excel file/],
    [{ others: { 'xl/workbook.xml': '<workbook/>' } }, /a\.xlsx has no sheet$/],
    [{ rows: '<row><c r="XFE1"><v>1</v></c></row>' }, /a cell is named "XFE1"/],
    [{ rows: '<row><c r="12"><v>1</v></c></row>' }, /a cell is named "12"/],
    [{ rows: '<row><c>' }, /is damaged/],
    [{ rows: '<row r="-1"/>' }, /row "-1" is behind row 0;/],
    [{ rows: '<row r="x"/>' }, /row "x" is behind row 0;/],
    [{ rows: '<row r="2"/><row r="2"/>' }, /row "2" is behind row 2;/],
    [{ rows: '<row><c r="A1"/><c r="B1"/><c r="A1"/></row>' }, /cell A1 occurs twice;/],
    [{ rows: '<row><c r="A2"/></row>' }, /cell "A2" is in row 1;/],
    [{ rows: '<row><c><v>1</v><v>2</v></c></row>' }, /cell A1 has two values;/],
    [{ rows: '<row><c><c><v>1</v></c></c></row>' }, /row 1 has a cell within a cell;/],
    [{ rows: '<row><row/></row>' }, /row 1 has a row within it;/],
    [{ rows: `<row>${'<c/>'.repeat(16_385)}</row>` }, /a row has more than 16384 cells;/],
    [{ rows: '<row r="1048577"/>' }, /row "1048577" is behind row 0;/],
    [{ rows: '<row><c r="C1"/><c r="A1"/><c r="B1"/><c r="B1"/></row>' }, /cell B1 occurs twice;/],
    [
      { others: { 'xl/worksheets/sheet1.xml': Buffer.from([0x3c, 0x61, 0xe9, 0x2f, 0x3e]) } },
      /not valid for encoding utf-8/,
    ],
  ]
  for (const [parts, message] of cases)
    await t.rejects(openXlsx(await write(t, { rows: '', ...parts }), {}), { message })
})
