/** Whatever a plugin says about itself, it is refused with a clear message, or documents, agents and typed clients are right. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import t, { type Test } from 'tap'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import { publicView } from '../../engine/catalog/view.ts'
import { loadModel } from '../../engine/index.ts'
import { describePlugins } from '../../kernel/describe-plugins.ts'
import { ModuleBundler } from '../../kernel/module-bundler.ts'
import { importPlugins } from '../../kernel/plugin-loader.ts'
import { clientText } from '../../plugins/client/index.ts'
import { openApiDocument } from '../../plugins/openapi/index.ts'
import { registerBuiltIn } from '../support/checks/registered.ts'
import { connect } from '../support/clients/mcp-client.ts'
import { loadModule, writeProject } from '../support/clients/typed-client.ts'
import { runCompiler } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'

const { plugins: builtIn } = await registerBuiltIn()
const catalog = loadModel(company.model)
const classes = new ClassRegistry()

const pluginOf = (body: string, name = 'acme'): string =>
  `const text = { type: 'string' }
const done = () => ({ status: 200, body: '' })
export default { name: '${name}', kernel: '^1.0.0', async register(scope) { ${body} } }`

let count = 0

/** Registers plugins in plain JavaScript, without a server. */
async function describe(t: Test, ...sources: readonly string[]) {
  // Node.js keeps the modules that it has loaded.
  const names = sources.map(() => `plugin${count++}.js`)
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    ...Object.fromEntries(names.map((name, i) => [name, sources[i]!])),
  })
  const references = names.map(name => ({ specifier: join(folder, name) }))
  const importedPlugins = await importPlugins(
    { plugins: references, folder, readReference: () => ({ text: '' }) },
    new ModuleBundler(),
  )
  const { registry, problems } = await describePlugins([...builtIn, ...importedPlugins], { catalog, classes })
  const document = (isAdministrator = true) => {
    const openApi = openApiDocument({
      ...{ catalog, classes, view: publicView(catalog), mayCall: () => true, isAdministrator },
      ...{ registered: registry, version: '1.0.0', cookieName: '4DSID' },
    })
    // biome-ignore lint/suspicious/noExplicitAny: the test reads a document at many places
    return JSON.parse(JSON.stringify(openApi)) as any
  }
  const modelSource = { view: publicView(catalog), classes, registered: registry, mayCall: () => true }
  return {
    folder,
    problems,
    document,
    client: () => clientText(modelSource, { source: 'test', dates: 'date', isModule: false }),
  }
}

const REFUSED: Readonly<Record<string, RegExp>> = {
  "scope.parameter('', { schema: text, doc: 'x' })": /"" is not a name of a parameter/,
  "scope.parameter('near', { schema: text, doc: 'x' })": /"near" is not a name of a parameter/,
  "scope.parameter('$', { schema: text, doc: 'x' })": /"\$" is not a name/,
  "scope.parameter('$a&b=1', { schema: text, doc: 'x' })": /"\$a&b=1" is not a name/,
  "scope.parameter('$größe', { schema: text, doc: 'x' })": /"\$größe" is not a name/,
  "scope.parameter('$1', { schema: text, doc: 'x' })": /"\$1" is not a name/,
  "scope.parameter('$__proto__', { schema: text, doc: 'x' })": /"\$__proto__" is not a name/,
  "scope.parameter('$constructor', { schema: text, doc: 'x' })": /"\$constructor" is not a name.*JavaScript/,
  "scope.parameter('$a' + 'b'.repeat(100), { schema: text, doc: 'x' })": /b" is not a name/,
  "scope.parameter(undefined, { schema: text, doc: 'x' })": /undefined is not a name/,
  "scope.parameter('$method', { schema: text, doc: 'x' })": /\$method takes the methods.*scope\.method/,
  "scope.parameter('$x')": /\$x has no description/,
  "scope.parameter('$x', null)": /\$x has no description/,
  "scope.parameter('$x', () => {})": /\$x has no description/,
  "scope.parameter('$x', { schema: [], doc: 'x' })": /\$x\.schema: expected an object, received \[\]/,
  "scope.parameter('$x', { schema: text, doc: ' ' })": /\$x\.doc: expected a value such as .*, received " "/,
  "scope.parameter('$x', { schema: text, doc: 7 })": /\$x\.doc: expected a string, received 7/,
  "scope.parameter('$x', { schema: text, doc: 'x', on: 'list' })": /\$x\.on: expected an array, received "list"/,
  "scope.parameter('$x', { schema: text, doc: 'x', on: [7] })": /\$x\.on\.0: expected a string, received 7/,
  "scope.parameter('$x', { schema: text, doc: 'x', selects: 'no' })": /\$x\.selects: expected a boolean, received "no"/,
  "scope.parameter('$x', { schema: text, doc: 'x' }, 'apply')": /\$x has no handler/,
  "scope.parameter('$x', { schema: { type: 'strng' }, doc: 'x' })": /\$x\.schema cannot be used: .*type must be/,
  "scope.parameter('$x', { schema: { type: 'string', pattern: '(' }, doc: 'x' })":
    /\$x\.schema cannot be used: Invalid regular/,
  "scope.parameter('$x', { schema: { $ref: '#/components/schemas/rest.Ok' }, doc: 'x' })":
    /\$x\.schema: a parameter cannot have \$ref or \$id/,
  "const a = { type: 'array' }; a.items = a; scope.parameter('$x', { schema: a, doc: 'x' })":
    /\$x\.schema\.items.* has more than 100 levels, or contains itself/,
  "let a = {}; for (let i = 0; i < 200; i++) a = { not: a }; scope.parameter('$x', { schema: a, doc: 'x' })":
    /more than 100 levels/,
  "scope.parameter('$x', { schema: { default: 1n }, doc: 'x' })": /\$x\.schema\.default: a bigint is not JSON/,
  "scope.parameter('$x', { schema: { const: NaN }, doc: 'x' })": /\$x\.schema\.const: NaN is not JSON/,
  "scope.parameter('$x', { schema: { enum: [undefined] }, doc: 'x' })": /\$x\.schema\.enum\.0: undefined is not JSON/,
  "scope.parameter('$x', { schema: text, doc: 'x', example: new Date() })":
    /\$x\.example: an object of Date is not JSON/,
  "scope.parameter('$x', { schema: { contentSchema: {} }, doc: 'x', example: '{' })":
    /\$x\.example: "\{" is not a JSON text/,
  "scope.parameter('$x', { schema: {}, doc: 'x', example: { $ref: '#/x' } })":
    /\$x\.example: \$ref is "#\/x"; it has to be/,
  "scope.command('$x', { schema: text, doc: 'x' }, done)": /\$x: "verbs" is missing/,
  "scope.command('$x', { schema: text, doc: 'x', verbs: ['get'] }, done)":
    /\$x\.verbs\.0: "get" is none of .*did you mean "GET"/,
  "scope.method('', { verbs: ['POST'] }, done)": /"" is not a name of a method/,
  "scope.method('a&b', { verbs: ['POST'] }, done)": /"a&b" is not a name of a method/,
  "scope.method('x', undefined, done)": /\$method=x has no description; its second argument is \{ verbs/,
  "scope.service('acme', { verbs: ['GET'] }, done)": /"acme" is not a name of a service/,
  "scope.service('$a/b', { verbs: ['GET'] }, done)": /"\$a\/b" is not a name of a service/,
  "scope.service('$x', undefined, done)": /\$x has no description; its second argument is \{ verbs/,
  "scope.service('$x', { verbs: ['GET'], tag: 7 }, done)": /\$x\.tag: expected a string, received 7/,
  "scope.service('$x', { verbs: ['GET'], administrators: 'yes' }, done)":
    /\$x\.administrators: expected a boolean, received "yes"/,
  "scope.service('$x', { verbs: ['GET'] })": /\$x has no handler/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET': { id: 'x', doc: 'x' } } }, done)":
    /\$x\.operations: expected a value such as "GET \/\{id\}", received "GET"/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'POST /': { id: 'x', doc: 'x' } } }, done)":
    /\$x\.operations\.POST \/: POST is not among the verbs, GET/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': null } }, done)":
    /\$x\.operations\.GET \/: expected an object, received null/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'list', doc: 'x' } } }, done)":
    /\.id: "list" means requests on data; write "acme\.list"/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'catalog', doc: 'x' } } }, done)":
    /registers the operation catalog, which plugin catalog has registered already/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x' }, 'GET /y': { id: 'x', doc: 'x' } } }, done)":
    /registers the operation x, which plugin acme has registered already/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /{name}': { id: 'x', doc: 'x' } } }, done)":
    /\.path: "name" is missing; add/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', path: { name: { schema: text } } } } }, done)":
    /\.path: "name" is not in the address/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /{a': { id: 'x', doc: 'x' } } }, done)":
    /\$x\.operations: expected .*, received "GET \/\{a"/,
  "const path = n => ({ [n]: { schema: text } }); scope.service('$x', { verbs: ['GET', 'POST'], operations: { 'GET /{a}': { id: 'x', doc: 'x', path: path('a') }, 'POST /{b}': { id: 'y', doc: 'y', path: path('b') } } }, done)":
    /\$x\.operations\.POST \/\{b\}: \/\{a\} is the same address; use the same names/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', answers: { ok: {} } } } }, done)":
    /\.answers: expected a value such as "200", received "ok"/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', answers: { 200: { types: 'text' } } } } }, done)":
    /\.answers\.200\.types: expected an array, received "text"/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', answers: { 200: { schema: { $ref: 'T0' } } } } } }, done)":
    /\.answers\.200\.schema: \$ref is "T0"; it has to be/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', answers: { 200: { schema: { $id: 'rest.Error' } } } } } }, done)":
    /\.schema: the \$id "rest\.Error" is not a name such as "acme\.Report"/,
  "const a = x => ({ 200: { schema: { $id: 'acme.X', type: x } } }); scope.service('$x', { verbs: ['GET'], operations: { 'GET /': { id: 'x', doc: 'x', answers: a('string') }, 'GET /y': { id: 'y', doc: 'y', answers: a('number') } } }, done)":
    /\.schema: a different schema has the \$id "acme\.X", too/,
  "scope.route('acme', { verbs: ['GET'] }, done)": /the route acme cannot be used/,
  "scope.route('/acme/{id}', { verbs: ['GET'] }, done)": /the route \/acme\/\{id\} cannot be used.*:name/,
  "scope.route('/rest/acme', { verbs: ['GET'] }, done)": /is below \/rest/,
  "scope.route('/acme', {}, done)": /the route \/acme: "verbs" is missing/,
  "scope.route('/acme/:id', { verbs: ['GET'], operations: { GET: { id: 'x', doc: 'x' } } }, done)":
    /the route \/acme\/:id\.operations\.GET\.path: "id" is missing/,
  "scope.route('/acme', { verbs: ['GET'], operations: { get: { id: 'x', doc: 'x' } } }, done)":
    /\.operations: "get" is none of .*did you mean "GET"/,
  "scope.part('x', done)": /"x" is not a name of a part/,
  "scope.service('$x', { verbs: ['GET'], administrator: true }, done)":
    /\$x\.administrator: .*did you mean "administrators"/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /{a}/{a}': { id: 'x', doc: 'x', path: { a: { schema: text } } } } }, done)":
    /two parameters in the address have one name/,
  "scope.service('$x', { verbs: ['GET'], operations: { 'GET /{a}': { id: 'x', doc: 'x', path: { a: { schema: { $id: 'acme.A' } } } } } }, done)":
    /\.path\.a\.schema: a parameter cannot have \$id/,
  "scope.parameter('$x', { schema: text, doc: 'x', example: 7 })": /\$x\.example: 7 does not fit the schema/,
  "throw new Error('no')": /failed to register: no/,
}

t.test('a description that cannot be shown is refused, and names plugin and registration', async t => {
  for (const [body, message] of Object.entries(REFUSED)) {
    const { problems, document } = await describe(t, pluginOf(body))
    t.equal(problems.length, 1, body)
    t.match(problems[0]?.split('\n')[0], message, body)
    t.match(problems[0], /^plugin acme /, body)
    t.ok(document().paths, body)
  }
})

t.test('a plugin that cannot be described keeps a server from starting', async t => {
  const folder = t.testdir({ 'index.js': pluginOf("scope.parameter('$x')"), 'package.json': '{ "type": "module" }' })
  await t.rejects(startServer(t, company, { config: { plugins: [join(folder, 'index.js')] } }), {
    message: /plugin acme .*failed to register: \$x has no description/,
  })
})

// biome-ignore lint/suspicious/noTemplateCurlyInString: a plugin can write it
const DOC = JSON.stringify('*/ **// `${x}` \'"\\ </script>\n\r\u2028{@link} \\u002a/ 🦊')
const ODD = `
const odd = ${DOC}
scope.parameter('$odd', { schema: { type: 'string', enum: [odd, "'", '\\\\'], default: odd }, doc: odd, example: odd })
scope.parameter('$none', { schema: { type: 'string', 'x-any': undefined }, doc: 'None.' })
scope.parameter('$a-b.c_D', { schema: { type: 'integer' }, doc: 'Signs.' })
scope.parameter('$expand', { schema: text, doc: 'Another one.', on: ['related', 'list'] })
scope.parameter('$twice', { schema: text, doc: 'The first.' })
scope.parameter('$twice', { schema: { type: 'integer' }, doc: 'The second.', on: ['list'] })
scope.method('constructor', { verbs: ['POST'], doc: odd, on: ['save'] }, done)
const hidden = { type: 'object', properties: { __proto__: null, ['__proto__']: text, default: { $ref: '#/components/schemas/acme.Covert' } }, default: { $id: 'acme.No', $ref: '#/components/schemas/No' }, 'x-any': done.any }
scope.service('$acme', { verbs: ['GET'], doc: odd, tag: odd, operations: {
  'GET /(a|b)*+': { id: 'Employee.list', doc: odd, answers: { 200: { schema: { $id: 'acme.Odd', ...hidden, example: { $ref: '#/components/schemas/constructor' } } }, default: { doc: odd, types: [] } } },
  'GET /same': { id: 'acme.same', doc: 'x', body: { schema: { $id: 'acme.Odd', ...hidden, example: { $ref: '#/components/schemas/constructor' } }, example: { $ref: '#/components/schemas/None' } } },
} }, done)
scope.service('$hidden', { verbs: ['GET'], administrators: true, doc: 'A covert one of administrators.', operations: { 'GET /': { id: 'acme.hidden', doc: 'Hidden', answers: { 200: { schema: { $id: 'acme.Covert' } } } } } }, done)
scope.service('$open', { verbs: ['GET'], operations: { 'GET /': { id: 'acme.open', doc: 'Open' } } }, done)
scope.parameter('$covert', { schema: text, doc: 'A covert one.', on: ['acme.hidden'] })
scope.route('/acme/v1:batch(.*)', { verbs: ['POST'], operations: { POST: { id: 'acme.batch', doc: 'Batch' } } }, done)
scope.route('/acme/:id/*rest', { verbs: ['GET'], operations: { GET: { id: 'acme.rest', doc: 'Rest', path: { id: { schema: text }, rest: { schema: text } } } } }, done)
`

t.test('odd texts, names and schemas give a valid document and a client that compiles', async t => {
  const other = pluginOf(
    "scope.parameter('$twice', { schema: { type: 'boolean' }, doc: 'A third.', on: ['get'] })",
    'b/c',
  )
  const { problems, document, client } = await describe(t, pluginOf(ODD), other)
  t.strictSame(problems, [])
  for (const isAdministrator of [true, false]) {
    const openApi = document(isAdministrator)
    const { valid, errors } = await new Validator().validate(structuredClone(openApi))
    t.ok(valid, JSON.stringify(errors))
    const operations = Object.values<Record<string, { operationId?: string; parameters?: { $ref?: string }[] }>>(
      openApi.paths,
    ).flatMap(item => Object.values(item).filter(({ operationId }) => operationId))
    const ids = operations.map(({ operationId }) => operationId)
    t.equal(new Set(ids).size, ids.length, 'ids are unique')
    for (const { operationId, parameters = [] } of operations) {
      const names = parameters.map(each => {
        const { name, in: place } = each.$ref
          ? openApi.components.parameters[each.$ref.split('/').at(-1)!]
          : (each as never)
        return `${place} ${name}`
      })
      t.equal(new Set(names).size, names.length, `${operationId}: ${names}`)
    }
    t.equal(/covert/i.test(JSON.stringify(openApi)), isAdministrator)
    t.ok(openApi.paths['/acme/v1:batch(.*)'])
    t.ok(openApi.paths['/acme/{id}/{rest}'])
    t.strictSame(
      openApi.components.schemas['acme.Odd'].properties.default,
      isAdministrator ? { $ref: '#/components/schemas/acme.Covert' } : {},
    )
    t.strictSame(openApi.components.schemas['acme.Odd'].default, { $id: 'acme.No' })
  }
  const folder = t.testdir()
  const text = client()
  t.match(text, /\/\*\* The first\. \*\/\s+readonly \$twice\?: string/)
  writeProject(folder, { 'client.ts': text })
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
  t.ok((await loadModule(folder, 'client.ts')).createClient)
})

t.test('the empty scope bears unusual use', async t => {
  const body = `
const { engine: { queries: { a, ...rest }, ...others }, log } = scope
await scope.sessions; await (await scope.call('x', [], {})).y
for (const each of scope.identities.all()) throw each
for await (const each of scope.sessions) throw each
for (const name in scope.logins) throw name
for (let i = 0; i < scope.plugins.length + scope.engine.list.length; i++) log.info(i)
if (scope.quota + 1 !== '1' || scope.quota * 2 !== 0 || \`\${scope.quota}\` !== '') throw new Error('arithmetic')
JSON.stringify({ a: scope.engine.x, b: [scope.quota] }); new Date(scope.now()).toISOString()
class Own extends scope.engine.Base {}; new Own(); new scope.engine.Base(1)
scope.quota.kept = 1; delete scope.quota.kept; Reflect.ownKeys(scope.quota); typeof scope.quota(); scope.quota?.a?.().b; scope.log.b\`c\`
try { Object.freeze(scope.quota) } catch {}
scope.registered.declared.length; if (!scope.registered.services.has('$catalog')) throw new Error('registered')
scope.engine.on('x', () => { throw new Error('called') })
scope.service('$acme', { verbs: ['GET'], operations: { 'GET /': { id: 'acme', doc: 'Acme' } } }, done)`
  const { problems, document } = await describe(
    t,
    pluginOf(body),
    pluginOf('scope.quota.name; scope.x.length; scope.x.prototype', 'b'),
  )
  t.strictSame(problems, [])
  t.ok(document().paths['/$acme'])
})

const LATE = `
scope.parameter('$mine', { schema: text, doc: 'Mine.', selects: true }, (read, value) => { if (value === '1') read.filter = 'ID = 0' })
scope.parameter('$near', { schema: text, doc: 'Near.', selects: true }, (read, value) => { read.filter = 'ID = ' + value })
scope.parameter('$tint', { schema: text, doc: 'Tint.' }, () => {})
scope.parameter('$text', { schema: text, doc: 'A text.' }, () => { throw new Error('the text of a search') })
scope.parameter('$twice', { schema: text, doc: 'The first.' })
scope.parameter('$twice', { schema: { type: 'integer' }, doc: 'The second.' })
let late
scope.onReady(() => { late = ['service', 'route', 'parameter'].map(kind => { try { scope[kind](kind === 'route' ? '/late' : '$late', { verbs: ['GET'], schema: text, doc: 'Late.' }, done); return '' } catch (error) { return error.message } }) })
scope.route('/late-messages', { verbs: ['GET'] }, () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(late) }))
`

const DELETIONS = [
  ['DELETE', ''],
  ['POST', '&$method=delete'],
] as const

t.test('a server with such a plugin deletes nothing by mistake, and agents give it what is its own', async t => {
  const folder = t.testdir({ 'index.js': pluginOf(LATE), 'package.json': '{ "type": "module" }' })
  const { url, get, send } = await startServer(t, company, { config: { plugins: [join(folder, 'index.js')] } })
  const count = async () => (await get('/Employee?$top=0')).json.__COUNT
  const before = await count()
  for (const query of [
    '$mine=',
    '$mine',
    '$mine=2',
    '$mine=%20',
    '$tint=1',
    '$mine=1&$mine=1',
    '$mine=1&$tint=',
    '$min=1',
  ]) {
    for (const [verb, more] of DELETIONS) {
      t.match(await send(verb, `/Employee?${query}${more}`), { status: 400 }, `${verb} ${query}`)
    }
  }
  for (const [query, name, otherName] of [
    ['$near=0&$filter=ID=0', '$near', '$filter'],
    ['$filter=ID=0&$near=0', '$near', '$filter'],
    ['$filter=ID=:1&$params=[0]&$near=0', '$near', '$filter'],
    ['$near=0&$mine=1', '$near', '$mine'],
    ['$mine=1&$filter=ID=0&$near=0', '$mine', '$near'],
  ] as const) {
    const message = `"${name}" cannot be combined with "${otherName}" in a deletion; send one of them`
    for (const [verb, more] of DELETIONS) {
      const answer = await send(verb, `/Employee?${query}${more}`)
      t.match(answer, { status: 400, json: { __ERROR: [{ errCode: 1806, message }] } }, `${verb} ${query}`)
    }
  }
  t.match(await send('DELETE', '/Employee?$mine=1'), { status: 200 })
  t.match(await send('DELETE', '/Employee?$near=0'), { status: 200 })
  t.equal(await count(), before)

  const messages = await (await fetch(`${url}/late-messages`)).json()
  const messageFor = (name: string) =>
    `plugin acme registers ${name} after the server has started; plugins register in register()`
  t.strictSame(messages, [messageFor('$late'), messageFor('/late'), messageFor('$late')])

  const { client: agent, call } = await connect(t, url)
  const { tools } = await agent.listTools()
  const { twice } = tools.find(({ name }) => name === 'query')!.inputSchema.properties as Record<string, object>
  t.match(twice, { type: 'string', description: 'The first.' })
  const result = await call('search', { class: 'Employee', text: 'a', attributes: ['lastName'] })
  t.notOk(result.isError, JSON.stringify(result))
  writeFileSync(join(folder, 'client.ts'), (await get('/$client')).text)
})
