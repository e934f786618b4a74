/** `plugins/PARAMETERS.md` against what the built-in plugins register. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { IGNORED_PARAMETERS } from '../../kernel/registry.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { codeIn, type Row, tablesOf } from '../support/page-tables.ts'
import { registerBuiltIn } from '../support/registered.ts'

const PAGE = 'plugins/PARAMETERS.md'
const text = readFileSync(PAGE, 'utf8')
const tables = tablesOf(PAGE)
const { plugins, registry, readers } = await registerBuiltIn()

const rowsOf = (heading: string, column: string): Row[] => {
  const rows = (tables.get(heading) ?? []).filter(row => row[column] !== undefined)
  for (const row of rows) t.ok((row.meaning ?? row.answer ?? '').length > 5, `${row[column]} has a meaning`)
  return rows
}
const plugin = (name: string): string => `\`${name}\``

t.test('parameters, with the plugins that take them', async t => {
  const { commands, parameters } = registry
  const names = new Set([...commands.keys(), ...parameters.keys(), ...readers.keys()])
  const expected = [...names].map(name => {
    const command = commands.get(name)
    const parameter = parameters.get(name)
    const read = readers.get(name)
    const parts = [
      command && `${plugin(command.plugin)} answers ${command.verbs.join(', ')}`,
      parameter && plugin(parameter.plugin),
      read && `read by ${read.map(plugin).join(' ')}`,
    ]
    return [name, parts.filter(part => part).join('; ')]
  })
  const rows = rowsOf('Parameters', 'parameter').map(row => [codeIn(row.parameter!)[0]!, row.plugin!])
  t.strictSame(rows.sort(), [...expected, ['$method', 'kernel']].sort())
  const [, ignored] = /Known and without effect,(.*?)\n\n/s.exec(text)!
  t.strictSame(codeIn(ignored!).sort(), [...IGNORED_PARAMETERS].sort())
  for (const name of [...rows.map(([name]) => name!), ...IGNORED_PARAMETERS])
    registry.demandKnown(new Map([[name, '']]))
})

t.test('values of $method', async t => {
  const rows = rowsOf('Values of `$method`', 'value').map(row => [row.value, row.verbs, row.plugin])
  const expected = [...registry.methods].map(([name, each]) => [
    `\`${name}\``,
    each.verbs.join(', '),
    plugin(each.plugin),
  ])
  t.strictSame(rows.sort(), expected.sort())
})

t.test('verbs', async t => {
  const { verbs, binaries } = registry
  const rows = rowsOf('Verbs', 'verb').map(row => [row.verb, row.plugin, row['at one image or blob']])
  const names = [...new Set([...verbs.keys(), ...binaries.keys()])]
  const nameOf = (owner: { plugin: string } | undefined): string => (owner ? plugin(owner.plugin) : '')
  t.strictSame(rows.sort(), names.map(name => [name, nameOf(verbs.get(name)), nameOf(binaries.get(name))]).sort())
})

t.test('path parts, services and routes', async t => {
  const parts = rowsOf('Addresses of data', 'part').map(row => [row.part, row.plugin])
  t.strictSame(parts.sort(), [...registry.parts].map(([name, each]) => [`\`${name}\``, plugin(each.plugin)]).sort())
  const services = rowsOf('Services', 'service').map(row => [row.service, row.verbs, row.guests, row.plugin])
  t.strictSame(
    services.sort(),
    [...registry.services]
      .map(([name, each]) => [`\`${name}\``, each.verbs.join(', '), each.guests ? 'yes' : '', plugin(each.plugin)])
      .sort(),
  )
  const addresses = rowsOf('Services', 'address').map(row => row.address)
  for (const name of registry.services.keys())
    t.ok(
      addresses.some(address => address!.includes(`/rest/${name}`)),
      `addresses of ${name}`,
    )
  const routes = rowsOf('Addresses outside `/rest`', 'address').map(row => [row.address, row.verbs, row.plugin])
  t.strictSame(
    routes.sort(),
    [...registry.routes]
      .filter(([path, { isAsset }]) => !isAsset || path.endsWith('/'))
      .map(([path, each]) => [`\`${path}\``, each.verbs.join(', '), plugin(each.plugin)])
      .sort(),
  )
  t.equal(registry.members.length, 1, 'class functions are the only members')
})

t.test('options of the plugins', async t => {
  const rows = rowsOf('Options of built-in plugins', 'option').map(row => [row.plugin, row.option, row.default])
  const expected = plugins.flatMap(({ definition }) => {
    return Object.entries(definition.options?.properties ?? {}).map(([option, { default: value }]) => {
      const shown = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return [plugin(definition.name), `\`${option}\``, shown]
    })
  })
  t.strictSame(rows.sort(), expected.sort())
})

t.test('sections are those of COMPATIBILITY.md', async t => {
  const headings = [...readFileSync('plugins/COMPATIBILITY.md', 'utf8').matchAll(/^## ([\d.]+) /gm)]
  const sections = new Set(['extension', 'protocol', ...headings.map(([, section]) => section!)])
  const named = [...tables.values()].flat().flatMap(row => row.section ?? [])
  t.ok(named.length > 50)
  for (const section of named) t.ok(sections.has(section), section)
})

/** Status of addresses that redirect, or need an option. */
const STATUS: Readonly<Record<string, number>> = {
  '/rest/$backup': 404,
  'POST /rest/$migrate': 202,
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
  const BODIES: Readonly<Record<string, unknown>> = {
    '/rest/$upload?$binary=true': 'bytes',
    '/rest/$directory/currentUserBelongsTo': ['staff'],
    '/rest/$entityset/$release': [],
    '/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const rows = ['Addresses of data', 'Services', 'Addresses outside `/rest`'].flatMap(heading =>
    rowsOf(heading, 'address'),
  )
  t.ok(rows.length > 25)
  for (const row of rows) {
    const [verb, path] = codeIn(row.address!)[0]!.includes(' ')
      ? codeIn(row.address!)[0]!.split(' ')
      : [row.verbs ?? 'GET', codeIn(row.address!)[0]!]
    const filled = path!.replaceAll('{dataClass}', 'Employee').replace('{function}', 'hello').replace('{class}', 'Cart')
    const { status, text } = await server.send(verb!, filled, BODIES[filled], filled === '/mcp' ? headers : {})
    const expected = STATUS[`${verb} ${filled}`] ?? STATUS[filled] ?? (filled.endsWith('/login') ? 400 : 200)
    t.equal(status, expected, `${verb} ${filled}: ${text.slice(0, 100)}`)
  }
})
