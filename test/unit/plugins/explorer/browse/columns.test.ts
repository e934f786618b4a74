import t from 'tap'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import {
  askedFor,
  columnOf,
  defaultColumns,
  fittedLength,
  formatColumns,
  orderPath,
  parseColumns,
  valuesAt,
} from '../../../../../plugins/explorer/page/browse/columns.ts'

const storage = (name: string, type: string, others: Partial<Attribute> = {}): Attribute => ({
  name,
  kind: 'storage',
  type,
  ...others,
})

const COUNTRY: DataClass = {
  name: 'Country',
  collectionName: 'CountrySelection',
  key: [{ name: 'code' }],
  attributes: [
    storage('code', 'string', { identifying: true }),
    storage('name', 'string'),
    { name: 'cities', kind: 'relatedEntities', type: 'CitySelection', inverseName: 'country' },
  ],
}
const CITY: DataClass = {
  name: 'City',
  collectionName: 'CitySelection',
  key: [{ name: 'ID' }],
  attributes: [
    storage('ID', 'long', { identifying: true }),
    storage('name', 'string'),
    storage('photo', 'image'),
    storage('countryCode', 'string'),
    { name: 'country', kind: 'relatedEntity', type: 'Country', foreignKey: 'countryCode', inverseName: 'cities' },
    { name: 'countryName', kind: 'alias', type: 'string', path: 'country.name' },
    { name: 'secret', kind: 'relatedEntity', type: 'Secret' },
  ],
}
const targetOf = ({ type }: Attribute) =>
  [CITY, COUNTRY].find(each => each.name === type || each.collectionName === type)
const paths = (text: string) => parseColumns(text, CITY, targetOf).map(({ path }) => path)

t.test('columns of an address', async t => {
  t.same(paths('name,country.name:120,country.cities.name'), ['name', 'country.name', 'country.cities.name'])
  t.same(paths('nme,name.x,secret,,name,name'), ['name'], 'unknown and duplicate columns are left out')
  const text = 'name:99,country.name,photo'
  t.equal(formatColumns(parseColumns(text, CITY, targetOf)), text)
  t.equal(formatColumns(parseColumns('name:5', CITY, targetOf)), 'name:40', 'widths are bounded')
})

t.test('columns without a choice: no references and no aliases of labels that are shown', async t => {
  t.same(
    defaultColumns(CITY, targetOf).map(({ path }) => path),
    ['ID', 'name', 'photo', 'country'],
  )
})

t.test('the key and the label come first', async t => {
  const city = { ...CITY, attributes: CITY.attributes.toReversed() }
  t.same(
    defaultColumns(city, targetOf).map(({ path }) => path),
    ['ID', 'name', 'country', 'photo'],
  )
})

t.test('attributes that columns need', async t => {
  const asked = (text: string) => askedFor(parseColumns(text, CITY, targetOf), 'ID')
  t.same(asked('name,country'), { $attributes: 'name,country.name', $expand: undefined })
  t.same(asked('country.cities'), { $attributes: 'country.cities.name', $expand: 'country.cities:0-0' })
  t.same(asked('country.cities,country.cities.ID').$expand, 'country.cities:3')
  t.same(askedFor([], 'ID').$attributes, 'ID')
})

t.test('room for most texts and for every number', async t => {
  const lengths = [40, ...Array.from({ length: 39 }, () => 3)]
  t.equal(fittedLength(lengths, storage('name', 'string')), 3)
  t.equal(fittedLength(lengths, storage('ID', 'long')), 40)
  t.equal(fittedLength(lengths, storage('price', 'string', { scale: 2 })), 40, 'a decimal')
  t.equal(fittedLength([], storage('ID', 'long')), 0)
})

t.test('orders', async t => {
  const order = (path: string) => orderPath(columnOf(path, CITY, targetOf)!)
  t.equal(order('name'), 'name')
  t.equal(order('country'), 'country.name')
  t.equal(order('photo'), undefined)
  t.equal(order('country.cities.name'), undefined)
})

t.test('values at a path', async t => {
  const entity = {
    country: { name: 'France', cities: { __ENTITIES: [{ name: 'Paris' }, { name: 'Lyon' }] } },
    none: null,
  }
  t.same(valuesAt(entity, 'country.name'), ['France'])
  t.same(valuesAt(entity, 'country.cities.name'), ['Paris', 'Lyon'])
  t.same(valuesAt(entity, 'none.name'), [undefined])
})
