/** `$openapi`: the document is valid, its examples can be sent, and answers match it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import t, { type Test } from 'tap'
import { Agent, request } from 'undici'
import { loadConfig } from '../../config/load-config.ts'
import { openapi } from '../../kernel/cli/openapi.ts'
import { registerBuiltIn } from '../support/checks/registered.ts'
import { startDemo } from '../support/servers/demo-server.ts'
import { company } from '../support/fixtures/company.ts'
import { Contract } from '../support/checks/openapi.ts'
import { wrongExamples } from '../support/checks/openapi-examples.ts'
import { isLong } from '../support/runner/rounds.ts'
import { declaredPlugin, streamingPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

type Send = TestServer['send']
// biome-ignore lint/suspicious/noExplicitAny: the test reads a document at many places
type Json = any

const validator = new Validator()

async function documentOf(t: Test, send: Send, headers?: Record<string, string>): Promise<Contract> {
  const { status, json, text } = await send('GET', '/$openapi', undefined, headers)
  t.equal(status, 200)
  const { valid, errors } = await validator.validate(JSON.parse(text))
  t.same(errors ?? [], [], 'a valid document')
  t.equal(valid, true)
  t.strictSame(wrongExamples(JSON.parse(text)).problems, [], 'examples fit their schemas')
  const shapes = Object.keys(json.paths).map(each => each.replaceAll(/\{\w+\}/g, '{}'))
  t.strictSame([...new Set(shapes)], shapes, 'no address has two templates')
  return new Contract(json)
}

/** Sends examples, and checks the answers against the document. The entity or user of an example may be missing. */
async function tryExamples(t: Test, contract: Contract, send: Send, every = 1): Promise<void> {
  const problems: string[] = []
  const counts = new Map<number, number>()
  // Locks of a request without a session last.
  const guest = await send('GET', '/$catalog')
  const cookie = String(guest.headers['set-cookie']).split(';')[0]!
  const examples = contract.examples().filter((_, i) => i % every === 0)
  for (const example of examples) {
    const { method, path, body, name } = example
    const answer = await send(method as 'GET', path, body, { cookie })
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
    const problem = contract.problemWith(example, answer)
    const isWrong = answer.status >= 500 || answer.status === 400 || answer.status === 405
    if (problem || isWrong) problems.push(`${name}: ${method} ${path}: ${problem ?? answer.text.slice(0, 200)}`)
  }
  t.same(problems.slice(0, 20), [])
  const shown = [...counts].sort().map(([status, count]) => `${count} × ${status}`)
  t.comment(shown.join(', '))
  t.ok((counts.get(200) ?? 0) > examples.length / 2, shown.join(', '))
}

t.test('the document of the company is valid and its examples are answered as it says', async t => {
  const server = await startServer(t, company, { config: { plugins: [declaredPlugin] } })
  const contract = await documentOf(t, server.send)
  await tryExamples(t, contract, server.send)
})

t.test('a function that is a generator is described by its values', async t => {
  const server = await startServer(t, company, { config: { plugins: [streamingPlugin] } })
  await documentOf(t, server.send)
  const { json } = await server.get('/$openapi')
  const content = (name: string) => Object.keys(json.components.responses[name].content)
  t.same(content('City.entitySelection.each'), ['application/x-ndjson', 'text/event-stream'])
  t.same(content('ds.dataStore.made'), ['application/json', '*/*'])
})

t.test('so is that of the demo', async t => {
  const { url } = await startDemo(t)
  const agent = new Agent({ keepAliveTimeout: 1_000 })
  t.teardown(() => agent.close())
  const send: Send = async (method, path, body, headers = {}) => {
    const content = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body)
    const answer = await request(`${url}${path.startsWith('//') ? path.slice(1) : `/rest${path}`}`, {
      method,
      dispatcher: agent,
      headers,
      body: content,
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    const text = bytes.toString()
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      bytes,
      json: isJson ? JSON.parse(text || 'null') : undefined,
    }
  }
  const contract = await documentOf(t, send)
  await tryExamples(t, contract, send, isLong ? 1 : 5)
})

t.test('a document that the client has is not sent again', async t => {
  const server = await startServer(t, company)
  for (const coding of ['', 'gzip', 'br']) {
    const headers: Record<string, string> = coding ? { 'accept-encoding': coding } : {}
    const first = await server.get('/$openapi', headers)
    t.match(first.headers, {
      'content-encoding': coding || undefined,
      'cache-control': 'private, no-cache',
      vary: /Cookie, Authorization/,
    })
    const tag = String(first.headers.etag)
    const again = await server.get('/$openapi', { ...headers, 'if-none-match': tag })
    t.strictSame([again.status, again.text, again.headers.etag], [304, '', tag])
    t.equal((await server.get('/$openapi', { ...headers, 'if-none-match': '"other"' })).status, 200)
  }
})

t.test('the command writes the document for a client without restrictions', async t => {
  const folder = temporaryFolder(t)
  const config = { plugins: [declaredPlugin], auth: { guestsAdministrate: true } }
  const server = await startServer(t, company, { folder, config })
  const out = join(folder, 'openapi.json')
  const file = join(folder, 'tesser.config.json')
  await openapi(loadConfig({ file, pathsFrom: process.cwd(), env: {}, flags: {} }), out)
  t.strictSame(JSON.parse(readFileSync(out, 'utf8')), (await server.get('/$openapi')).json)
})

t.test('plugins that are not loaded leave no trace', async t => {
  const gone = ['compute', 'filter', 'entity-set', 'lock', 'update', 'upload', 'info', 'post-query', 'paging']
  const server = await startServer(t, company, { config: { disablePlugins: gone, plugins: [declaredPlugin] } })
  const contract = await documentOf(t, server.send)
  const { paths, components } = contract.document
  const text = JSON.stringify(paths) + JSON.stringify(components.parameters)
  for (const name of [
    '$compute',
    '$filter',
    '$top',
    '$entityset',
    '$query',
    '$upload',
    '$info',
    '$lock',
    'savedfilter',
  ]) {
    t.notOk(text.includes(`"${name}"`) || text.includes(`/${name}`), name)
  }
  t.strictSame(Object.keys(paths['/Employee']), ['get'])
  await tryExamples(t, contract, server.send)
})

t.test('the document has everything that the built-in plugins accept', async t => {
  const { registry } = await registerBuiltIn()
  const config = { plugins: [declaredPlugin], auth: { guestsAdministrate: true } }
  const { document } = await documentOf(t, (await startServer(t, company, { config })).send)
  const operations = Object.values<Json>(document.paths).flatMap(item =>
    [item, ...Object.values<Json>(item)].flatMap(each => each.parameters ?? []),
  )
  const used = operations.map(each => (each.$ref ? document.components.parameters[each.$ref.split('/').at(-1)] : each))
  const names = new Set(used.map(({ name }) => name))
  const missing = [...new Set(registry.declared.map(({ name }) => name)), '$method']
  t.same(
    missing.filter(name => !names.has(name)),
    [],
    'parameters',
  )
  const values = used.flatMap(({ name, schema }) => (name === '$method' ? (schema.enum ?? [schema.const]) : []))
  t.same([...new Set(values)].sort(), [...registry.methods.keys()].sort(), 'values of $method')
  const paths = Object.keys(document.paths)
  const isThere = (start: string): boolean => paths.some(path => path === start || path.startsWith(`${start}/`))
  const services = [...registry.services.keys(), ...[...registry.parts.keys()].map(part => `Employee/${part}`)]
  t.same(
    services.filter(name => !isThere(`/${name}`)),
    [],
    'services and parts of paths',
  )
  const PAGES = ['docs', 'explorer']
  const routes = [...registry.routes].filter(([, { plugin, isAsset }]) => !isAsset && !PAGES.includes(plugin))
  t.same(
    routes.map(([path]) => path).filter(path => !document.paths[path]?.servers),
    [],
    'addresses outside /rest',
  )
  const functions = [
    '/Employee({key},{keys})/joined',
    '/Employee/joined/$entityset/{id}',
    '/Employee({key})/manager/raised',
  ]
  for (const path of [...functions, '/Company({key})/staff/joined']) t.ok(isThere(path), path)
})
