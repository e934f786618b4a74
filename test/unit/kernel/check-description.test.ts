import t from 'tap'
import { DescriptionCheck } from '../../../kernel/check-description.ts'
import { Registry } from '../../../kernel/registry.ts'

const text = { type: 'string' }
const near = { schema: { ...text, pattern: '^[0-9,]+$' }, doc: 'Near.', example: '1,2' }
const operation = { id: 'acme.get', doc: 'One', path: { name: { schema: text } } }

t.test('a parameter that is described wrongly is refused with the reason', async t => {
  const check = new DescriptionCheck(false)
  t.equal(check.parameter('$near', near), near)
  check.parameter('$near', { ...near, schema: { $ref: '#/components/schemas/Place', 'x-unit': 'km' } })
  const refused: [string, object, string | RegExp][] = [
    ['near', {}, '"near" does not begin with $, as names of parameters and services do'],
    ['$near', { doc: '' }, /^\$near has no description; its second argument is \{ schema, doc \}/],
    ['$near', { schema: undefined }, /^\$near has no description/],
    ['$near', { exampel: 1 }, 'the description of $near has "exampel"; did you mean "example"?'],
    ['$near', { on: 'list' }, '$near has on: "list"; a list of operations is expected, such as ["list"]'],
    ['$near', { example: 7 }, 'the schema of $near cannot be used: the example 7 does not fit: must be string'],
    ['$near', { schema: { type: 'text' } }, /^the schema of \$near cannot be used: type must be JSONType/],
    ['$near', { schema: { patern: 'a' } }, /^the schema of \$near cannot be used: .*"patern"/],
  ]
  for (const [name, change, message] of refused) {
    t.throws(() => check.parameter(name, { ...near, ...change }), { message }, JSON.stringify(change))
  }
})

t.test('so are operations of services and routes', async t => {
  const check = new DescriptionCheck(false)
  const service = (place: string, change: object = {}) =>
    check.service('$acme', { verbs: ['GET'], operations: { [place]: { ...operation, ...change } } })
  service('GET /{name}')
  const refused: [string, object, string | RegExp][] = [
    ['GET', {}, '$acme has an operation "GET"; a verb and a path are expected, such as "GET /" or "GET /{id}"'],
    ['POST /{name}', {}, '$acme, operation "POST /{name}": the verb is not one of its verbs, GET'],
    ['GET /{name}', { id: '' }, /has no description; it is \{ id, doc \}/],
    ['GET /{name}', { answer: {} }, '$acme, operation "GET /{name}" has "answer"; did you mean "answers"?'],
    ['GET /{name}', { path: { nmae: { schema: text } } }, /path has "nmae", which .* did you mean "name"\?$/],
    ['GET /{name}', { path: {} }, /path has no "name"; add \{ name: \{ schema \} \}$/],
    ['GET /{name}', { path: { name: text } }, /"name" in path has no schema$/],
    ['GET /{name}', { body: text }, /body has "type"; did you mean "types"\?$/],
    ['GET /{name}', { answers: text }, /answers has "type"; a status is expected, such as \{ 200: \{ schema \} \}$/],
    ['GET /{name}', { answers: { 200: 'text' } }, /answer 200 is "text"; \{ schema \} is expected$/],
  ]
  for (const [place, change, message] of refused) {
    t.throws(() => service(place, change), { message }, `${place} ${JSON.stringify(change)}`)
  }

  const route = (verb: string) => check.route('/acme/:name', { verbs: ['GET'], operations: { [verb]: operation } })
  route('GET')
  t.throws(() => route('GET /acme/{name}'), { message: /a verb alone is expected, such as "GET"$/ })
  for (const verbs of [undefined, [], ['FETCH']]) {
    t.throws(() => check.verbs('$acme', { verbs } as never), {
      message: /a list of verbs is expected, such as \["GET"\]$/,
    })
  }
})

t.test('an id of an operation belongs to one', async t => {
  const scope = new Registry().scopeFor('acme', false)
  const spec = { verbs: ['GET'], operations: { 'GET /': { id: 'acme.get', doc: 'One' } } } as const
  scope.service('$one', spec, () => ({ status: 200, headers: {}, body: '' }))
  t.throws(() => scope.service('$two', spec, () => ({ status: 200, headers: {}, body: '' })), {
    message: 'plugin acme registers the operation acme.get, which plugin acme has registered already',
  })
})
