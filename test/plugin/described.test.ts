/** Descriptions of a plugin are in the OpenAPI document of a server that loads it, and of no other. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import t, { type Test } from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { client } from '../../kernel/cli/client.ts'
import { openapi } from '../../kernel/cli/openapi.ts'
import { company } from '../support/fixtures/company.ts'
import { connect } from '../support/clients/mcp-client.ts'
import { loadModule } from '../support/clients/typed-client.ts'
import { logSink } from '../support/base/log-sink.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { startServer } from '../support/servers/test-server.ts'

const INDEX = `import { definePlugin, json, Type } from 'tesser'
const text = { type: 'string' }
const REPORT = { $id: 'acme.Report', type: 'object', properties: { parts: { type: 'array', items: text } } }
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  options: Type.Object({ secret: Type.Optional(Type.String()) }),
  register(scope, { secret }) {
    scope.parameter('$near', { schema: { ...text, format: 'condition' }, doc: 'Near this.', selects: true }, (read, value) => { read.filter = 'lastName = :1'; read.params = { positional: [value], named: new Map(), attributes: new Map() } })
    scope.parameter('$depth', { schema: { type: 'integer' }, doc: 'How deep.', example: 2, on: ['acme.report'] })
    scope.command('$map', { verbs: ['GET'], schema: { type: 'boolean' }, doc: 'A map.', on: ['listValues'] }, () => undefined)
    scope.command('$chart', { verbs: ['GET'], schema: { type: 'boolean' }, doc: 'A chart.' }, () => json([]))
    scope.method('archive', { verbs: ['POST'], doc: 'Archives.', on: ['save'] }, () => json({}))
    const report = { id: 'acme.report', doc: 'A report', path: { name: { schema: text, example: 'a' } }, answers: { 200: { schema: REPORT } } }
    scope.service('$acme', { verbs: ['GET'], doc: 'Reports.', operations: { 'GET /{name}': report } }, () => json({ parts: [] }))
    scope.service('$inside', { verbs: ['GET'], administrators: true, operations: { 'GET /': { id: 'acme.inside', doc: 'Inside' } } }, () => json({}))
    scope.service('$silent', { verbs: ['GET'] }, () => json({}))
    scope.method('count', { verbs: ['GET'], doc: 'Counts.' }, () => json({}))
    scope.parameter('$both', { schema: text, doc: 'Also this.', selects: true }, (read, value) => { read.filter = '(' + (read.filter ?? 'ID > 0') + ') and ' + value })
    scope.service('$refers', { verbs: ['GET'], operations: { 'GET /': { id: 'acme.refers', doc: 'Refers', answers: { 200: { schema: { $ref: '#/components/schemas/Nothing' } } } } } }, () => json({}))
    scope.route('/acme/:id', { verbs: ['PUT'], operations: { PUT: { id: 'acme.put', doc: 'Puts', path: { id: { schema: text } } } } }, () => json({}))
    if (!/^key-/.test(secret ?? 'key-')) throw new Error('the secret is no key')
  },
})`

t.test('a server shows what its plugins describe, and to whom it may', async t => {
  const folder = t.testdir({ 'index.ts': INDEX })
  const plugins = [join(folder, 'index.ts')]
  const { get } = await startServer(t, company, { config: { plugins } })
  const { json: document } = await get('/$openapi')
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.ok(valid, JSON.stringify(errors))
  const { paths, components } = document
  const refs = (operation: { parameters: { $ref: string }[] }): string[] =>
    operation.parameters.map(({ $ref }) => $ref.split('/').at(-1)!)
  t.match(components.parameters['Employee.near'], { name: '$near', description: 'Near this.', example: / / })
  t.ok(refs(paths['/Employee'].get).includes('Employee.near'))
  t.notOk(refs(paths['/Employee({key})'].get).includes('Employee.near'))
  t.ok('$near' in components.schemas['rest.Query'].properties, 'in the body of $query, too')
  t.ok(refs(paths['/Employee/{attributes}'].get).includes('map'))
  t.match(components.parameters['method-update-validate-delete-archive'], {
    schema: { enum: ['update', 'validate', 'delete', 'archive'] },
    description: /`archive`: Archives\./,
  })
  t.match(components.parameters['method-entityset-count'], { schema: { enum: ['entityset', 'count'] } })
  const { schema } = paths['/$refers'].get.responses[200].content['application/json']
  t.strictSame(schema, {}, 'a reference to nothing does not prevent the document')
  t.match(paths['/$acme/{name}'].get, { operationId: 'acme.report', tags: ['acme'] })
  t.strictSame(paths['/$acme/{name}'].get.parameters[1], { $ref: '#/components/parameters/depth' })
  t.match(document.tags, [...document.tags.slice(0, -1), { name: 'acme', description: 'Reports.' }])
  t.ok(components.schemas['acme.Report'])
  t.strictSame(paths['/acme/{id}'].servers, [{ url: '/' }])
  for (const hidden of ['/$silent', '/$inside']) t.notOk(paths[hidden], hidden)
  t.equal((await get('/$inside')).status, 401)

  const others = await startServer(t, company)
  t.notMatch((await others.get('/$openapi')).text, /near|acme/i)
})

t.test('a parameter of a plugin finds the whole filter, in any order of the address', async t => {
  const folder = t.testdir({ 'index.ts': INDEX })
  const { get } = await startServer(t, company, { config: { plugins: [join(folder, 'index.ts')] } })
  for (const query of ['$both=ID<4&$filter=ID>1', '$filter=ID>1&$both=ID<4']) {
    t.equal((await get(`/Employee?${query}`)).json.__COUNT, 2, query)
  }
})

t.test('agents and typed clients have the parameters of plugins', async t => {
  const folder = t.testdir({ 'index.ts': INDEX })
  const plugins = [join(folder, 'index.ts')]
  const server = await startServer(t, company, { config: { plugins } })
  const { json: document } = await server.get('/Employee?$top=1')
  const lastName = document.__ENTITIES[0].lastName as string

  const { client: agent, call } = await connect(t, server.url)
  const { tools } = await agent.listTools()
  const inputs = new Map(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]))
  for (const name of ['query', 'search']) t.ok(inputs.get(name)!.includes('near'), name)
  t.notOk(inputs.get('aggregate')!.includes('near'))
  t.notOk(inputs.get('query')!.includes('chart'), 'a command does not answer with entities')
  const found = await call('query', { class: 'Employee', near: lastName, attributes: ['lastName'] })
  t.strictSame(
    found.json.data.map((each: { lastName: string }) => each.lastName),
    [lastName],
  )

  const { text } = await server.get('/$client')
  t.match(text, /readonly parameters: \{[^}]*\/\*\* Near this\. \*\/\s+readonly \$near\?: string\s/)
  t.notMatch(text, /\$chart/)
  writeFileSync(join(folder, 'client.ts'), text)
  const { createClient } = await loadModule(folder, 'client.ts')
  const db = createClient(`${server.url}/rest`)
  const query = db.Employee.all.with({ $near: lastName })
  const rows = (await query.list()) as { lastName: string }[]
  t.ok(rows.length > 0)
  for (const row of rows) t.equal(row.lastName, lastName)
  t.equal(await query.count(), rows.length)
  let paged = 0
  for await (const _ of query) paged++
  t.equal(paged, rows.length)
})

/** Runs `tesser openapi` and `tesser client` for a plugin. */
async function describe(t: Test, index: string) {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'model.json'), JSON.stringify(company.model))
  writeFileSync(join(folder, 'index.ts'), index)
  const file = join(folder, 'tesser.config.json')
  const plugins = [{ plugin: './index.ts', options: { secret: { env: 'ACME_SECRET' } } }]
  writeFileSync(file, JSON.stringify({ model: 'model.json', plugins }))
  const config = loadConfig({ file, pathsFrom: folder, env: {}, flags: {} })
  const out = (name: string) => join(folder, name)
  const printed: string[][] = []
  for (const run of [
    () => openapi(config, out('openapi.json')),
    () => client(() => config, { out: out('client.ts'), dates: 'date', module: false }),
  ]) {
    const lines: string[] = []
    const { restore } = t.capture(process.stderr, 'write', (text: string) => lines.push(text) > 0)
    await run()
    restore()
    printed.push(lines)
  }
  return { printed, document: JSON.parse(readFileSync(out('openapi.json'), 'utf8')) }
}

t.test('the commands describe plugins without a store and without secrets, as far as they go', async t => {
  const { printed, document } = await describe(t, INDEX)
  for (const lines of printed) {
    t.match(lines, [/^plugin acme is described in part, since it failed to register: the secret is no key/])
  }
  for (const path of ['/Employee', '/$acme/{name}', '/$inside', '/acme/{id}']) t.ok(document.paths[path], path)
})

t.test('a parameter on an operation that nothing registers is reported', async t => {
  const index = INDEX.replace("['acme.report']", "['acme.reprot', 'list']").replace("on: ['save']", "on: ['svae']")
  const messages = [
    'plugin acme: $depth is on "acme.reprot", which is not an operation; did you mean "acme.report"?',
    'plugin acme: $method=archive is on "svae", which is not an operation; did you mean "save"?',
  ]
  const { printed } = await describe(t, index.replace('/^key-/', '/./'))
  for (const lines of printed)
    t.strictSame(
      lines,
      messages.map(message => `${message}\n`),
    )

  const folder = t.testdir({ 'index.ts': index })
  const { lines, logger } = logSink()
  await startConfigured(t, { logger: () => logger, config: { plugins: [join(folder, 'index.ts')] } })
  t.match(
    lines.filter(({ plugin, level }) => plugin === 'acme' && level === 40).map(({ msg }) => msg),
    messages,
  )
})
