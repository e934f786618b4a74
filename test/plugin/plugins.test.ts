import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Writes plugins as a third party would, as modules without a build. @returns their paths */
function writePlugins(t: Test, sources: Record<string, string>): string[] {
  const folder = t.testdir({})
  return Object.entries(sources).map(([name, source]) => {
    const file = join(folder, `${name}.mjs`)
    writeFileSync(file, source)
    return file
  })
}

const plugin = (fields: string) => `export default { name: 'acme', kernel: '^1.0.0', register() {}, ${fields} }`

t.test('a plugin of a third party adds a service, a command, a parameter and a route', async t => {
  const plugins = writePlugins(t, {
    acme: `export default {
      name: 'acme',
      kernel: '^1.0.0',
      options: { type: 'object', properties: { greeting: { type: 'string', default: 'hello' } } },
      register(scope, { greeting }) {
        const json = value => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) })
        scope.service('$hello', { verbs: ['GET'] }, request => json({ greeting, parts: request.parts }))
        scope.command('$names', { verbs: ['GET'], schema: { type: 'string' }, doc: 'Names alone.' }, async request => {
          const { __ENTITIES } = JSON.parse(Buffer.from(await scope.engine.read(request.read)))
          return json(__ENTITIES.map(entity => entity.name))
        })
        scope.parameter('$only', { schema: { type: 'string' }, doc: 'Entities of this name.', selects: true }, (read, value) => { read.filter = 'name = :1'; read.params = { positional: [value], named: new Map(), attributes: new Map() } })
        scope.parameter('$every', { schema: { type: 'boolean' }, doc: 'Does nothing.', on: ['openSet'], example: true }, () => {})
        scope.route('/acme', { verbs: ['GET', 'POST'] }, () => json('acme'))
      },
    }`,
  })
  const server = await startServer(t, company, { config: { plugins } })
  t.same((await server.get('/$hello/a/b')).json, { greeting: 'hello', parts: ['a', 'b'] })
  t.same((await server.get('/City?$names=true&$top=1')).json, ['Paris'])
  t.same((await server.get('/City?$only=paris')).json.__COUNT, 1)
  t.match((await server.get('/City?$onyl=paris')).json.__ERROR, [{ message: /did you mean "\$only"/ }])
  const refused = await server.send('DELETE', '/City?$every=2')
  t.equal(refused.status, 400, 'a deletion takes no parameter that does not select')
  t.match(refused.json.__ERROR, [{ errCode: 1806, message: /"\$every"/ }])
  t.equal((await server.send('DELETE', '/City?$only=nowhere')).status, 200)
  t.equal(
    (await server.post('/City?$method=update&$only=paris', { name: 'New' })).status,
    400,
    'nor a save one that does',
  )
  t.ok((await server.get('/City')).json.__COUNT > 1, 'nothing was deleted')
  t.same((await server.get('//acme')).json, 'acme')
  t.equal((await server.send('DELETE', '//acme')).headers.allow, 'GET, POST')
})

t.test('options of a plugin come from the config', async t => {
  const [acme] = writePlugins(t, {
    acme: `export default {
      name: 'acme', kernel: '^1.0.0',
      options: { type: 'object', properties: { greeting: { type: 'string' } } },
      register(scope, options) {
        scope.route('/acme', { verbs: ['GET'] }, () => ({ status: 200, body: options.greeting }))
      },
    }`,
  })
  const server = await startServer(t, company, {
    config: { plugins: [{ plugin: acme, options: { greeting: 'salut' } }] },
  })
  t.equal((await server.get('//acme')).text, 'salut')
})

t.test('a plugin that fails in a request fails that request only', async t => {
  const plugins = writePlugins(t, {
    acme: `export default { name: 'acme', kernel: '^1.0.0', register(scope) {
      scope.service('$throws', { verbs: ['GET'] }, () => { throw new Error('inner secret') })
      scope.service('$rejects', { verbs: ['GET'] }, async () => { throw new Error('inner secret') })
    } }`,
  })
  const server = await startServer(t, company, { config: { plugins } })
  for (const path of ['/$throws', '/$rejects']) {
    const { status, json, text } = await server.get(path)
    t.equal(status, 500)
    t.ok(json.__ERROR[0].message)
    t.notMatch(text, /inner secret/)
  }
  t.equal((await server.get('/City(Paris)')).status, 200)
})

const refused: [string, Record<string, string>, RegExp][] = [
  [
    'a module without a plugin',
    { acme: 'export default 5' },
    /acme\.mjs cannot be loaded: its default export is not a plugin/,
  ],
  ['a module that does not parse', { acme: 'export default {' }, /acme\.mjs cannot be loaded/],
  ['a plugin without a name', { acme: plugin(`name: ''`) }, /acme\.mjs has no name/],
  [
    'a plugin without a kernel range',
    { acme: plugin('kernel: undefined') },
    /plugin acme does not say which kernel versions it works with/,
  ],
  [
    'a plugin for another kernel',
    { acme: plugin(`kernel: '^9.0.0'`) },
    /plugin acme needs kernel \^9\.0\.0; this is kernel 1\./,
  ],
  ['two plugins of one name', { a: plugin(''), b: plugin('') }, /a\.mjs and .*b\.mjs have the same name, acme/],
  [
    'a plugin whose needs are not met',
    { acme: plugin(`needs: ['other']`) },
    /plugin acme needs plugin other, which is not loaded before it/,
  ],
  [
    'a plugin that registers what another has',
    { acme: plugin(`register(s) { s.parameter('$filter', { schema: {}, doc: 'Mine.' }, () => {}) }`) },
    /plugin acme registers \$filter, which plugin filter has registered already/,
  ],
  [
    'a parameter without a description',
    { acme: plugin(`register(s) { s.parameter('$mine', () => {}) }`) },
    /plugin acme .*failed to register: \$mine has no description; its second argument is \{ schema, doc \}/,
  ],
  [
    'a plugin that fails to register',
    { acme: plugin(`register() { throw new Error('no disk') }`) },
    /plugin acme .*failed to register: no disk/,
  ],
]

t.test('a route that yields goes to another plugin, whichever is registered first', async t => {
  const routeOf = (name: string, accepts: string) =>
    `export default { name: '${name}', kernel: '^1.0.0', register(s) {
      s.route('/start', { verbs: ['GET']${accepts} }, () => ({ status: 200, body: '${name}' }))
    } }`
  const [first, owner, last] = [', yields: true', '', ', yields: true'].map((accepts, i) => routeOf(`p${i}`, accepts))
  const server = await startServer(t, company, {
    config: { plugins: writePlugins(t, { first: first!, owner: owner!, last: last! }) },
  })
  t.match(await server.get('//start'), { status: 200, text: 'p1' })
})

for (const [name, sources, message] of refused) {
  t.test(`${name} is refused before the port opens`, async t => {
    await t.rejects(startServer(t, company, { config: { plugins: writePlugins(t, sources) } }), { message })
  })
}

t.test('wrong options of a plugin are refused with the nearest known one', async t => {
  const [acme] = writePlugins(t, {
    acme: plugin(`options: { type: 'object', properties: { radius: { type: 'number', minimum: 1 } } }`),
  })
  const start = (options: object) => startServer(t, company, { config: { plugins: [{ plugin: acme, options }] } })
  await t.rejects(start({ raduis: 5 }), { message: /plugin acme has no option raduis; did you mean "radius"/ })
  await t.rejects(start({ radius: 0 }), { message: /plugin acme: option radius must be >= 1/ })
})

t.test('a plugin that does not exist is refused with its specifier', async t => {
  for (const specifier of ['acme-nowhere', 'tesser/plugins/nowhere', 'tesser/plugins/constructor'])
    await t.rejects(startServer(t, company, { config: { plugins: [specifier] } }), {
      message: new RegExp(`plugin ${specifier} cannot be loaded`),
    })
})

t.test('a built-in plugin can be left out', async t => {
  const server = await startServer(t, company, { config: { disablePlugins: ['delete'] } })
  t.equal((await server.send('DELETE', '/City(Paris)')).status, 405)
  t.equal((await server.get('/City(Paris)')).status, 200)
})
