/** `plugins/docs/pages/reference/parameters.md` against what the built-in plugins register. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { IGNORED_PARAMETERS } from '../../kernel/registry.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { codeIn, type Row, tablesOf } from '../support/checks/page-tables.ts'
import { registerBuiltIn } from '../support/checks/registered.ts'

const PAGE = 'plugins/docs/pages/reference/parameters.md'
const text = readFileSync(PAGE, 'utf8')
const tables = tablesOf(PAGE)
const { plugins, registry } = await registerBuiltIn()

const rowsOf = (heading: string, column: string): Row[] => {
  const rows = (tables.get(heading) ?? []).filter(row => row[column] !== undefined)
  for (const row of rows) t.ok((row.meaning ?? row.answer ?? '').length > 5, `${row[column]} has a meaning`)
  return rows
}
const plugin = (name: string): string => `\`${name}\``

t.test('parameters without an effect', async t => {
  const [, ignored] = /Known and without effect,(.*?)\n\n/s.exec(text)!
  t.strictSame(codeIn(ignored!).sort(), [...IGNORED_PARAMETERS].sort())
  for (const name of [...registry.declared.map(each => each.name), '$method', ...IGNORED_PARAMETERS])
    registry.demandKnown({ parameters: new Map([[name, '']]), isAdministrator: false })
})

t.test('verbs', async t => {
  const { verbs, binaries } = registry
  const rows = rowsOf('Verbs', 'verb').map(row => [row.verb, row.plugin, row['at one image or blob']])
  const names = [...new Set([...verbs.keys(), ...binaries.keys()])]
  const nameOf = (owner: { plugin: string } | undefined): string => (owner ? plugin(owner.plugin) : '')
  t.strictSame(rows.sort(), names.map(name => [name, nameOf(verbs.get(name)), nameOf(binaries.get(name))]).sort())
})

t.test('parts of paths', async t => {
  const parts = rowsOf('Addresses of data', 'part').map(row => [row.part, row.plugin])
  t.strictSame(parts.sort(), [...registry.parts].map(([name, each]) => [`\`${name}\``, plugin(each.plugin)]).sort())
  t.equal(registry.members.length, 0, 'class functions are members only if there are classes')
})

t.test('what plugins register is described', async t => {
  for (const [name, { doc, operations = {} }] of registry.services) {
    t.ok(doc, name)
    t.ok(name === '$singleton' || Object.keys(operations).length > 0, `operations of ${name}`)
  }
  for (const [name, { doc, on = [] }] of registry.methods) t.ok(doc && on.length > 0, name)
  for (const [path, { doc, isAsset }] of registry.routes) t.ok(doc || isAsset, path)
  for (const { definition } of plugins)
    for (const [name, { description }] of Object.entries(definition.options?.properties ?? {}))
      t.ok(description, `${definition.name}: ${name}`)
})

t.test('sections are those of COMPATIBILITY.md', async t => {
  const headings = [...readFileSync('plugins/docs/pages/protocol/compatibility.md', 'utf8').matchAll(/^## ([\d.]+) /gm)]
  const sections = new Set(['extension', 'protocol', ...headings.map(([, section]) => section!)])
  const named = [...tables.values()].flat().flatMap(row => row.section ?? [])
  t.ok(named.length > 50)
  for (const section of named) t.ok(sections.has(section), section)
})

/** Status of addresses that redirect, or need an option. */
const STATUS: Readonly<Record<string, number>> = {
  '/': 302,
  '/docs': 308,
  '/explorer': 308,
}

t.test('a server knows the addresses', async t => {
  const model = {
    name: 'staff',
    dataClasses: {
      Employee: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' } } },
    },
  }
  const classes = `import { DataClass, DataStore, Singleton, exposed } from 'tesser/classes'
export class Store extends DataStore { @exposed hello() { return 1 } }
export class Employee extends DataClass('Employee') { @exposed hello() { return 2 } }
export class Cart extends Singleton { @exposed hello() { return 3 } }`
  const index = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`
  const folder = t.testdir({ 'index.ts': index, 'classes.ts': classes })
  const server = await createTestServer({
    model,
    plugins: [`${folder}/index.ts`],
    data: { Employee: [{ name: 'Ada' }, { name: 'Kurt' }] },
    config: { auth: { guestsAdministrate: true } },
  })
  t.teardown(() => server.close())
  const BODIES: Readonly<Record<string, unknown>> = { '/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/list' } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const rows = ['Addresses of data', 'Addresses outside `/rest`'].flatMap(heading => rowsOf(heading, 'address'))
  t.ok(rows.length > 15)
  for (const row of rows) {
    const [verb, path] = codeIn(row.address!)[0]!.includes(' ')
      ? codeIn(row.address!)[0]!.split(' ')
      : [row.verbs ?? 'GET', codeIn(row.address!)[0]!]
    const filled = path!.replaceAll('{dataClass}', 'Employee').replace('{function}', 'hello')
    const { status, text } = await server.send(verb!, filled, BODIES[filled], filled === '/mcp' ? headers : {})
    const expected = STATUS[`${verb} ${filled}`] ?? STATUS[filled] ?? 200
    t.equal(status, expected, `${verb} ${filled}: ${text.slice(0, 100)}`)
  }
})
