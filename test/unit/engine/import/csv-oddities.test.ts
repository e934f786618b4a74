import t from 'tap'
import type { ForeignFormat } from '../../../../engine/import/foreign-values.ts'
import { type GuessedFile, guessFile, loadGuessed, typesOf } from '../../../support/commands/guessed-class.ts'

/** CSV files as they are found: the dataclass that is proposed, and the values after loading. */

interface Oddity {
  readonly name: string
  readonly file: string | Buffer
  /** Types of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>
  readonly rows: readonly (readonly unknown[])[]
  /** Lines of rows that cannot be saved, with a reason. */
  readonly rejected?: Readonly<Record<number, RegExp>>
  readonly given?: ForeignFormat & { encoding?: string }
  /** Format that is guessed, as far as it is checked. */
  readonly format?: object
  /** A question that stays open. */
  readonly open?: RegExp
  readonly key?: string
}

/** A file with the column `v`. */
const column = (
  name: string,
  values: readonly string[],
  type: string,
  loaded: readonly unknown[],
  more: Partial<Oddity> = {},
): Oddity => ({
  name,
  file: `n,v\n${values.map((value, i) => `r${i},${/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value}\n`).join('')}`,
  types: { n: 'string', v: type },
  rows: loaded.map((value, i) => [`r${i}`, value]),
  ...more,
})

const MARK = '\uFEFF'
const utf16 = (text: string, big = false): Buffer => {
  const bytes = Buffer.from(text, 'utf16le')
  return big ? bytes.swap16() : bytes
}
const long = 'x'.repeat(100_000)

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
  // Numbers
  column('integers', ['1', '-2', '0'], 'long', [1, -2, 0]),
  column('integers beyond 32 bits', ['1', '5000000000'], 'long64', [1, 5_000_000_000]),
  column('digits of an account, beyond 64 bits', ['12345678901234567890', '1'], 'string', [
    '12345678901234567890',
    '1',
  ]),
  column('postcodes', ['01234', '99999'], 'string', ['01234', '99999']),
  column('telephone numbers', ['+49 30 1234', '030 1234'], 'string', ['+49 30 1234', '030 1234']),
  column('telephone numbers without blanks', ['+4930123456', '+4930123457'], 'string', ['+4930123456', '+4930123457']),
  column('numbers', ['1.5', '2', '-.25'], 'number', [1.5, 2, -0.25]),
  column('money', ['12.50', '3.99', '7.00'], 'decimal(2)', [12.5, 3.99, 7]),
  column('two digits after the point, measured', ['12.51', '3.99', '7.01'], 'number', [12.51, 3.99, 7.01]),
  column('scientific notation', ['1e3', '2.5E-2'], 'number', [1000, 0.025]),
  column('thousands with commas and points', ['1,234.5', '999.25'], 'number', [1234.5, 999.25], {
    format: { decimal: '.' },
  }),
  column('millions with commas', ['1,234,567', '1,000'], 'long', [1_234_567, 1000], { format: { decimal: '.' } }),
  column('thousands with points and commas', ['1.234,5', '999,25'], 'number', [1234.5, 999.25], {
    format: { decimal: ',' },
  }),
  column('thousands with apostrophes', ["1'234.50", "7'000.25"], 'decimal(2)', [1234.5, 7000.25]),
  column('thousands with blanks', ['1 234,5', '2\u202F000,25'], 'number', [1234.5, 2000.25]),
  column('thousands or decimals', ['1,234', '5,678'], 'string', ['1,234', '5,678'], {
    open: /^1,234 may have thousands or decimals/,
  }),
  column('thousands or decimals, by option', ['1,234', '5,678'], 'long', [1234, 5678], { given: { decimal: '.' } }),
  column('numbers of two countries', ['1.5', '2,5'], 'string', ['1.5', '2,5'], {
    open: /a point, as 1\.5, and a comma, as 2,5/,
  }),
  column('percent', ['12%', '5.5 %'], 'string', ['12%', '5.5 %']),
  column('amounts with a currency', ['€ 12.50', '$3'], 'string', ['€ 12.50', '$3']),
  column('versions', ['1.2.3', '1.10.0'], 'string', ['1.2.3', '1.10.0']),
  column('long integers and fractions', ['9007199254740993', '1.5'], 'decimal(1)', [9007199254740993n, 1.5]),
  column('more places than a double has', ['0.1234567890123456789', '1'], 'string', ['0.1234567890123456789', '1']),
  column('more digits than a double has', ['123456789.123456789', '1'], 'decimal(9)', ['123456789.123456789', 1]),
  column('all digits of doubles', ['0.10000000000000001', '1e22'], 'number', [0.1, 1e22]),
  column('a number below all doubles', ['1e-400', '1'], 'string', ['1e-400', '1']),
  column('infinite numbers', ['1e999', '2'], 'string', ['1e999', '2']),
  column('not a number', ['1.5', 'NaN'], 'number', [1.5, null], { format: { nulls: ['NaN'] } }),
  column('N/A among numbers', ['1', 'N/A', '-'], 'long', [1, null, null], { format: { nulls: ['N/A', '-'] } }),
  column('NA among texts is a text', ['DE', 'NA'], 'string', ['DE', 'NA']),
  column('a text among numbers', ['1', 'two', '3'], 'string', ['1', 'two', '3']),
  column('numbers with blanks around', [' 1', '2 '], 'long', [1, 2]),
  // Truths
  column('true and false', ['true', 'FALSE'], 'bool', [true, false]),
  column('yes and no', ['yes', 'No'], 'bool', [true, false]),
  column('t and f', ['t', 'f'], 'bool', [true, false]),
  column('y and n', ['Y', 'n'], 'bool', [true, false]),
  column('only true', ['TRUE', 'true'], 'bool', [true, true]),
  column('only false', ['false'], 'bool', [false]),
  column('only no, a country', ['NO', 'NO'], 'string', ['NO', 'NO']),
  column('only yes', ['Yes', 'yes'], 'string', ['Yes', 'yes']),
  column('only y', ['Y', 'Y'], 'string', ['Y', 'Y']),
  column('only n', ['N'], 'string', ['N']),
  column('only t', ['t', 'T'], 'string', ['t', 'T']),
  column('only f', ['F'], 'string', ['F']),
  column('on and off', ['on', 'OFF'], 'string', ['on', 'OFF']),
  column('only on, a province', ['ON', 'ON'], 'string', ['ON', 'ON']),
  column('words of two pairs', ['yes', 'false'], 'string', ['yes', 'false']),
  column('a country beside missing ones', ['NO', 'N/A', ''], 'string', ['NO', 'N/A', null]),
  column('ones and zeros are numbers', ['1', '0'], 'long', [1, 0]),
  // Dates and times
  column('ISO days', ['2024-12-25', '2024-01-02'], 'day', ['2024-12-25', '2024-01-02']),
  column('days with slashes', ['2024/12/25', '2024/1/2'], 'day', ['2024-12-25', '2024-01-02']),
  column('days with points', ['25.12.2024', '3.4.2024'], 'day', ['2024-12-25', '2024-04-03'], {
    format: { dates: 'dmy' },
  }),
  column('the day first', ['25/12/2024', '03/04/2024'], 'day', ['2024-12-25', '2024-04-03'], {
    format: { dates: 'dmy' },
  }),
  column('the month first', ['12/25/2024', '03/04/2024'], 'day', ['2024-12-25', '2024-03-04'], {
    format: { dates: 'mdy' },
  }),
  column('the day first, with dashes', ['25-12-2024'], 'day', ['2024-12-25']),
  column('the day or the month first', ['03/04/2024', '05/06/2024'], 'string', ['03/04/2024', '05/06/2024'], {
    open: /^03\/04\/2024 may have the day or the month first/,
  }),
  column('the day or the month first, by option', ['03/04/2024'], 'day', ['2024-03-04'], { given: { dates: 'mdy' } }),
  column('days of two countries', ['25/12/2024', '12/25/2024'], 'string', ['25/12/2024', '12/25/2024'], {
    open: /the day first, as 25\/12\/2024, and the month first/,
  }),
  column('ISO times', ['2024-12-25T13:30:00Z', '2024-12-25T13:30:00.5Z'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-25T13:30:00.500Z',
  ]),
  column('times of SQL', ['2024-12-25 13:30:00', '2024-12-26 00:00:00'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-26T00:00:00.000Z',
  ]),
  column('times with a zone', ['2024-12-25T13:30:00+02:00'], 'date', ['2024-12-25T11:30:00.000Z']),
  column(
    'times of psql',
    ['2025-01-01 10:00:00+00', '1890-01-01 12:00:00.5+00:19:32', '0044-03-15 10:00:00+00 BC'],
    'date',
    ['2025-01-01T10:00:00.000Z', '1890-01-01T11:40:28.500Z', '-000043-03-15T10:00:00.000Z'],
  ),
  column(
    'times of Java, .NET and JavaScript',
    ['2025-07-01T12:00+02:00[Europe/Berlin]', '2025-07-01 12:00:00 -05:00', '+012345-03-15T00:00:00.000Z'],
    'date',
    ['2025-07-01T10:00:00.000Z', '2025-07-01T17:00:00.000Z', '+012345-03-15T00:00:00.000Z'],
  ),
  column('a time with more after it', ['2025-01-01 10:00:00+2', '2025-01-01 10:00'], 'string', [
    '2025-01-01 10:00:00+2',
    '2025-01-01 10:00',
  ]),
  column('numbers of parts', ['12345-10-12', '12345-10-13'], 'string', ['12345-10-12', '12345-10-13']),
  column('times with points', ['25.12.2024 8:30', '1.2.2024 13:05'], 'date', [
    '2024-12-25T08:30:00.000Z',
    '2024-02-01T13:05:00.000Z',
  ]),
  column('times of 12 hours', ['12/25/2024 1:30 PM', '12/26/2024 12:05 am'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-26T00:05:00.000Z',
  ]),
  column('years of two digits', ['25.12.24', '26.12.24'], 'string', ['25.12.24', '26.12.24']),
  column('names of months', ['25 Dec 2024', '1 Jan 2025'], 'string', ['25 Dec 2024', '1 Jan 2025']),
  column('days in eight digits are numbers', ['20241225'], 'long', [20_241_225]),
  column('a day that does not exist', ['2024-02-30', '2024-02-28'], 'string', ['2024-02-30', '2024-02-28']),
  column('clocks', ['08:30', '23:59:59'], 'duration', [30_600_000, 86_399_000]),
  column('years', ['1999', '2024'], 'long', [1999, 2024]),
  // Other values
  column('UUIDs', ['01234567-89ab-cdef-0123-456789abcdef'], 'uuid', ['0123456789ABCDEF0123456789ABCDEF']),
  column('objects', ['{"a":[1]}', '{}'], 'object', [{ a: [1] }, {}]),
  column('short arrays', ['[1,2]', '[3]'], 'object', [[1, 2], [3]]),
  column('objects with long integers', ['{"a":9007199254740993}'], 'object', [{ a: 9007199254740992n }]),
  column('vectors', ['[1,2,3,4,5,6,7,8]'], 'vector(8)', [[1, 2, 3, 4, 5, 6, 7, 8]]),
  column('braces that are no JSON', ['{a}', '[b]'], 'string', ['{a}', '[b]']),
  column('formulas', ['=1+1', '@SUM(A1)'], 'string', ['=1+1', '@SUM(A1)']),
  column('HTML', ['<b>x</b>', '&amp;'], 'string', ['<b>x</b>', '&amp;']),
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

t.test('one hundred oddities', async t => {
  const guessed: GuessedFile[] = []
  for (const { file, given } of ODDITIES)
    guessed.push(await guessFile(typeof file === 'string' ? Buffer.from(file) : file, given))
  const loaded = await loadGuessed(t, guessed)
  t.ok(ODDITIES.length >= 100, `${ODDITIES.length}`)
  for (const [i, { name, types, rows, rejected = {}, format, open, key }] of ODDITIES.entries()) {
    const { sample, proposed } = guessed[i]!
    t.strictSame(typesOf(guessed[i]!), types, `${name}: types`)
    t.strictSame(loaded[i]!.rows, rows, `${name}: values`)
    t.strictSame(
      loaded[i]!.rejected.map(({ line }) => String(line)),
      Object.keys(rejected),
      `${name}: rejected rows`,
    )
    for (const { line, errors } of loaded[i]!.rejected) t.match(errors[0], rejected[line], name)
    if (format) t.match(sample.format, format, name)
    if (open) t.match(sample.open, [open], name)
    else t.strictSame(sample.open, [], name)
    if (key) t.equal(proposed.dataClass.key, key, name)
  }
})

t.test('an empty file has no columns', async t => {
  for (const text of ['', '\n\n', MARK])
    t.strictSame((await guessFile(Buffer.from(text))).sample.columns, [], JSON.stringify(text))
})
