import t from 'tap'
import type { DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import { quickFilter } from '../../../../../plugins/explorer/page/find/quick.ts'
import { parseQuery } from '../../../../../engine/query/parse/parse-query.ts'

const text = (name: string) => ({ name, kind: 'storage' as const, type: 'string' })
const dataClass = (attributes: DataClass['attributes']): DataClass => ({
  name: 'City',
  collectionName: 'CitySelection',
  attributes,
  key: [{ name: 'code' }],
})
const city = dataClass([
  text('code'),
  { ...text('notes'), multiLine: true },
  text('name'),
  { name: 'isCapital', kind: 'storage', type: 'bool' },
  { ...text('countryName'), kind: 'alias' },
])

t.test('words', async t => {
  t.strictSame(quickFilter(' par ', city), {
    filter: 'name = "@par@" or code = "@par@" or notes = "@par@"',
    attributes: ['name', 'code', 'notes'],
  })
  t.equal(
    quickFilter('los angeles', city)?.filter,
    '(name = "@los@" or code = "@los@" or notes = "@los@") and (name = "@angeles@" or code = "@angeles@" or notes = "@angeles@")',
  )
  t.equal(quickFilter('são 12', dataClass([text('name')]))?.filter, 'name = "@são@" and name = "@12@"')
  t.ok(parseQuery(quickFilter('and or', city)!.filter))
})

t.test('filters and other texts that are not words', async t => {
  for (const text of [
    '',
    ' ',
    'isCapital',
    'name',
    'name begin x',
    'x = 1',
    'x in y',
    'not x',
    'order by name',
    'a@b',
    '"x"',
    'a b c d e f g',
  ])
    t.equal(quickFilter(text, city), undefined, text)
  t.equal(quickFilter('x', dataClass([{ name: 'size', kind: 'storage', type: 'long' }])), undefined)
})
