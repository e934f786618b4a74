/** `tesser load` reads files of other countries, and gives hints for them. */
import t from 'tap'
import { world } from './load-people.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

t.setTimeout(120_000)

t.test(
  'files in formats of other countries: delimiters, decimal commas, dates, encodings, and hints for them',
  async t => {
    const { load, people } = world(t, {
      'a.csv': Buffer.from('sep=;\r\nID;name;big;born\r\n1;\xc9va;1.234.567;31.12.2024\r\n', 'latin1'),
      'b.csv': 'ID\tname\tborn\n2\tB\t2024-1-5\n',
      'c.csv': 'ID|name|big|born\n3|C|1 000|12/31/2024\n4|D|1|1.2.24\n',
    })
    const german = { encoding: 'windows-1252', decimal: ',', dates: 'dmy' } as const
    t.match(await load('a.csv', german), { isComplete: true, text: '1 row read: 1 inserted\n' })
    t.match(await load('b.csv'), { isComplete: true })
    const { text, rejected } = await load('c.csv')
    t.match(
      text,
      /big has numbers such as 1 000: --decimal "." or "," reads them\nborn has dates such as 12\/31\/2024: --dates mdy reads/,
    )
    t.match(rejected, [{ line: 3, errors: [/year of "1\.2\.24" has fewer than four digits/] }, { line: 2 }])
    t.match(await load('c.csv', { decimal: '.', dates: 'mdy' }), { text: /^2 rows read: 1 inserted, 1 rejected/ })
    t.match(await people(), [
      { ID: 1, name: 'Éva', big: 1234567, born: '2024-12-31' },
      { ID: 2, born: '2024-01-05' },
      { ID: 3, big: 1000, born: '2024-12-31' },
    ])
  },
)

t.test('decimals are loaded to the last digit, from number formats of any country', async t => {
  const attributes = { ID: { type: 'long' }, price: { type: 'decimal', scale: 2, asText: true } }
  const { load, people } = world(t, {
    'model.json': JSON.stringify(modelWith({ Person: attributes })),
    'dots.csv': 'ID,price\n1,9999999999999999.99\n2,1.5\n3,1.005\n4,\n',
    'commas.csv': 'ID;price\n5;1.234,50\n6;-0,1\n7;1,234.50\n',
    'rows.json':
      '[{"ID":8,"price":9999999999999999.98},{"ID":9,"price":"0.10"},{"ID":10,"price":1234567890123456.781}]',
  })
  const refused = (price: RegExp) => ({ errors: [price] })
  const dots = await load('dots.csv')
  t.match(dots.rejected, [refused(/^price cannot be "1\.005"; .* 2 after it is expected$/)])
  t.notMatch(dots.text, /reads them/, 'which would read it as 1005')
  const hint = await load('commas.csv')
  t.match(hint.text, /price has numbers such as 1\.234,50: --decimal "," reads them/)
  t.match((await load('commas.csv', { decimal: ',' })).rejected, [refused(/^price cannot be "1,234\.50"; /)])
  t.match((await load('rows.json')).rejected, [refused(/^price cannot be 1234567890123456\.781; /)])
  t.match(await people(), [
    { ID: 1, price: '9999999999999999.99' },
    { ID: 2, price: '1.50' },
    { ID: 4, price: null },
    { ID: 5, price: '1234.50' },
    { ID: 6, price: '-0.10' },
    { ID: 8, price: '9999999999999999.98' },
    { ID: 9, price: '0.10' },
  ])
})

t.test('for values of a wrong type, hints name options that would read them', async t => {
  const { load } = world(t, {
    'other.csv': 'ID;name;big;born\n1;much too long;1,5;2024-05-01\n2;B;1,5;05.01.2024\n3;C;1;x\n',
    'dots.csv': 'ID;big\n1;1.000\n',
    'duplicates.csv': 'ID;name;big;born\n7;A;1.000;31.12.2024\n7;B;1.000;31.12.2024\n',
  })
  const first = await load('other.csv')
  t.match(
    first.text,
    /says why\nafter you fix its rows: .*\nborn has dates such as 05\.01\.2024: --dates dmy or mdy reads them\n$/,
  )
  t.match((await load('other.csv', { dates: 'dmy' })).text, /says why\nafter you fix its rows: .*\n$/)
  t.match(await load('other.csv', { decimal: ',', dates: 'dmy' }), {
    text: /says why\nafter you fix its rows: .*\n$/,
    rejected: { 1: { errors: [/^big cannot be "1,5"; /], row: { big: '1,5', born: '05.01.2024' } } },
  })
  t.match(
    (await load('dots.csv', { decimal: '.' })).text,
    /big has numbers such as 1\.000: --decimal "," reads them\n$/,
  )
  t.match(
    (await load('duplicates.csv', { decimal: ',', dates: 'dmy' })).text,
    /1 inserted, 1 rejected\n.* says why\nafter you fix its rows: .* --decimal , --dates dmy .*\n$/,
  )
})
