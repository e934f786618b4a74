import t from 'tap'
import { ClassRegistry } from '../../../engine/author/declare/class-registry.ts'
import { loadModel } from '../../../engine/index.ts'
import { DescriptionCheck } from '../../../kernel/check-description.ts'
import { describePlugins } from '../../../kernel/describe-plugins.ts'
import { Registry } from '../../../kernel/registry.ts'
import { registerBuiltIn } from '../../support/checks/registered.ts'

const text = { type: 'string' }
const near = { schema: { ...text, pattern: '^[0-9,]+$' }, doc: 'Near.', example: '1,2' }
const done = () => {}
const operation = { id: 'acme.get', doc: 'One', path: { name: { schema: text } } }

t.test('a parameter that is described wrongly is refused with the reason', async t => {
  const check = new DescriptionCheck('acme')
  check.parameter('$near', near)
  check.parameter('$near', { ...near, schema: { type: ['string', 'null'], 'x-unit': 'km' } })
  const refused: [string, object, string | RegExp][] = [
    ['near', {}, /^"near" is not a name of a parameter; write \$, a letter, and/],
    ['$near', { doc: '' }, '$near.doc: expected a value such as "Cities near a place.", received ""'],
    ['$near', { schema: undefined }, '$near: "schema" is missing'],
    ['$near', { exampel: 1 }, '$near.exampel: there is no such option; did you mean "example"?'],
    ['$near', { on: 'list' }, '$near.on: expected an array, received "list"'],
    ['$near', { example: 7 }, '$near.example: 7 does not fit the schema: example must be string'],
    ['$near', { schema: { type: 'text' } }, /^\$near\.schema cannot be used: .*type must be/],
    ['$near', { schema: { title: 7 } }, /^\$near\.schema cannot be used: .*title must be string/],
    ['$near', { schema: { patern: 'a' } }, /^\$near\.schema cannot be used: .*"patern"/],
    ['$near', { schema: { $ref: '#/components/schemas/Place' } }, /^\$near\.schema: a parameter cannot have \$ref or/],
  ]
  for (const [name, change, message] of refused) {
    t.throws(() => check.parameter(name, { ...near, ...change }), { message }, JSON.stringify(change))
  }
})

t.test('so are operations of services and routes', async t => {
  const check = new DescriptionCheck('acme')
  const service = (place: string, change: object = {}) =>
    check.service('$acme', { verbs: ['GET'], operations: { [place]: { ...operation, ...change } } }, done)
  service('GET /{name}')
  const refused: [string, object, string | RegExp][] = [
    ['GET', {}, '$acme.operations: expected a value such as "GET /{id}", received "GET"'],
    ['POST /{name}', {}, '$acme.operations.POST /{name}: POST is not among the verbs, GET'],
    ['GET /{name}', { id: '' }, /\.id: expected a value such as "acme\.report", received ""$/],
    ['GET /{name}', { doc: undefined }, '$acme.operations.GET /{name}: "doc" is missing'],
    ['GET /{name}', { answer: {} }, /\.answer: there is no such option; did you mean "answers"\?$/],
    ['GET /{name}', { path: { nmae: { schema: text } } }, /path: "nmae" is not in the address; did you mean "name"\?$/],
    ['GET /{name}', { path: {} }, /path: "name" is missing; add \{ name: \{ schema \} \}$/],
    ['GET /{name}', { path: { name: {} } }, /path\.name: "schema" is missing$/],
    ['GET /{name}', { path: { name: { schema: text, example: 7 } } }, /path\.name\.example: 7 does not fit the schema/],
    ['GET /{name}', { body: text }, /body\.type: there is no such option; did you mean "types"\?$/],
    ['GET /{name}', { answers: text }, /answers: expected a value such as "200", received "type"$/],
    ['GET /{name}', { answers: { 200: 'text' } }, /answers\.200: expected an object, received "text"$/],
  ]
  for (const [place, change, message] of refused) {
    t.throws(() => service(place, change), { message }, `${place} ${JSON.stringify(change)}`)
  }

  const route = (verb: string) =>
    check.route('/acme/:name', { verbs: ['GET'], operations: { [verb]: operation } }, done)
  route('GET')
  t.throws(() => route('GET /acme/{name}'), {
    message: /^the route \/acme\/:name\.operations: "GET \/acme\/\{name\}" is none of GET, HEAD/,
  })
  for (const [verbs, message] of [
    [undefined, '$acme: "verbs" is missing'],
    [[], '$acme.verbs: expected at least 1 item, received []'],
    [['FETCH'], /^\$acme\.verbs\.0: "FETCH" is none of GET, .*; did you mean "PATCH"\?$/],
  ] as const) {
    t.throws(() => check.service('$acme', { verbs } as never, done), { message })
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

/** Schemas of the protocol. */
const OF_BUILT_IN = /the \$id "rest\.\w+" is not a name/

t.test('built-in plugins, which a server does not check, are described as others have to be', async t => {
  const { plugins } = await registerBuiltIn()
  const catalog = loadModel({ name: 'empty', dataClasses: {} })
  const { problems } = await describePlugins(
    plugins.map(plugin => ({ ...plugin, entry: {} as never })),
    { catalog, classes: new ClassRegistry() },
  )
  t.ok(plugins.length > 20)
  t.strictSame(
    problems.filter(problem => !OF_BUILT_IN.test(problem)),
    [],
  )
})
