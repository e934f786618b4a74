/** Oddities of CSV: delimiters, comments, encodings and keys. */
import t from 'tap'
import { guessFile } from '../../../support/commands/guessed-class.ts'
import { loadEach, type Oddity } from './oddities.ts'

const MARK = '\uFEFF'
const utf16 = (text: string, big = false): Buffer => {
  const bytes = Buffer.from(text, 'utf16le')
  return big ? bytes.swap16() : bytes
}
const long = 'x'.repeat(100_000)

const ODDITIES: readonly Oddity[] = [
  // Delimiters
  {
    name: 'semicolons',
    file: 'n;x\na;1\n',
    types: { n: 'string', x: 'long' },
    rows: [['a', 1]],
    format: { delimiter: ';' },
  },
  {
    name: 'tabs',
    file: 'n\tx\na\t1\n',
    types: { n: 'string', x: 'long' },
    rows: [['a', 1]],
    format: { delimiter: '\t' },
  },
  { name: 'bars', file: 'n|x\na|1\n', types: { n: 'string', x: 'long' }, rows: [['a', 1]], format: { delimiter: '|' } },
  { name: 'sep=;', file: 'sep=;\nn;x\na;1\n', types: { n: 'string', x: 'long' }, rows: [['a', 1]] },
  {
    name: 'sep=, with semicolons in texts',
    file: 'sep=,\r\nn,x\r\na;b;c,1\r\n',
    types: { n: 'string', x: 'long' },
    rows: [['a;b;c', 1]],
  },
  {
    name: 'commas in texts between semicolons',
    file: 'n;t\na;b, c, d\nb;e, f\n',
    types: { n: 'string', t: 'string' },
    rows: [
      ['a', 'b, c, d'],
      ['b', 'e, f'],
    ],
  },
  {
    name: 'a comma in a header between semicolons',
    file: 'name, first;x\na;1\nb;2\n',
    types: { nameFirst: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'decimal commas between semicolons',
    file: 'n;x\na;1,5\nb;2,25\n',
    types: { n: 'string', x: 'number' },
    rows: [
      ['a', 1.5],
      ['b', 2.25],
    ],
  },
  {
    name: 'decimal commas in quotes',
    file: 'n,x\na,"1,5"\nb,"2,25"\n',
    types: { n: 'string', x: 'number' },
    rows: [
      ['a', 1.5],
      ['b', 2.25],
    ],
  },
  {
    name: 'comments above the header',
    file: '# exported by a program\n#\nn,x\na,1\n',
    types: { n: 'string', x: 'long' },
    rows: [['a', 1]],
  },
  {
    name: 'a comment between rows',
    file: 'n,x\na,1\n# total\nb,2\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
    rejected: { 3: /1 field for 2/ },
  },
  // Encodings
  {
    name: 'UTF-8 with a mark',
    file: `${MARK}n,x\nЖ,1\n`,
    types: { n: 'string', x: 'long' },
    rows: [['Ж', 1]],
    format: { encoding: 'utf-8' },
  },
  {
    name: 'UTF-16 with a mark',
    file: utf16(`${MARK}n,x\nЖ,1\n`),
    types: { n: 'string', x: 'long' },
    rows: [['Ж', 1]],
    format: { encoding: 'utf-16le' },
  },
  {
    name: 'UTF-16 with a mark, big end first',
    file: utf16(`${MARK}n,x\nЖ,1\n`, true),
    types: { n: 'string', x: 'long' },
    rows: [['Ж', 1]],
    format: { encoding: 'utf-16be' },
  },
  {
    name: 'UTF-16 without a mark',
    file: utf16('name,x\nAda,1\nBob,2\n'),
    types: { name: 'string', x: 'long' },
    rows: [
      ['Ada', 1],
      ['Bob', 2],
    ],
    format: { encoding: 'utf-16le' },
  },
  {
    name: 'windows-1252',
    file: Buffer.from('n;x\nZürich \x80;1\n', 'latin1'),
    types: { n: 'string', x: 'long' },
    rows: [['Zürich €', 1]],
    format: { encoding: 'windows-1252' },
  },
  {
    name: 'one wrong byte in UTF-8',
    file: Buffer.concat([Buffer.from('n,x\nZürich,1\nGenè'), Buffer.from([0xe8]), Buffer.from('ve,2\nKöln,3\n')]),
    types: { n: 'string', x: 'long' },
    rows: [
      ['Zürich', 1],
      ['Köln', 3],
    ],
    rejected: { 3: /bytes that are not UTF-8/ },
  },
  {
    name: 'another encoding by option',
    file: Buffer.from([0x6e, 0x2c, 0x78, 0x0a, 0xb1, 0x2c, 0x31, 0x0a]),
    given: { encoding: 'iso-8859-2' },
    types: { n: 'string', x: 'long' },
    rows: [['ą', 1]],
  },
  {
    name: 'characters outside of the plane',
    file: 'n,x\n🌍,1\n',
    types: { n: 'string', x: 'long' },
    rows: [['🌍', 1]],
  },
  { name: 'a zero byte', file: 'n,x\na\0b,1\n', types: { n: 'string', x: 'long' }, rows: [['a\0b', 1]] },
  { name: 'a very long field', file: `n,x\n${long},1\n`, types: { n: 'string', x: 'long' }, rows: [[long, 1]] },
  // Keys
  {
    name: 'a column that is a key',
    file: 'id,x\n7,a\n8,b\n',
    types: { id: 'long', x: 'string' },
    rows: [
      [7, 'a'],
      [8, 'b'],
    ],
    key: 'id',
  },
  {
    name: 'a key of texts',
    file: 'Code,x\nCH,a\nDE,b\n',
    types: { code: 'string', x: 'string' },
    rows: [
      ['CH', 'a'],
      ['DE', 'b'],
    ],
    key: 'code',
  },
  {
    name: 'a key with repetitions is none',
    file: 'code,x\nCH,a\nch,b\n',
    types: { code: 'string', x: 'string' },
    rows: [
      ['CH', 'a'],
      ['ch', 'b'],
    ],
    key: 'ID',
  },
  {
    name: 'a key with nulls is none',
    file: 'ID,x\n1,a\n,b\n',
    types: { ID: 'long', x: 'string' },
    rows: [
      [1, 'a'],
      [null, 'b'],
    ],
    key: 'ID2',
  },
]

loadEach(ODDITIES)

t.test('an empty file has no columns', async t => {
  for (const text of ['', '\n\n', MARK])
    t.strictSame((await guessFile(Buffer.from(text))).sample.columns, [], JSON.stringify(text))
})
