/** `$openapi`: examples fit their own schemas, whatever patterns and bounds a model has; requests that need one of several parameters. */
import t from 'tap'
import { compileSchema } from '../../engine/author/declare/compile-schema.ts'
import { sampleOfSchema } from '../../plugins/openapi/samples.ts'
import { wrongExamples } from '../support/checks/openapi-examples.ts'
import { company } from '../support/fixtures/company.ts'
import { modelWith } from '../support/fixtures/model-with.ts'
import { startServer } from '../support/servers/test-server.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)

/** Patterns and bounds that no usual sample fits. */
const NARROW = modelWith({
  Part: {
    code: { type: 'string', unique: true, mandatory: true, pattern: '[QX]{3}-[0-9]{4}' },
    serial: { type: 'string', unique: true, pattern: 'SN[0-9]{9}' },
    short: { type: 'string', maxLength: 2 },
    share: { type: 'number', minValue: 0.25, maxValue: 0.5 },
  },
})

t.test('examples of narrow attributes', async t => {
  const { json } = await (await startServer(t, { model: NARROW, rows: {} })).get('/$openapi')
  t.strictSame(wrongExamples(json).problems, [])
  t.notMatch(JSON.stringify(json.paths['/Part:serial({value})']), /example/, 'none rather than a wrong one')
  t.notOk('example' in json.components.schemas['Part.save'], 'an entity without its code cannot be saved')
})

t.test('samples fit the schemas of authors, or there are none', async t => {
  for (const schema of [
    { type: 'string', pattern: '^[QX]{3}$' },
    { type: 'number', exclusiveMinimum: 0.2, exclusiveMaximum: 0.3 },
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'number', maximum: -5 },
    { type: 'integer', minimum: 10, multipleOf: 7 },
    { type: 'integer', exclusiveMaximum: 1 },
    { type: 'array', items: { type: 'string', pattern: '^Q$' }, minItems: 2 },
    { type: 'object', properties: { a: { type: 'string', pattern: '^Q$' } }, required: ['a'] },
    { anyOf: [{ type: 'string', pattern: '^Q$' }, { type: 'integer' }] },
  ]) {
    const sample = sampleOfSchema(schema)
    if (sample !== undefined) t.ok(compileSchema(schema)(sample), JSON.stringify([schema, sample]))
  }
  t.equal(sampleOfSchema({ type: 'number', exclusiveMinimum: 0.2, exclusiveMaximum: 0.3 }), 0.25)
  t.equal(sampleOfSchema({ type: 'string', pattern: '^[QX]{3}$' }), undefined)
})

t.test('an upload needs one of two parameters', async t => {
  const { get, post } = await startServer(t, company)
  const { paths, components } = (await get('/$openapi')).json
  const operation = paths['/$upload'].post
  t.strictSame(operation['x-one-of'], ['$rawPict', '$binary'])
  const parameters = operation.parameters.map(
    ({ $ref }: { $ref: string }) => components.parameters[$ref.split('/').at(-1)!],
  )
  for (const { name, required } of parameters) t.notOk(required, name)
  for (const query of ['$rawPict=true', '$binary=true'])
    t.equal((await post(`/$upload?${query}`, PNG)).status, 200, query)
  t.equal((await post('/$upload', PNG)).status, 400)
})
