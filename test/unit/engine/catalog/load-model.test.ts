import { readFileSync } from 'node:fs'
import t from 'tap'
import type { AliasAttribute, RelatedEntityAttribute, StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { Model } from '../../../../engine/catalog/model-schema.ts'
import { assignNumbers } from '../../../../engine/catalog/table-numbers.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const demo = JSON.parse(readFileSync('config/demo/model.json', 'utf8')) as Model
const dataClass = (name: string) => loadModel(demo).dataClassesByName.get(name)!

t.test('attributes keep the order of the file and refer to their dataclass', async t => {
  const city = dataClass('City')
  t.same(
    city.attributes.map(attribute => attribute.name),
    Object.keys(demo.dataClasses.City!.attributes),
  )
  t.ok(city.attributes.every(attribute => attribute.dataClass === city))
})

t.test('the key is unique, indexed and mandatory, a foreign key is indexed', async t => {
  const { key, attributesByName } = dataClass('Movie')
  t.match(key, { name: 'ID', unique: true, indexed: true, mandatory: true, autoFill: 'uuid' })
  t.match(attributesByName.get('genreID'), { indexed: true, unique: false })
})

t.test('both directions of a relation refer to each other, whichever the file names first', async t => {
  const country = dataClass('Country')
  const region = country.attributesByName.get('region') as RelatedEntityAttribute
  t.equal(region.target.name, 'Region')
  t.equal(region.inverse?.name, 'countries')
  t.equal(region.inverse?.inverse, region)
  t.ok(region.target.referencedBy.includes(region))
  t.equal((region.foreignKey as StorageAttribute).name, 'regionCode')
})

t.test('an alias of an alias is resolved to relations and a target', async t => {
  const model = structuredClone(demo)
  model.dataClasses.City!.attributes.where = { kind: 'alias', path: 'country.regionName' }
  const where = loadModel(model).dataClassesByName.get('City')!.attributesByName.get('where') as AliasAttribute
  t.same(
    where.relations.map(relation => relation.name),
    ['country', 'region'],
  )
  t.equal(where.target.name, 'name')
  t.equal(where.target.dataClass.name, 'Region')
  t.same(where.path, ['country', 'regionName'])
})

t.test('relations to a private dataclass are private', async t => {
  const model = structuredClone(demo)
  model.dataClasses.Region!.scope = 'private'
  const { attributesByName } = loadModel(model).dataClassesByName.get('Country')!
  t.equal(attributesByName.get('region')?.scope, 'private')
  t.equal(attributesByName.get('regionName')?.scope, 'public')
})

t.test('numbers stay with their names and are never assigned twice', async t => {
  const first = assignNumbers(demo)
  const names = Object.keys(demo.dataClasses)
  t.same(
    names.map(name => first.dataClasses[name]?.tableNumber),
    names.map((_, i) => i + 1),
  )
  const { Region: _, ...others } = demo.dataClasses
  const { code3: __, ...attributes } = demo.dataClasses.Country!.attributes
  const changed = {
    ...demo,
    dataClasses: {
      New: demo.dataClasses.Genre!,
      ...others,
      Country: { ...demo.dataClasses.Country!, attributes: { added: { type: 'bool' as const }, ...attributes } },
    },
  }
  const second = assignNumbers(changed, first)
  t.equal(second.dataClasses.New?.tableNumber, names.length + 1)
  t.equal(second.dataClasses.City?.tableNumber, first.dataClasses.City?.tableNumber)
  t.notOk(second.dataClasses.Region)
  t.equal(second.dataClasses.Country?.attributes.added, first.dataClasses.Country?.nextPosition)
  t.equal(second.dataClasses.Country?.attributes.name, first.dataClasses.Country?.attributes.name)

  const third = assignNumbers(demo, JSON.parse(JSON.stringify(second)))
  t.equal(third.dataClasses.Region?.tableNumber, names.length + 2)
})

t.test('a table number of the model is used, and refused when the store has another one', async t => {
  const model = structuredClone(demo)
  model.dataClasses.City!.tableNumber = 40
  const numbers = assignNumbers(model)
  t.equal(numbers.dataClasses.City?.tableNumber, 40)
  t.equal(numbers.dataClasses.Region?.tableNumber, 41)
  model.dataClasses.City!.tableNumber = 7
  t.throws(() => assignNumbers(model, numbers), { name: 'ModelError', problems: [/City\.tableNumber: 7, .*under 40/] })
})

t.test('members that are undefined, as code of a plugin may leave them, are absent', async t => {
  const attributes = { ID: { type: 'long', indexed: undefined }, name: { type: 'string', maxLength: undefined } }
  const { key, attributesByName } = loadModel(modelWith({ City: attributes })).dataClasses[0]!
  t.match(key, { name: 'ID', indexed: true })
  t.ok(attributesByName.has('name'))
  const wrong = { ...attributes, size: { type: 'string', maxLength: undefined, indexed: 'yes' } }
  t.throws(() => loadModel({ name: 'test', dataClasses: { City: { key: 'ID', attributes: wrong } } }), {
    name: 'ModelError',
    message: /size\.indexed: expected a boolean, received "yes"/,
  })
})
