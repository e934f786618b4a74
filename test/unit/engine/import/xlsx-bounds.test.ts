/** Excel files that would take much more memory than their size. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { RowText } from '../../../../engine/import/split-rows.ts'
import { type TableOptions, tableTexts } from '../../../../engine/import/table-file.ts'
import { openXlsx } from '../../../../engine/import/xlsx/open-xlsx.ts'
import { type XlsxParts, xlsxFile } from '../../../support/commands/xlsx-file.ts'

t.test('small files that would take much memory are refused', async t => {
  const long = 'x'.repeat(2 ** 24 + 2 ** 20)
  const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const areas = Array.from({ length: 110 }, (_, i) => `<hyperlink ref="A${i + 1}:NTP${i + 1}" r:id="r"/>`).join('')
  const refused: [string, Partial<XlsxParts>, RegExp, TableOptions?][] = [
    [
      'elements',
      { others: { 'xl/styles.xml': `<a>${'<b/>'.repeat(2_000_001)}</a>` } },
      /styles\.xml has more than 1000000 elements/,
    ],
    ['depth of a part', { others: { 'xl/styles.xml': '<a>'.repeat(100_000) } }, /styles\.xml is nested too deeply/],
    ['depth', { rows: '<a>'.repeat(200) }, /nested more than 100 deep/],
    ['text', { rows: `<row><c t="str"><v>${long}x</v></c></row>` }, /more than 16777216 characters/],
    ['attribute', { rows: `<row><c t="${long}x"/></row>` }, /more than 16777216 characters/],
    [
      'hyperlinks',
      {
        others: {
          'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships><Relationship Id="r" Type="${relation}/hyperlink" Target="http://a" TargetMode="External"/></Relationships>`,
          'xl/worksheets/sheet1.xml': `<worksheet><sheetData/><hyperlinks xmlns:r="${relation}">${areas}</hyperlinks></worksheet>`,
        },
      },
      /more than 1048576 cells of a sheet have hyperlinks/,
      { links: true },
    ],
  ]
  for (const [what, parts, message, options = {}] of refused) {
    const path = join(t.testdir(), 'a.xlsx')
    writeFileSync(path, await xlsxFile({ rows: '', ...parts }))
    await t.rejects(openXlsx(path, options), { name: 'InputError', message }, what)
  }
})

t.test('rows are passed on a few at a time if their cells are long, and a row has a maximum length', async t => {
  const cells = (count: number, text: string) => Array.from({ length: count }, () => text)
  const texts = async (all: string[][]): Promise<RowText[][]> => {
    async function* rows() {
      yield all.map((cells, line) => ({ line, cells }))
    }
    const found: RowText[][] = []
    for await (const some of tableTexts({ columns: [], description: '', rows })) found.push(some)
    return found
  }
  const long = 'x'.repeat(2 ** 21)
  t.strictSame(
    (await texts(Array.from({ length: 5 }, () => cells(1, long)))).map(rows => rows.length),
    [2, 2, 1],
  )
  const [[row] = []] = await texts([cells(129, long)])
  t.match(row, { text: '', problem: /^a row of more than 268435456 characters/ })
})
