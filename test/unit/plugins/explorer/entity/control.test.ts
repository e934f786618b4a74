/** Fields of the browser for stored values, and what is left of these after typing. */
import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import type { Attribute } from '../../../../../plugins/explorer/page/base/model.ts'
import { controlOf, shownText, typedInput } from '../../../../../plugins/explorer/page/entity/control.ts'
import type { Input } from '../../../../../plugins/explorer/page/entity/editor.ts'
import { laidOut, membersOf, objectOf } from '../../../../../plugins/explorer/page/entity/json-text.ts'
import { restoreEnds, withPlainEnds } from '../../../../../plugins/explorer/page/entity/line-ends.ts'
import { instantOf, localTime } from '../../../../../plugins/explorer/page/entity/times.ts'

process.env.TZ = 'Europe/Berlin'

const of = (type: string, others: Partial<Attribute> = {}): Attribute => ({
  name: 'a',
  kind: 'storage',
  type,
  ...others,
})

t.test('line ends stay where the user has not typed', async t => {
  const cases: readonly [before: string, typed: string, after: string][] = [
    ['a\n\n\nb\r\nc', 'a\n\n\nb\nc!', 'a\n\n\nb\r\nc!'],
    ['a\r\nb\r\n', 'a\nx\nb\n', 'a\r\nx\r\nb\r\n'],
    ['a\rb', 'a\nb\nc', 'a\rb\rc'],
    ['a\r\nb\nc\rd', 'a\nb\nx\nc\nd', 'a\r\nb\nx\nc\rd'],
    ['a\r\nb\nc', 'x\nb\nc', 'x\r\nb\nc'],
    ['a\r\nb', 'ab', 'ab'],
    ['a\rx\nb', 'a\n\nb', 'a\n\nb'],
    ['a\r\nb', 'a\nb', 'a\r\nb'],
    ['a', 'a\nb', 'a\nb'],
    ['\u2028a\0\u202e', '\u2028ab\0\u202e', '\u2028ab\0\u202e'],
  ]
  for (const [before, typed, after] of cases) t.equal(restoreEnds(before, before, typed), after, encodeURI(before))
  t.equal(restoreEnds('a\r\nb', 'a\r\nbc', 'a\nb'), 'a\r\nb', 'what is typed and removed leaves nothing')
  t.equal(restoreEnds('a\r\nb', 'ab', 'a\nb'), 'a\r\nb', 'a line end that was removed comes back')
  const text = fc.array(fc.constantFrom('\r', '\n', '\r\n', 'a'), { maxLength: 8 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(text, text, text, (stored, before, other) => {
      const typed = withPlainEnds(other)
      const after = restoreEnds(stored, before, typed)
      if (withPlainEnds(after) !== typed) t.fail(JSON.stringify({ stored, before, typed, after }))
    }),
    { numRuns: 2_000 },
  )
})

t.test('instants survive local times, in hours that clocks repeat or skip too', async t => {
  const summer = '2025-10-26T00:30:00.000Z'
  const winter = '2025-10-26T01:30:00.000Z'
  t.equal(localTime(summer), '2025-10-26T02:30:00.000')
  t.equal(localTime(winter), '2025-10-26T02:30:00.000')
  t.equal(localTime('2025-07-01T10:00:05.120Z'), '2025-07-01T12:00:05.120')
  t.equal(localTime('1890-01-01T00:00:00.000Z'), '1890-01-01T00:53:28.000', 'an offset with seconds')
  const cases: readonly [typed: string, near: string | undefined, instant: string][] = [
    ['2025-10-26T02:31', summer, '2025-10-26T00:31:00.000Z'],
    ['2025-10-26T02:31', winter, '2025-10-26T01:31:00.000Z'],
    ['2025-12-26T02:30', summer, '2025-12-26T01:30:00.000Z'],
    ['2025-07-01T12:00:05.12', undefined, '2025-07-01T10:00:05.120Z'],
    ['2025-07-01 12:00', undefined, '2025-07-01T10:00:00.000Z'],
    ['2025-03-30T02:30', undefined, '2025-03-30T02:30'],
    ['2025-02-30T02:30', undefined, '2025-02-30T02:30'],
    ['', undefined, ''],
  ]
  for (const [typed, near, instant] of cases) t.equal(instantOf(typed, near), instant, `${typed} near ${near}`)
  const date = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
  fc.assert(
    fc.property(date, each => {
      const instant = each.toISOString()
      if (instantOf(localTime(instant), instant) !== instant) t.fail(instant)
    }),
    { numRuns: 500 },
  )
})

t.test('values are edited in fields that hold them', async t => {
  const cases: readonly [Attribute, Input, string][] = [
    [of('string'), 'a', 'area'],
    [of('uuid'), null, 'area'],
    [of('object'), '{}', 'area'],
    [of('long64'), '9007199254740993', 'text'],
    [of('duration'), '1:05:09', 'text'],
    [of('date', { simpleDate: true }), null, 'date'],
    [of('date', { simpleDate: true }), '0001-01-01', 'date'],
    [of('date', { simpleDate: true }), '0000-01-01', 'text'],
    [of('date', { simpleDate: true }), '-000044-03-15', 'text'],
    [of('date', { simpleDate: true }), '+010000-01-01', 'text'],
    [of('date', { simpleDate: true }), '15!3!-44', 'text'],
    [of('date'), '2025-01-31T13:23:00.120Z', 'datetime-local'],
    [of('date'), '2025-01-31T13:23:00.120456Z', 'text'],
    [of('date'), '9999-12-31T23:59:59.999Z', 'text'],
    [of('date'), '-000044-03-15T00:00:00.000Z', 'text'],
    [of('date'), 'infinity', 'text'],
  ]
  for (const [attribute, stored, control] of cases) t.equal(controlOf(attribute, stored), control, String(stored))
  t.equal(shownText('area', 'a\r\nb'), 'a\nb')
  t.equal(shownText('text', null), '')
})

t.test('an empty field is null, or the empty text that is stored', async t => {
  const cases: readonly [Input, Parameters<typeof typedInput>[0], boolean, Input][] = [
    ['a', 'area', false, null],
    ['', 'area', false, ''],
    [null, 'area', false, null],
    ['2025-01-31', 'date', false, null],
    ['2025-01-31', 'date', true, ''],
    ['2025-01-31T13:23:00.120Z', 'datetime-local', true, ''],
  ]
  for (const [stored, control, isPartial, input] of cases) {
    t.equal(typedInput(control, { stored, before: stored, typed: '', isPartial }), input, `${control} ${stored}`)
  }
})

t.test('JSON is laid out, split and put together as text', async t => {
  const json = '{"a":1.0,"a" : {"b":[ 1,{}]},"__proto__":"x\\"}","c,":12345678901234567890,"d":[]}'
  t.same(
    [...membersOf(json)],
    [
      ['a', '{"b":[ 1,{}]}'],
      ['__proto__', '"x\\"}"'],
      ['c,', '12345678901234567890'],
      ['d', '[]'],
    ],
  )
  t.same([...membersOf('{}')], [])
  t.equal(laidOut('[ ]'), '[]')
  t.equal(laidOut('-1.0e3'), '-1.0e3')
  const members = fc.array(fc.tuple(fc.string(), fc.jsonValue()))
  fc.assert(
    fc.property(members, pairs => {
      const texts = pairs.map(([name, value]) => [name, JSON.stringify(value)] as const)
      t.same(
        [...membersOf(laidOut(objectOf(texts)))].map(([name, text]) => [name, JSON.stringify(JSON.parse(text))]),
        [...new Map(texts)],
      )
    }),
  )
  const long = JSON.stringify({ text: '\n'.repeat(300_000) })
  t.equal(membersOf(long).get('text')?.length, 600_002)
})
