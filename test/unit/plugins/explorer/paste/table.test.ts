import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import { type Cells, parseTable, writeTable } from '../../../../../plugins/explorer/page/paste/table.ts'

t.test('tables of spreadsheets and of CSV files', async t => {
  const cases: readonly [string, Cells[]][] = [
    [
      'a\tb\n1\t2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a;b\n1,5;2',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      '\uFEFFa,"b ""c"", d"\n"x\ny",',
      [
        ['a', 'b "c", d'],
        ['x\ny', null],
      ],
    ],
    ['"a', [['"a']]],
    ['5" disk,x', [['5" disk', 'x']]],
    ['\n\n', []],
    ['only', [['only']]],
    ['', []],
    [
      'a\t""\n\t""',
      [
        ['a', ''],
        [null, ''],
      ],
    ],
  ]
  for (const [text, rows] of cases) t.same(parseTable(text), rows, JSON.stringify(text))
})

t.test('a written table is read back', async t => {
  const cell = fc.option(fc.stringMatching(/^[a"\t\r\n,; ]{0,6}$/))
  const rows = fc.array(fc.tuple(cell, cell, fc.constant('x')), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(rows, table => {
      t.same(parseTable(writeTable([['a', 'b', 'c'], ...table])), [['a', 'b', 'c'], ...table])
    }),
  )
})
