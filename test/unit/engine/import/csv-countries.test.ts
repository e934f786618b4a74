/** Amounts with currencies, and dates with names of months or years of two digits. */
import t from 'tap'
import { splitAmount } from '../../../../engine/import/amounts.ts'
import { foreignDate, TWO_CENTURIES } from '../../../../engine/import/foreign-dates.ts'
import { guessFile, loadGuessed } from '../../../support/commands/guessed-class.ts'
import { column, loadEach, type Oddity } from './oddities.ts'

const ODDITIES: readonly Oddity[] = [
  column('dollars', ['$13.37', '$1,234.00', '-$5'], 'decimal(2)', [13.37, 1234, -5], {
    format: { decimal: '.', currencies: ['$'] },
  }),
  column('euros', ['1.234,50 €', '-2,00 €', '7 €'], 'decimal(2)', [1234.5, -2, 7], {
    format: { decimal: ',', currencies: ['€'] },
  }),
  column('amounts of accountants', ['($5.125)'], 'decimal(3)', [-5.125]),
  column('currencies as words', ['CHF 12.50', "CHF 1'200.00"], 'decimal(2)', [12.5, 1200]),
  column('whole amounts', ['¥500', '¥1200'], 'decimal(2)', [500, 1200]),
  column('amounts and N/A', ['$1.50', 'N/A'], 'decimal(2)', [1.5, null], { format: { nulls: ['N/A'] } }),
  column('an amount without a currency among others', ['$1.50', '2.50'], 'string', ['$1.50', '2.50']),
  column('amounts with thousands or decimals', ['$1,234'], 'string', ['$1,234'], { open: /^1,234 may have thousands/ }),
  column('words after numbers', ['5 Taler', '6 Taler'], 'string', ['5 Taler', '6 Taler']),
  column('amounts in the currency of an option', ['5 Taler', '6 Taler'], 'decimal(2)', [5, 6], {
    given: { currencies: ['Taler'] },
  }),
  column('amounts of more than 18 digits', ['$12345678901234567.89'], 'string', ['$12345678901234567.89']),
  column('names of months first', ['Jun 12 1998', 'July 1, 2001'], 'day', ['1998-06-12', '2001-07-01']),
  column('names of months between dashes', ['12-Jun-98', '01-JUL-2001'], 'day', ['1998-06-12', '2001-07-01']),
  column('names of months of other countries', ['12. Juni 1998', '1 août 2001', '3 de março de 2002'], 'day', [
    '1998-06-12',
    '2001-08-01',
    '2002-03-03',
  ]),
  column('names of months with times', ['Jun 12 1998 1:30 PM', '12 Jun 1998 08:00:00 +0200'], 'date', [
    '1998-06-12T13:30:00.000Z',
    '1998-06-12T06:00:00.000Z',
  ]),
  column('dates of mails', ['Fri, 12 Jun 1998 08:00:00 GMT'], 'date', ['1998-06-12T08:00:00.000Z']),
  column('dates of the command date', ['Fri Jun 12 08:00:00 UTC 1998'], 'date', ['1998-06-12T08:00:00.000Z']),
  column('months without a day', ['Jun 1998', 'May 2020'], 'string', ['Jun 1998', 'May 2020']),
  column('a month that does not exist', ['12 Jux 1998'], 'string', ['12 Jux 1998']),
  column('a day that its month does not have', ['31 Jun 1998'], 'string', ['31 Jun 1998']),
  column('months and years of two centuries', ['12-Jun-45', '12-Jun-98'], 'string', ['12-Jun-45', '12-Jun-98'], {
    open: /^12-Jun-45 has a year of two digits: --years 1930 reads/,
  }),
  column('years of two centuries, by option', ['12-Jun-45', '12-Jun-98'], 'day', ['1945-06-12', '1998-06-12'], {
    given: { years: 1930 },
  }),
  column('years of two digits', ['25.12.24', '26.12.24'], 'string', ['25.12.24', '26.12.24'], {
    open: /^25\.12\.24 has a year of two digits/,
  }),
  column('years of two digits, by option', ['25.12.24', '1.2.45'], 'day', ['2024-12-25', '2045-02-01'], {
    given: { years: 1950 },
  }),
  column('versions', ['1.2.24', '10.2.1'], 'string', ['1.2.24', '10.2.1']),
]

loadEach(ODDITIES, 24)

t.test('a later amount in another currency is rejected', async t => {
  const [head, tail] = ['n,v\na,$1.50\nb,$2\n', 'c,€3\nd,4\ne,$5\n']
  const guessed = await guessFile(Buffer.from(head + tail), {}, 'csv', Buffer.from(head))
  const [loaded] = await loadGuessed(t, [guessed])
  t.strictSame(loaded!.rows, [
    ['a', 1.5],
    ['b', 2],
    ['e', 5],
  ])
  t.match(loaded!.rejected, [
    { line: 4, errors: [/decimal, proposed/] },
    { line: 5, errors: [/decimal, proposed/] },
  ])
})

t.test('amounts and dates that are something else, and long texts', async t => {
  for (const text of ['5 KG', '$', '$-', '(5 €', '-$-5', '1 € 2', '€1€', `$${'1 '.repeat(50_000)}x`])
    t.equal(splitAmount(text), undefined, text.slice(0, 20))
  for (const text of ['Jun', '12 Jun', '1e12', '12MAY', 'Jun 1998', `${'1 Jun '.repeat(20_000)}1998`])
    t.equal(foreignDate(text, { dates: 'dmy' }), undefined, text.slice(0, 20))
  t.equal(foreignDate('12-Jun-69', {}), TWO_CENTURIES)
  t.equal(foreignDate('12-Jun-69', { years: 1970 }), '2069-06-12')
})
