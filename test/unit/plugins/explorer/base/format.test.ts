import t from 'tap'
import { parseDate } from '../../../../../plugins/explorer/page/base/dates.ts'
import type { Attribute } from '../../../../../plugins/explorer/page/base/model.ts'
import { convertRow } from '../../../../../plugins/explorer/page/paste/columns.ts'
import { parseTable, writeTable } from '../../../../../plugins/explorer/page/paste/table.ts'

// A time zone other than that of the server, and the languages of a browser.
process.env.TZ = 'Pacific/Auckland'
Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { languages: ['en-GB'] } })
// `as string`: these modules are of a project with the types of browsers.
const { exactText, format, formatDuration } = (await import(
  '../../../../../plugins/explorer/page/base/format.ts' as string
)) as {
  exactText(value: unknown, attribute: Attribute): string | null
  format(value: unknown, attribute: Attribute): string
  formatDuration(milliseconds: number): string
}
const { chooseLanguage } = (await import('../../../../../plugins/explorer/page/base/texts.ts' as string)) as {
  chooseLanguage(code: string): void
}

const attribute = (type: string, more: Partial<Attribute> = {}): Attribute => ({
  name: 'a',
  kind: 'storage',
  type,
  ...more,
})
const day = attribute('date', { simpleDate: true })

t.afterEach(() => chooseLanguage(''))

t.test('dates without a time are the same day everywhere', async t => {
  t.equal(format('21!8!2026', day), 'Aug 21, 2026')
  t.equal(format('2026-08-21', day), 'Aug 21, 2026')
  t.equal(format('1!1!0033', day), 'Jan 1, 33', 'a year below 100 is not moved to this century')
  t.equal(format('0!0!0', day), '', 'the empty date of the protocol')
  t.equal(format('soon', day), 'soon')
  chooseLanguage('de')
  t.equal(format('21!8!2026', day), '21.08.2026')
})

t.test('dates with a time are shown in the local time zone', async t => {
  t.match(format('2026-08-21T22:30:00.000Z', attribute('date')), /^Aug 22, 2026, 10:30:00\sAM$/)
  chooseLanguage('de')
  t.equal(format('2026-08-21T22:30:00.000Z', attribute('date')), '22.08.2026, 10:30:00')
})

t.test('texts of dates', async t => {
  t.equal(parseDate('21!8!2026')?.toISOString(), '2026-08-21T00:00:00.000Z')
  t.equal(parseDate('2026-08-21T22:30:00Z')?.toISOString(), '2026-08-21T22:30:00.000Z')
  for (const text of ['0!0!0', '', 'soon']) t.equal(parseDate(text), undefined, text)
})

t.test('durations', async t => {
  for (const [milliseconds, text] of [
    [0, '0:00:00'],
    [5_000, '0:00:05'],
    [3_909_000, '1:05:09'],
    [360_000_000, '100:00:00'],
    [1_005, '0:00:01.005'],
    [-61_050, '−0:01:01.050'],
    [0.5, '0:00:00.0005'],
    [1e21, '1e+21'],
  ] as const) {
    t.equal(formatDuration(milliseconds), text)
    t.equal(format(milliseconds, attribute('duration')), text)
  }
})

t.test('numbers are formatted as amounts, keys are not', async t => {
  t.equal(format(1_376_048.5, attribute('number')), '1,376,048.5')
  t.equal(format(1_376_048, attribute('long', { identifying: true })), '1376048')
  t.equal(format(2.5, attribute('number', { scale: 2 })), '2.50')
  t.equal(format('9007199254740993', attribute('long64')), '9007199254740993', 'more digits than a double holds')
  chooseLanguage('de')
  t.equal(format(1_376_048.5, attribute('number')), '1.376.048,5')
})

t.test('copied values are read again as they are', async t => {
  const cases: readonly [unknown, Attribute, english: string | null, german?: string][] = [
    [1234.5, attribute('number'), '1234.5', '1234,5'],
    [1234567, attribute('long'), '1234567'],
    [1.5e-7, attribute('number'), '1.5e-7', '1,5e-7'],
    ['9007199254740993', attribute('long64'), '9007199254740993'],
    ['12345678901234.5678', attribute('number', { scale: 4 }), '12345678901234.5678', '12345678901234,5678'],
    [-90_061_000.5, attribute('duration'), '-25:01:01.0005'],
    ['21!8!2026', day, '2026-08-21'],
    ['2026-08-21T22:30:00.123Z', attribute('date'), '2026-08-21T22:30:00.123Z'],
    ['', attribute('string'), ''],
    [' null', attribute('string'), ' null'],
    [true, attribute('bool'), 'true'],
    [{ a: [1] }, attribute('object'), '{"a":[1]}'],
    [[1, 0.5], attribute('object', { dimension: 2 }), '[1,0.5]'],
    [null, attribute('string'), null],
    [{ __deferred: {} }, attribute('image'), null],
  ]
  for (const [language, sign] of [
    ['en', '.'],
    ['de', ','],
  ] as const) {
    chooseLanguage(language)
    for (const [value, of, english, german = english] of cases) {
      const copied = exactText(value, of)
      t.equal(copied, language === 'de' ? german : english, `${value}`)
      if (of.type === 'image') continue
      const { values } = convertRow(parseTable(writeTable([['x', copied]]))[0]!, [undefined, of], sign)
      const stored: unknown = JSON.parse(values.get('a')!)
      const isText = typeof stored === 'string' && typeof value === 'number'
      t.same(isText ? Number(stored) : stored, of === day ? '2026-08-21' : value, `${value} pasted`)
    }
  }
})

t.test('others', async t => {
  t.equal(format(null, attribute('string')), '')
  t.equal(format(undefined, day), '')
  t.equal(format({ b: [1] }, attribute('object')), '{"b":[1]}')
  t.equal(format(true, attribute('bool')), 'true')
})
