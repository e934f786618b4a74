import t from 'tap'
import { parseDate, parseDay } from '../../../../../engine/base/time/read-date.ts'
import { formatDate } from '../../../../../engine/catalog/types/wire-date.ts'
import { codeIn, tablesOf } from '../../../../support/checks/page-tables.ts'
import { DATE_FORMS } from '../../../../support/reference/date-forms.ts'
import { naiveDate } from '../../../../support/reference/read-date.ts'

const rows = tablesOf('plugins/docs/pages/guide/model.md').get('Dates and times')!

t.test(
  'the forms of plugins/docs/pages/guide/model.md are those that the property test writes, and mean what the page says',
  async t => {
    const forms = rows.filter(row => row.form)
    t.strictSame(
      forms.map(({ form }) => form),
      Object.keys(DATE_FORMS),
    )
    for (const { examples, moment } of forms) {
      for (const text of codeIn(examples!)) {
        t.equal(new Date(parseDate(text)!).toISOString(), codeIn(moment!)[0], text)
        t.strictSame({ ms: parseDate(text), day: parseDay(text) }, naiveDate(text), text)
        t.equal(parseDate(`\t${text} `), parseDate(text), 'blanks around it are ignored')
        for (const more of ['x', '0 ', '!', ' 1', '.5.'])
          t.equal(parseDate(text + more), naiveDate(text + more)?.ms, text + more)
      }
    }
  },
)

t.test('what plugins/docs/pages/guide/model.md refuses is not a date', async t => {
  const texts = rows.filter(row => row.refused).flatMap(row => codeIn(row.refused!))
  t.ok(texts.length > 15)
  for (const text of texts) {
    t.equal(parseDate(text), undefined, text)
    t.equal(parseDay(text), undefined, text)
  }
})

const yearOf = (year: number) => new Date(0).setUTCFullYear(year, 2, 15)
const day = Date.UTC(2020, 0, 31)
const cases: [string, number | undefined][] = [
  ['2020-01-31', day],
  ['2020-1-31', day],
  ['2020/01/31', day],
  ['31!1!2020', day],
  ['31!01!2020', day],
  ['!31!1!2020!', day],
  ['!!2020-01-31!!', day],
  ['  2020-01-31 ', day],
  ['2020-01-31T15:23:00Z', Date.UTC(2020, 0, 31, 15, 23)],
  ['2020-01-31T15:23:00.000Z', Date.UTC(2020, 0, 31, 15, 23)],
  ['2020-01-31T15:23:00.57Z', Date.UTC(2020, 0, 31, 15, 23, 0, 570)],
  ['2020-01-31 15:23', Date.UTC(2020, 0, 31, 15, 23)],
  ['2020-01-31T15:23:00+02:00', Date.UTC(2020, 0, 31, 13, 23)],
  ['2020-01-31T15:23-0130', Date.UTC(2020, 0, 31, 16, 53)],
  ['2020-01-31T15:23:00-05', Date.UTC(2020, 0, 31, 20, 23)],
  ['2020-01-31T15:23:00+05:30', Date.UTC(2020, 0, 31, 9, 53)],
  ['2020-01-31T15:23:00-00:00', Date.UTC(2020, 0, 31, 15, 23)],
  ['2020-01-31T15:23:00+18:00', Date.UTC(2020, 0, 30, 21, 23)],
  ['2020-01-31T15:23:00.0000000+18:00', Date.UTC(2020, 0, 30, 21, 23)],
  ['2020-01-31T15:23:00+18:00:01', undefined],
  ['2020-01-31T15:23:00+0019:32', undefined],
  ['2020-01-31T15:23:00+02:', undefined],
  ['2020-01-31T15:23:00+02:60', undefined],
  ['2020-01-31T15:23:00+020', undefined],
  ['2020-01-31T15:23:00ZZ', undefined],
  ['2020-01-31T15:23:00+02Z', undefined],
  ['2020-01-31T15:23:00+02[]', undefined],
  ['2020-01-31T15:23:00+02[!Europe/Berlin]', undefined],
  ['2020-01-31  15:23', undefined],
  ['2020-01-31T 15:23', undefined],
  ['2020-01-31T15:2', undefined],
  ['2020-01/31', undefined],
  ['2020-01-31-', undefined],
  ['2020--01-31', undefined],
  ['2020-01-31 15:23:00:00', undefined],
  ['2020-01-31 15:23.5', undefined],
  ['1969-12-31T23:59:59.9999Z', -1],
  ['275760-09-13', 8.64e15],
  ['275760-09-14', undefined],
  ['275760-09-13T00:00:00.001Z', undefined],
  ['+275760-09-13T12:00:00+12:00', 8.64e15],
  ['5874897-12-31', undefined],
  ['0000-01-01 BC', undefined],
  ['-000044-03-15 BC', undefined],
  ['0044/03/15 BC', undefined],
  ['15!3!44 BC', undefined],
  ['2020-01-31 15:23:00+02 BC', new Date('-002019-01-31T13:23:00Z').getTime()],
  ['-000000-01-01', undefined],
  ['!31/01/2020!', undefined],
  ['!!2020-01-31!', undefined],
  ['!!2020-01-31T10:00:00Z!!', undefined],
  ['12/06/17', undefined],
  ['123-01-01', undefined],
  ['2020-02-29', Date.UTC(2020, 1, 29)],
  ['2021-02-29', undefined],
  ['2020-13-01', undefined],
  ['2020-00-10', undefined],
  ['2020-01-31T24:00:00Z', undefined],
  ['31/01/2020', undefined],
  ['2020', undefined],
  ['2020-01', undefined],
  ['', undefined],
  ['31 January 2020 1 1', undefined],
  ['yesterday', undefined],
  [`2020-01-31${' '.repeat(100)}`, undefined],
  ['999999999999-01-01', undefined],
  ['-0044-03-15', undefined],
  ['-44-03-15', undefined],
  [' -0044-03-15T10:00:00Z', undefined],
  ['!!-0044-03-15!!', undefined],
  ['-15!3!2020', undefined],
  ['-000044-03-15', yearOf(-44)],
  ['15!3!-44', yearOf(-44)],
  ['!15!3!-44!', yearOf(-44)],
  ['+002020-03-15', yearOf(2020)],
  ['+2020-03-15', yearOf(2020)],
  ['0044-03-15', yearOf(44)],
]
for (const [text, expected] of cases) {
  t.test(
    `${JSON.stringify(text.slice(0, 40))} is ${expected === undefined ? 'not a date' : new Date(expected).toISOString()}`,
    async t => {
      t.equal(parseDate(text), expected)
    },
  )
}

t.test('dates of any year that toISOString writes are read back', async t => {
  for (const year of [-271820, -1, 0, 1, 99, 1999, 9999, 10000, 275000]) {
    const ms = new Date(0).setUTCFullYear(year, 4, 6)
    t.equal(parseDate(new Date(ms).toISOString()), ms, String(year))
    t.equal(
      parseDay(formatDate(ms, true, { dateOnlyFormat: 'dmy' })),
      parseDay(new Date(ms).toISOString()),
      String(year),
    )
  }
})

t.test('the day of a date-only attribute is the one written, whatever the offset', async t => {
  t.equal(parseDay('2020-01-31T00:30:00+02:00'), day)
  t.equal(parseDay('2020-01-31T23:30:00Z'), day)
  t.equal(parseDay('31!1!2020'), day)
  t.equal(parseDay('soon'), undefined)
})

t.test('days of ten thousand years are read and written as Date does', async t => {
  const wrong: string[] = []
  const end = Date.UTC(10_000, 0)
  for (let day = new Date(0).setUTCFullYear(0, 0, 1); day < end; day += 5 * DAY) {
    // Another time each day, midnight among them.
    const number = day / DAY
    const ms = day + (number % 7 === 0 ? 0 : Math.abs(number * 7_919_417) % DAY)
    const text = new Date(ms).toISOString()
    if (parseDate(text) !== ms || parseDay(text.slice(0, 10)) !== day || formatDate(ms, false, ISO) !== text)
      wrong.push(text)
  }
  t.strictSame(wrong.slice(0, 10), [])
})

t.test('a day or a time that does not exist is refused', async t => {
  for (const text of [
    ...['2023-02-29', '1900-02-29', '2020-02-30', '2020-04-31', '2020-00-01', '2020-13-01', '2020-01-00', '2020-01-32'],
    ...['2020-01-31T24:00:00Z', '2020-01-31T23:60:00Z', '2020-01-31T23:59:60.000Z'],
  ]) {
    t.equal(parseDate(text), undefined, text)
  }
  t.equal(parseDate('2000-02-29'), Date.UTC(2000, 1, 29))
})

const DAY = 86_400_000
const ISO = { dateOnlyFormat: 'iso' } as const
