import t from 'tap'
import { insertJson } from '../../../kernel/cli/insert-json.ts'
import fc from '../../support/runner/fast-check.ts'

t.test('a member is written as those beside it, and all else stays', async t => {
  const text = '{\n\t"name": "a{\\"}", "list": [1, {"x": {}}],\n\t"dataClasses": {\n\t\t"A": { "key": "ID" }\n\t}\n}\n'
  t.equal(
    insertJson(text, ['dataClasses'], 'B', { key: 'ID', attributes: { ID: { type: 'long' } } }),
    '{\n\t"name": "a{\\"}", "list": [1, {"x": {}}],\n\t"dataClasses": {\n\t\t"A": { "key": "ID" },\n\t\t"B": {\n\t\t\t"key": "ID",\n\t\t\t"attributes": {\n\t\t\t\t"ID": { "type": "long" }\n\t\t\t}\n\t\t}\n\t}\n}\n',
  )
  t.equal(insertJson('\uFEFF{"a":{}}', ['a'], 'b', 1), '\uFEFF{"a":{\n    "b": 1\n  }}')
  t.throws(() => insertJson('{"a":{}}', ['b'], 'c', 1), { message: 'there is no "b"' })
})

t.test('any document', async t => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.constantFrom(0, 1, 4, '\t'),
      (others, value, space) => {
        const document = { before: others, deep: { here: others }, after: [others] }
        const text = insertJson(JSON.stringify(document, null, space), ['deep', 'here'], 'new one', value)
        t.same(JSON.parse(text), { ...document, deep: { here: { ...others, 'new one': value } } })
      },
    ),
  )
})
