/** Oddities of CSV: quotes, line ends, rows and headers. */
import { loadEach, type Oddity } from './oddities.ts'

const ODDITIES: readonly Oddity[] = [
  // Quotes
  {
    name: 'quotes inside of quotes',
    file: 'n,q\na,"say ""hi"""\n',
    types: { n: 'string', q: 'string' },
    rows: [['a', 'say "hi"']],
  },
  {
    name: 'all fields in quotes',
    file: '"n","x"\n"a","1"\n"b","2"\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'an empty text and a null',
    file: 'n,q\n"",""\na,\n',
    types: { n: 'string', q: 'string' },
    rows: [
      ['', ''],
      ['a', null],
    ],
  },
  {
    name: 'empty quotes for missing numbers',
    file: 'n,x\n"a","1"\n"b",""\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', null],
    ],
    format: { nulls: [''] },
  },
  {
    name: 'a quote that is never closed',
    file: 'n,x\na,1\nb,"2\nc,3\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['c', 3],
    ],
    rejected: { 3: /quote is opened and not closed/ },
  },
  {
    name: 'a quote in the middle of a field',
    file: 'n,x\n5" pipe,1\nb,2\n',
    types: { n: 'string', x: 'long' },
    rows: [['b', 2]],
    rejected: { 2: /quote inside a field/ },
  },
  {
    name: 'text after a closing quote',
    file: 'n,x\n"a"b,1\nb,2\n',
    types: { n: 'string', x: 'long' },
    rows: [['b', 2]],
    rejected: { 2: /quote ends a field before "b/ },
  },
  { name: 'single quotes are letters', file: "n,x\n'a',1\n", types: { n: 'string', x: 'long' }, rows: [["'a'", 1]] },
  {
    name: 'a quoted header',
    file: '"Full name","x, y"\nAda,1\n',
    types: { fullName: 'string', xY: 'long' },
    rows: [['Ada', 1]],
  },
  { name: 'a delimiter in quotes', file: 'n,x\n"a,b",1\n', types: { n: 'string', x: 'long' }, rows: [['a,b', 1]] },
  {
    name: 'quoted line ends',
    file: 'n,x\n"a\nb",1\n"c\r\nd",2\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a\nb', 1],
      ['c\r\nd', 2],
    ],
  },
  // Line ends
  {
    name: 'line ends of Windows',
    file: 'n,x\r\na,1\r\nb,2\r\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'line ends of old Macs',
    file: 'n,x\ra,1\rb,2\r',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'mixed line ends',
    file: 'n,x\r\na,1\nb,2\r\nc,3',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ],
  },
  { name: 'no line end at the end', file: 'n,x\na,1', types: { n: 'string', x: 'long' }, rows: [['a', 1]] },
  {
    name: 'blank lines',
    file: '\n\nn,x\n\na,1\n\n\nb,2\n\n\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'a last line of blanks',
    file: 'n,x\na,1\n  \n',
    types: { n: 'string', x: 'long' },
    rows: [['a', 1]],
    rejected: { 3: /1 field for 2 columns/ },
  },
  // Rows and columns
  {
    name: 'a row that is too short',
    file: 'n,x,y\na,1,2\nb,1\nc,3,4\n',
    types: { n: 'string', x: 'long', y: 'long' },
    rows: [
      ['a', 1, 2],
      ['c', 3, 4],
    ],
    rejected: { 3: /2 fields for 3 columns/ },
  },
  {
    name: 'a row that is too long',
    file: 'n,x\na,1\nb,2,9\n',
    types: { n: 'string', x: 'long' },
    rows: [['a', 1]],
    rejected: { 3: /3 fields for 2 columns/ },
  },
  {
    name: 'delimiters at the ends of lines',
    file: 'n,x,\na,1,\nb,2,\n',
    types: { n: 'string', x: 'long' },
    rows: [
      ['a', 1],
      ['b', 2],
    ],
  },
  {
    name: 'a header without a name, and values',
    file: 'n,,x\na,b,1\n',
    types: { n: 'string', column2: 'string', x: 'long' },
    rows: [['a', 'b', 1]],
  },
  {
    name: 'two headers with one name',
    file: 'n,n,N \na,b,c\n',
    types: { n: 'string', n2: 'string', n3: 'string' },
    rows: [['a', 'b', 'c']],
  },
  {
    name: 'headers with signs',
    file: 'Price (€),#,% done,2nd,and\n1,2,3,4,5\n',
    types: { price: 'long', column2: 'long', done: 'long', _2nd: 'long', andValue: 'long' },
    rows: [[1, 2, 3, 4, 5]],
  },
  {
    name: 'headers in capitals and with underscores',
    file: 'FIRST_NAME,VAT,first_name2\na,b,c\n',
    types: { firstName: 'string', VAT: 'string', first_name2: 'string' },
    rows: [['a', 'b', 'c']],
  },
  {
    name: 'a header in another script',
    file: 'имя,名前\nа,b\n',
    types: { имя: 'string', 名前: 'string' },
    rows: [['а', 'b']],
  },
  {
    name: 'a header of the protocol',
    file: '__KEY,x\na,1\n',
    types: { KEY: 'string', x: 'long' },
    rows: [['a', 1]],
    key: 'KEY',
  },
  {
    name: 'a very long header',
    file: `${'word '.repeat(100)},x\na,1\n`,
    types: { [`word${'Word'.repeat(14)}`]: 'string', x: 'long' },
    rows: [['a', 1]],
  },
  { name: 'blanks around headers', file: ' n , x\na,1\n', types: { n: 'string', x: 'long' }, rows: [['a', 1]] },
  { name: 'one column', file: 'name\nAda\nBob\n', types: { name: 'string' }, rows: [['Ada'], ['Bob']] },
  { name: 'only a header', file: 'n,x\n', types: { n: 'string', x: 'string' }, rows: [] },
  {
    name: 'a column that is empty',
    file: 'n,x\na,\nb,\n',
    types: { n: 'string', x: 'string' },
    rows: [
      ['a', null],
      ['b', null],
    ],
  },
  // Lines above the header
  {
    name: 'comments with as many commas as the header',
    file: '# export, of 2024\n# by me\nid,name\n1,A\n2,B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { skipLines: 2 },
  },
  {
    name: 'a comment without a blank above a header',
    file: '#export,2024\nid,name\n1,A\n2,B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { skipLines: 1 },
  },
  {
    name: 'a header that begins with #',
    file: '## by me\n#id,name\n1,A\n2,B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { skipLines: 1 },
  },
  {
    name: 'a header that numpy writes',
    file: '# id,name\n1,A\n2,B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { skipLines: 0 },
  },
  {
    name: 'a header that begins with #, above texts',
    file: '#a,name\nx,A\ny,B\n',
    types: { a: 'string', name: 'string' },
    rows: [
      ['x', 'A'],
      ['y', 'B'],
    ],
    format: { skipLines: 0 },
  },
  {
    name: 'a title above a header',
    file: 'Report, of 2024\nid;name\n1;A\n2;B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { delimiter: ';', skipLines: 1 },
  },
  {
    name: 'titles as spreadsheets write them, and a blank line',
    file: 'Report,,\n"of\n2024",,\n\nid,name,year\n1,A,2024\n2,B,2025\n',
    types: { id: 'long', name: 'string', year: 'long' },
    rows: [
      [1, 'A', 2024],
      [2, 'B', 2025],
    ],
    format: { skipLines: 4 },
  },
  {
    name: 'titles and a date above columns of years',
    file: 'Population\nCreated;1.2.2024\nname;2019;2020\nA;1;2\nB;3;4\n',
    types: { name: 'string', _2019: 'long', _2020: 'long' },
    rows: [
      ['A', 1, 2],
      ['B', 3, 4],
    ],
    format: { skipLines: 2 },
  },
  {
    name: 'a title above a header, and a row with a field too few among few rows',
    file: '"Staff, of 2024"\n\nid;name;wage\n1;A;3.100,00\n2;B;2.900,50\n3;C\n4;D;1.000,00\n',
    types: { id: 'long', name: 'string', wage: 'decimal(2)' },
    rows: [
      [1, 'A', 3100],
      [2, 'B', 2900.5],
      [4, 'D', 1000],
    ],
    rejected: { 6: /2 fields for 3/ },
    format: { delimiter: ';', decimal: ',', skipLines: 2 },
  },
  {
    name: 'sep= and a comment',
    file: 'sep=;\n# me\nid;name\n1;A\n2;B\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    format: { skipLines: 2 },
  },
  {
    name: 'lines to skip that are given',
    file: 'id,name\nnr,label\n1,A\n2,B\n',
    types: { nr: 'long', label: 'string' },
    rows: [
      [1, 'A'],
      [2, 'B'],
    ],
    given: { skipLines: 1 },
  },
  {
    name: 'a header with fewer columns than its rows',
    file: 'n,x\na,1,2\nb,2,3\n',
    types: { n: 'string', x: 'string' },
    rows: [],
    rejected: { 2: /3 fields for 2/, 3: /3 fields for 2/ },
    format: { skipLines: 0 },
  },
  {
    name: 'formulas that keep texts as they are',
    file: 'id,name\n1,="0042"\n2,="a,""b"""\n',
    types: { id: 'long', name: 'string' },
    rows: [
      [1, '0042'],
      [2, 'a,"b"'],
    ],
  },
]

loadEach(ODDITIES)
