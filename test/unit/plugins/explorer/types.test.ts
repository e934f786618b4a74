/** The explorer and the typed client support every type that the catalog can name. */
import t from 'tap'
import { NUMBER_TYPES, STORAGE_TYPES, type StorageType } from '../../../../engine/catalog/value-type.ts'
import { createTestServer } from '../../../../kernel/testing.ts'
import { conditionOn } from '../../../../plugins/explorer/page/base/condition.ts'
import type { Attribute, DataClass } from '../../../../plugins/explorer/page/base/model.ts'
import { isNumeric } from '../../../../plugins/explorer/page/browse/columns.ts'
import { editorOf } from '../../../../plugins/explorer/page/entity/editor.ts'

const OPTIONS: Partial<Record<StorageType, object>> = { decimal: { scale: 2 }, vector: { dimension: 3 } }
const attributes = Object.fromEntries(STORAGE_TYPES.map(type => [`of_${type}`, { type, ...OPTIONS[type] }]))
const model = {
  name: 'types',
  dataClasses: { All: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, ...attributes } } },
}
/** Types whose values no condition can express. */
const WITHOUT_CONDITION: ReadonlySet<StorageType> = new Set(['object', 'vector', 'image', 'blob'])

t.test('each type has a field, a condition and a type in clients', async t => {
  const server = await createTestServer({ model })
  t.teardown(() => server.close())
  const { dataClasses } = (await server.get('/rest/$catalog/$all')).json as { dataClasses: DataClass[] }
  const described = new Map(dataClasses[0]!.attributes.map(each => [each.name, each]))
  for (const type of STORAGE_TYPES) {
    const attribute = described.get(`of_${type}`) as Attribute
    t.ok(editorOf(attribute, true), `${type} has a field in forms`)
    if (WITHOUT_CONDITION.has(type)) continue
    t.ok(conditionOn('a', attribute, type === 'bool' ? true : 1), `${type} can be a condition`)
  }
  for (const type of NUMBER_TYPES) {
    const attribute = described.get(`of_${type}`) as Attribute
    t.equal(editorOf(attribute, true), 'number', `${type} has a field for numbers`)
    t.ok(isNumeric(attribute), `${type} is aligned to the right`)
  }
  const { text } = await server.get('/rest/$client')
  for (const type of STORAGE_TYPES) {
    const [, shape] = new RegExp(`\\bof_${type}: (.+)`).exec(text) ?? []
    t.match(shape, /\w/, `${type} is in the client`)
    t.notMatch(shape, /unknown/, `${type} has a type in the client`)
  }
})
