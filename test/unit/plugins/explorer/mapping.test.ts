import t from 'tap'
import type { Attribute, DataClass } from '../../../../plugins/explorer/page/base/model.ts'
import { formatOf, isForeign } from '../../../../plugins/explorer/page/transfer/file-format.ts'
import {
  columnsParameter,
  importTargets,
  mappedTwice,
  proposeMapping,
  withoutTwice,
} from '../../../../plugins/explorer/page/transfer/mapping.ts'

/** Columns of files that are imported. */

const of = (name: string, kind: Attribute['kind'] = 'storage', type = 'string'): Attribute => ({ name, kind, type })
const city: DataClass = {
  name: 'City',
  collectionName: 'CitySelection',
  key: [{ name: 'ID' }],
  attributes: [
    of('ID', 'storage', 'long'),
    of('name'),
    of('postalCode'),
    of('Größe'),
    of('country', 'relatedEntity', 'Country'),
    of('countryName', 'alias'),
    of('people', 'relatedEntities', 'PersonSelection'),
    of('density', 'calculated', 'number'),
  ],
}

const proposals: readonly (readonly [columns: Record<string, string | null>, proposed: (string | null)[]])[] = [
  [{ ID: 'ID', name: 'name' }, ['ID', 'name']],
  [{ id: null, NAME: null, 'Postal code': null }, ['ID', 'name', 'postalCode']],
  [{ postal_code: null, große: null, 'Country ': null }, ['postalCode', 'Größe', 'country']],
  [{ Name: null, name: 'name', 'NA-ME': null }, [null, 'name', null]],
  [{ Name: null, 'NA-ME': null }, ['name', null]],
  [
    { '': null, '—': null, countryName: null, density: null, people: null, other: null },
    [null, null, null, null, null, null],
  ],
  [{ constructor: null, toString: null }, [null, null]],
]

t.test('columns are mapped by equal names, whatever their case, blanks and punctuation', async t => {
  for (const [columns, proposed] of proposals) {
    const given = Object.entries(columns).map(([name, attribute]) => ({ name, attribute }))
    const mapping = proposeMapping(given, city)
    t.same(Object.keys(mapping), Object.keys(columns))
    t.same(Object.values(mapping), proposed, JSON.stringify(columns))
  }
  t.same(
    importTargets(city).map(({ name }) => name),
    ['ID', 'name', 'postalCode', 'Größe', 'country'],
  )
})

t.test('only what names do not say is sent', async t => {
  t.equal(columnsParameter({ ID: 'ID', name: 'name' }), '')
  t.equal(columnsParameter({ ID: 'ID', Name: 'name', Notes: null }), '{"Name":"name","Notes":null}')
})

t.test('an attribute with several columns', async t => {
  const mapping = { Name: 'name', Title: 'name', Notes: null, Other: null, ID: 'ID' }
  t.same(mappedTwice(mapping), ['name'])
  t.same(withoutTwice(mapping), { ...mapping, Title: null })
  t.same(mappedTwice(withoutTwice(mapping)), [])
})

t.test('formats by the names of files', async t => {
  const names = {
    'a.csv': 'csv',
    'A.TSV': 'csv',
    b: 'csv',
    'c.jsonl': 'ndjson',
    'c.errors.ndjson': 'ndjson',
    'd.JSON': 'json',
  }
  for (const [name, format] of Object.entries(names)) t.equal(formatOf(name), format, name)
  for (const name of ['a.csv.gz', 'b.XLSX', 'c.parquet']) t.ok(isForeign(name), name)
  for (const name of ['a.csv', 'xlsx.csv', 'gz']) t.notOk(isForeign(name), name)
})
