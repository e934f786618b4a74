import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import { parsePath } from '../../../../../kernel/url/parse-path.ts'
import { entitiesPath, entityPath, entitySetPath } from '../../../../../plugins/explorer/page/base/paths.ts'

const keys = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('"', "'", ',', '(', ')', '[', ']', '/', '%', ' ', 'a') }),
  ),
  { minLength: 1, maxLength: 4 },
)

t.test('the server parses the keys of an address as they were given', async t => {
  t.equal(entityPath('Country', 'FR'), 'Country(FR)')
  t.same(parsePath(`/${entityPath('Author', "it's")}`), {
    kind: 'dataClass',
    dataClass: 'Author',
    selector: { kind: 'keys', keys: ["it's"] },
    parts: [],
  })
  fc.assert(
    fc.property(keys, keys => {
      const path = parsePath(`/${entitiesPath('Author', keys)}/name`)
      t.match(path, { dataClass: 'Author', selector: { kind: 'keys' }, parts: ['name'] })
      t.same(path.kind === 'dataClass' && path.selector, { kind: 'keys', keys })
    }),
  )
})

t.test('the id of an entity set cannot lead to another path', async t => {
  for (const id of ['../../$info', 'A?$method=release&', 'A#', 'A/B', '..\\..'])
    t.same(
      new URL(`http://host/rest/${entitySetPath('City', id)}`).pathname.split('/').slice(0, 4),
      ['', 'rest', 'City', '$entityset'],
      id,
    )
})
