import t from 'tap'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import { completionAt, isKnown, valueProposals } from '../../../../../plugins/explorer/page/find/complete.ts'

const attribute = (name: string, type: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  kind: 'storage',
  type,
  ...more,
})
const dataClass = (name: string, attributes: readonly Attribute[]): DataClass => ({
  name,
  collectionName: `${name}Selection`,
  attributes,
  key: [{ name: 'ID' }],
})
const city = dataClass('City', [
  attribute('name', 'string', { indexed: true }),
  attribute('isCapital', 'bool'),
  attribute('first seen', 'date'),
  attribute('country', 'Country', { kind: 'relatedEntity' }),
])
const country = dataClass('Country', [
  attribute('code', 'string'),
  attribute('cities', 'CitySelection', { kind: 'relatedEntities' }),
])
const target = ({ type }: Attribute): DataClass | undefined =>
  type === 'Country' ? country : type === 'CitySelection' ? city : undefined

/** Text that is kept before the proposals, and the proposals except attributes that every entity has. */
function complete(text: string): readonly [string, ...string[]] | undefined {
  const found = completionAt(text, city, target)
  return (
    found && [
      text.slice(0, found.start),
      ...found.proposals.map(each => each.text).filter(each => !each.startsWith('__')),
    ]
  )
}
const ofCity = ['name', 'isCapital', '"first seen"', 'country']

t.test('names', async t => {
  t.strictSame(complete(''), ['', ...ofCity, 'not'])
  t.strictSame(complete('na'), ['', ...ofCity, 'not'])
  t.strictSame(complete('(na'), ['(', ...ofCity, 'not'])
  t.strictSame(complete('name = x and not '), ['name = x and not ', ...ofCity, 'not'])
  t.strictSame(complete('country.'), ['country.', 'code', 'cities'])
  t.strictSame(complete('country.co'), ['country.', 'code', 'cities'])
  t.strictSame(complete('country.cities.n'), ['country.cities.', ...ofCity])
  t.strictSame(complete('country.cities[a].n'), ['country.cities[a].', ...ofCity])
  t.equal(complete('name.x'), undefined)
  t.strictSame(complete('order by '), ['order by ', ...ofCity])
  t.strictSame(complete('order by name, country.'), ['order by name, country.', 'code', 'cities'])
})

t.test('comparators by type', async t => {
  t.strictSame(complete('isCapital '), ['isCapital ', '=', '!=', 'and', 'or', 'except', 'order by'])
  t.strictSame(complete('country.code b'), [
    'country.code ',
    ...['=', '!=', 'begin', '%', 'in', '===', '!==', '<', '<=', '>', '>='],
  ])
  t.strictSame(complete('country '), ['country ', '=', '!='])
})

t.test('keywords', async t => {
  t.strictSame(complete('name = x '), ['name = x ', 'and', 'or', 'except', 'order by'])
  t.strictSame(complete('(name = "x" a'), ['(name = "x" ', 'and', 'or', 'except', ')'])
  t.strictSame(complete('order by name '), ['order by name ', 'asc', 'desc'])
  t.equal(complete('name = "x"'), undefined)
  t.equal(complete('name = x and'), undefined)
})

t.test('values', async t => {
  t.strictSame(complete('isCapital = t'), ['isCapital = ', 'true', 'false', 'null'])
  t.match(completionAt('name = ', city, target), { start: 7, values: { prefix: '' } })
  t.match(completionAt('name = "New Yo', city, target), { start: 7, values: { dataClass: city, prefix: 'New Yo' } })
  t.match(completionAt('country.cities.name begin Par', city, target), { start: 26, values: { prefix: 'Par' } })
  t.equal(completionAt('country.code = x', city, target)?.values, undefined)
  t.strictSame(
    valueProposals(['a "b"', null, '', 'c']).map(({ text }) => text),
    [`'a "b"'`, '"c"'],
  )
})

t.test('filters with names that the user may not see', async t => {
  const known = (filter: string): boolean => isKnown(filter, city, target)
  for (const filter of [
    '',
    'name = salary',
    'country.cities[a].name = x',
    '"first seen" = x order by __STAMP',
    'name.x = 1',
  ])
    t.ok(known(filter), filter)
  for (const filter of ['salary > 1', 'name = x order by salary', 'country.salary = 1', 'country.cities.salary = 1'])
    t.notOk(known(filter), filter)
})
