import t from 'tap'
import type { Attribute, DataClass } from '../../../../../plugins/explorer/page/base/model.ts'
import { batchesOf, faultsIn } from '../../../../../plugins/explorer/page/paste/batches.ts'
import { convertRow, ERROR_COLUMN, mapColumns } from '../../../../../plugins/explorer/page/paste/columns.ts'
import type { Cells } from '../../../../../plugins/explorer/page/paste/table.ts'

const of = (name: string, type: string, others: Partial<Attribute> = {}): Attribute => ({
  name,
  kind: 'storage',
  type,
  ...others,
})
const city: DataClass = {
  name: 'City',
  collectionName: 'CitySelection',
  key: [{ name: 'ID' }],
  attributes: [
    of('ID', 'long', { identifying: true, autosequence: true }),
    of('name', 'string'),
    of('postalCode', 'string'),
    of('founded', 'date', { simpleDate: true }),
    of('isCapital', 'bool'),
    of('photo', 'image'),
    { name: 'country', kind: 'relatedEntity', type: 'Country', foreignKey: 'countryCode' },
    of('countryName', 'string', { kind: 'alias', readOnly: true }),
  ],
}

t.test('columns are mapped by the names in the first row', async t => {
  t.same(mapColumns([['NAME', 'Postal code', 'is_capital', 'whatever', ERROR_COLUMN]], city), {
    hasHeader: true,
    attributes: ['name', 'postalCode', 'isCapital', '', ''],
  })
  t.same(mapColumns([['City name', 'country', 'id']], city).attributes, ['name', 'country', 'ID'], 'a part of it')
  t.same(
    mapColumns([['name', 'City name', 'video']], city).attributes,
    ['name', '', ''],
    'not an attribute that is taken',
  )
  t.same(mapColumns([['Country', 'postal']], city).attributes, ['country', 'postalCode'], 'a part of a name')
})

t.test('columns without names are mapped in the order of the model', async t => {
  t.same(mapColumns([['Paris', '75000', '1.1.2000']], city), {
    hasHeader: false,
    attributes: ['name', 'postalCode', 'founded'],
  })
})

t.test('cells are converted to values', async t => {
  const columns = ['name', 'founded', 'isCapital', 'country', ''].map(name =>
    city.attributes.find(each => each.name === name),
  )
  const rowOf = (cells: Cells) => {
    const { values, faults } = convertRow(cells, columns)
    return { values: Object.fromEntries(values), faults }
  }
  t.same(rowOf([' Paris', '31.1.2000', 'ja', 'FR', 'x']), {
    values: { name: '" Paris"', founded: '"2000-01-31"', isCapital: 'true', country: '{"__KEY":"FR"}' },
    faults: [],
  })
  t.same(rowOf(['', null, null, null]).values, { name: '""', founded: 'null', isCapital: 'null', country: 'null' })
  t.same(rowOf(['null', 'null']).values, { name: '"null"', founded: 'null', isCapital: 'null', country: 'null' })
  t.same(rowOf([null, 'soon', 'maybe']), {
    values: { name: 'null', country: 'null' },
    faults: [
      { attribute: 'founded', code: 'date', cell: 'soon' },
      { attribute: 'isCapital', code: 'bool', cell: 'maybe' },
    ],
  })
})

t.test('batches are bounded, and failures are found in answers of both kinds', async t => {
  const rows = Array.from({ length: 450 }, (_, index) => ({ index, values: new Map([['name', '"x"']]) }))
  t.same(
    [...batchesOf(rows)].map(batch => batch.length),
    [200, 200, 50],
  )
  const long = Array.from({ length: 3 }, (_, index) => ({ index, values: new Map([['name', 'x'.repeat(300_000)]]) }))
  t.equal([...batchesOf(long)].length, 3)
  const batch = rows.slice(100, 103)
  const fault = { message: 'no', errCode: 1116 }
  const consequence = { message: 'so not saved', errCode: 1534 }
  t.same(faultsIn({ __ENTITIES: [{}, { __ERROR: [fault, consequence] }, {}] }, batch), [{ index: 101, message: 'no' }])
  t.same(faultsIn({ __ENTITIES: [{ __ERROR: [consequence], __INDEX: 2 }] }, batch), [
    { index: 102, message: 'so not saved' },
  ])
  t.same(faultsIn({ ok: true }, batch), [])
})
