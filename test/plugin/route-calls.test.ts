/** `scope.call`: functions of a plugin, called from its routes, with the rights of the request or of the plugin. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createTestServer, type TestClient } from '../../kernel/testing.ts'

const INDEX = `import { definePlugin, json } from 'tesser'
export default definePlugin({
  name: 'acme-hooks',
  kernel: '^1.0.0',
  classes: [new URL('./classes.ts', import.meta.url), new URL('./singleton.ts', import.meta.url)],
  register(scope) {
    // Calls the functions of the body, or of a query, one after the other.
    const answer = async request => {
      const asked = request.verb === 'GET' ? request.query.get('calls') : Buffer.from(await request.body()).toString()
      const { calls } = JSON.parse(asked)
      const as = request.pathParameters.as === 'plugin' ? 'plugin' : request
      const results = []
      for (const [name, args = []] of calls) {
        results.push(await scope.call(name, args, { as }))
      }
      return json(results)
    }
    scope.route('/call/:as', { verbs: ['GET', 'POST'] }, answer)
    scope.route('/page', { verbs: ['GET'] }, request => scope.call('Store.page', [], { as: request }))
    scope.route('/big', { verbs: ['GET'] }, async () => json(await scope.call('Store.echo', [1n], { as: 'plugin' })))
    scope.route('/lone', { verbs: ['GET'] }, async () => json(await scope.call('Store.echo', 'x', { as: 'plugin' })))
    scope.route('/leaves', { verbs: ['POST'] }, async request => {
      await request.body()
      return json(await scope.call('Store.waits', [], { as: request }))
    })
    const stopping = new AbortController()
    scope.route('/stopped', { verbs: ['GET'] }, async () => {
      // The answer of a call that has ended is dropped.
      void scope.call('Store.waits', [], { as: 'plugin', signal: stopping.signal }).catch(() => {})
      return json('begun')
    })
    scope.route('/stop', { verbs: ['GET'] }, () => {
      stopping.abort()
      return json('stopping')
    })
    scope.service('$calls', { verbs: ['POST'] }, async request => {
      await request.body()
      return json(await scope.call('Store.who', [], { as: request }))
    })
  },
})`

const CLASSES = `import { DataClass, DataStore, ds, Entity, event, exposed, onHTTPGet, OutgoingMessage, ProtocolError, request, Session, Type } from 'tesser/classes'

let state = ''

export class Store extends DataStore {
  who() { return [Session.userName, Session.isGuest(), Session.isServer(), Session.getPrivileges().sort()] }
  echo(...values) { return values.length === 1 ? values[0] : values }
  read() { return ds.Note.all().orderBy('text').toCollection() }
  secret() { return ds.Note.all().first()?.secret ?? null }
  save(text) { return ds.Note.new({ text, author: Session.userName }).save() }
  first() { return ds.Note.all().orderBy('ID').first() }
  notes() { return ds.Note.all().orderBy('text') }
  nothing() {}
  fails() { throw new TypeError('broken') }
  refuses() { throw { errCode: 9001, message: 'too much' } }
  refused() { throw new ProtocolError({ name: 'ACME', httpStatus: 409, entries: [{ message: 'taken', componentSignature: 'acme', errCode: 9002 }] }) }
  async later(value) { await new Promise(resolve => setTimeout(resolve, 1)); return value }
  async waits() {
    state = 'waits'
    await new Promise(resolve => request.signal.addEventListener('abort', resolve))
    state = 'gone'
  }
  stateOf() { return state }
  keep(value) { Session.storage.value = value; return value }
  kept() { return Session.storage.value ?? null }
  login(name) { return Session.setPrivileges({ userName: name, privileges: 'readNotes' }) }
  page() {
    const answer = new OutgoingMessage()
    answer.setHeader('Content-Type', 'text/plain')
    answer.setStatus(202)
    answer.setBody('a page')
    return answer
  }
  *generated() { yield 1 }
  @exposed open(value) { return ['open', value] }
  @onHTTPGet harmless() { return 'harmless' }
  @exposed({ parameters: Type.Tuple([Type.Integer({ title: 'count' })]) }) declared(count) { return count }
}

export class NoteTools extends DataClass('Note') {
  count() { return [this.getCount(), ds.Note.all().length] }
  @event('restrict') own() { return Session.hasPrivilege('readNotes') ? null : this.query('author = :1', Session.userName) }
}

export class NoteEntity extends Entity('Note') {
  shout() { return this.text.toUpperCase() }
}`

const SINGLETON = `import { Singleton } from 'tesser/classes'
export class Counter extends Singleton {
  #count = 0
  next() { return ++this.#count }
}`

const OTHER = `import { definePlugin, json } from 'tesser'
export default definePlugin({ name: 'acme-other', kernel: '^1.0.0', classes: new URL('./others.ts', import.meta.url) })`
const OTHERS = `import { DataStore, exposed } from 'tesser/classes'
export class Shop extends DataStore {
  hidden() { return 'hidden' }
  @exposed shown() { return 'shown' }
}`

const model = {
  name: 'notes',
  dataClasses: {
    Note: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        text: { type: 'string' },
        author: { type: 'string' },
        secret: { type: 'string' },
      },
    },
  },
}
const data = {
  Note: [
    { text: 'by ada', author: 'ada', secret: 'x' },
    { text: 'by a hook', author: 'plugin acme-hooks', secret: 'x' },
    { text: 'by kurt', author: 'kurt', secret: 'x' },
  ],
}
const roles = {
  privileges: [{ privilege: 'write' }, { privilege: 'readNotes' }, { privilege: 'run' }],
  roles: [{ role: 'clerk', privileges: ['write', 'readNotes'] }],
  permissions: {
    allowed: [
      { applyTo: 'Note', type: 'dataclass', create: ['write'] },
      { applyTo: 'Note.secret', type: 'attribute', read: ['readNotes'] },
      { applyTo: 'ds.open', type: 'method', execute: ['run'] },
    ],
  },
}
const users = { ada: { roles: ['clerk'] }, kurt: {} }

async function start(t: Test, { config = {}, ...options }: { config?: object } = {}, granted: object = {}) {
  const files = {
    'index.ts': INDEX,
    'classes.ts': CLASSES,
    'singleton.ts': SINGLETON,
    'other.ts': OTHER,
    'others.ts': OTHERS,
  }
  const folder = t.testdir(files)
  const server = await createTestServer({
    ...{ model, data, roles, users, config: { log: { level: 'silent' }, ...config } },
    plugins: [{ plugin: join(folder, 'index.ts'), ...granted }, join(folder, 'other.ts')],
    ...options,
  })
  t.teardown(() => server.close())
  return server
}

const REFUSED = { success: false, errors: [{ errCode: 1559 }, {}] }

/** Results of calls of functions; of a single one its result. */
const callAs =
  (client: TestClient, as: string) =>
  async (name: string, ...args: unknown[]) => {
    const { status, json } = await client.post(`/call/${as}`, { calls: [[name, args]] })
    return status === 200 ? json[0] : json.__ERROR[0].errCode
  }

t.test('rights of calls', async t => {
  const granting: { name: string; granted: object; privileges: string[] }[] = [
    { name: 'no grant', granted: {}, privileges: [] },
    { name: 'a role', granted: { roles: ['clerk'] }, privileges: ['readNotes', 'write'] },
    { name: 'a privilege', granted: { privileges: ['run'] }, privileges: ['run'] },
  ]
  for (const { name, granted, privileges } of granting) {
    t.test(name, async t => {
      const server = await start(t, {}, granted)
      const hook = callAs(server, 'plugin')
      const may = (privilege: string): boolean => privileges.includes(privilege)
      t.strictSame(await hook('Store.who'), ['plugin acme-hooks', false, false, privileges])
      const seen = may('readNotes') ? ['by a hook', 'by ada', 'by kurt'] : ['by a hook']
      t.strictSame(
        (await hook('Store.read')).map(({ text }: { text: string }) => text),
        seen,
        'restrict',
      )
      t.equal(await hook('Store.secret'), may('readNotes') ? 'x' : null, 'a hidden attribute')
      t.match(await hook('Store.save', 'new'), may('write') ? { success: true } : REFUSED, 'a save')
      t.match(await hook('Store.open', 1), may('run') ? ['open', 1] : 1561, 'an exposed function')
      t.strictSame(await hook('NoteTools.count'), [
        seen.length + (may('write') ? 1 : 0),
        seen.length + (may('write') ? 1 : 0),
      ])
    })
  }

  t.test('requests', async t => {
    const server = await start(t, {}, { roles: ['clerk'] })
    const cases = [
      { client: server, who: ['', true, false, []], seen: [], secret: null, save: REFUSED },
      { client: server.as('kurt'), who: ['kurt', false, false, []], seen: ['by kurt'], secret: null, save: REFUSED },
      {
        client: server.as('ada'),
        who: ['ada', false, false, ['readNotes', 'write']],
        seen: ['by a hook', 'by ada', 'by kurt'],
        secret: 'x',
        save: { success: true },
      },
    ]
    for (const { client, who, seen, secret, save } of cases) {
      const call = callAs(client, 'request')
      const name = String(who[0])
      t.strictSame(await call('Store.who'), who)
      t.strictSame(
        (await call('Store.read')).map(({ text }: { text: string }) => text),
        seen,
        `${name}: restrict`,
      )
      t.equal(await call('Store.secret'), secret, `${name}: a hidden attribute`)
      t.match(await call('Store.save', 'new'), save, `${name}: a save`)
    }
    t.strictSame((await server.as('kurt').post('/rest/$calls', {})).json[0], 'kurt', 'from a service')
  })

  t.test('a required login', async t => {
    const server = await start(t, { roles: { ...roles, forceLogin: true } } as object)
    t.equal((await server.post('/call/request', { calls: [['Store.who']] })).status, 401)
    t.equal((await server.as('kurt').post('/call/request', { calls: [['Store.who']] })).status, 200)
    t.equal(
      (await server.post('/call/plugin', { calls: [['Store.who']] })).status,
      200,
      'the plugin decides about its address',
    )
  })

  t.test('without roles nothing is restricted', async t => {
    const server = await start(t, { roles: undefined, users: {} } as object)
    t.match(await callAs(server, 'plugin')('Store.save', 'new'), { success: true })
    t.equal(await callAs(server, 'request')('Store.secret'), null, 'but restrict events count')
  })
})

t.test('roles and privileges of a plugin that do not exist prevent the start', async t => {
  await t.rejects(start(t, {}, { roles: ['clark'], privileges: ['rum'] }), {
    message:
      /plugin .*index\.ts: there is no role "clark"; did you mean "clerk"\?\n.*plugin .*index\.ts: there is no privilege "rum"; did you mean "run"\?/,
  })
})

t.test('results, arguments and errors', async t => {
  const server = await start(t, { config: { functions: { argumentBytes: 10_000 } } }, { roles: ['clerk'] })
  const call = callAs(server, 'plugin')
  const values = [null, 0, 'ü', [], {}, { result: 1 }, [1, { a: null }], '{"__ENTITY":true}']
  for (const value of values) t.strictSame(await call('Store.echo', value), value, JSON.stringify(value))
  t.strictSame(await call('Store.echo', 1, 'two', [3]), [1, 'two', [3]])
  // JSON of a sender never becomes an entity, which the function would read with the rights of the plugin.
  for (const value of [
    { __ENTITY: true, __DATACLASS: 'Note', __KEY: 1, secret: 'changed' },
    { __DATASET: '0'.repeat(32), __ENTITIES: true },
  ]) {
    t.strictSame(await call('Store.echo', value), value, 'a plain value')
  }
  t.equal(await call('Store.nothing'), null)
  t.equal(await call('Store.later', 7), 7, 'an asynchronous function')
  t.match(await call('Store.first'), { __KEY: '1', text: 'by ada' }, 'an entity')
  t.match(await call('Store.notes'), { __COUNT: 3, __ENTITIES: [{ text: 'by a hook' }, {}, {}] }, 'a selection')
  t.strictSame([await call('Counter.next'), await call('Counter.next')], [1, 2], 'a singleton')
  t.equal(await call('Shop.shown'), 'shown', 'an exposed function of another plugin')
  t.equal(await call('Store.declared', 5), 5)
  const page = await server.get('/page')
  t.match(page, { status: 202, text: 'a page' }, 'a message is a reply')
  t.match(page.headers.get('content-type'), /text\/plain/)

  const failing: [name: string, args: unknown[], status: number, expected: object][] = [
    ['Store.fails', [], 500, { errCode: 1562, message: /ds\.fails failed with TypeError/ }],
    ['Store.refuses', [], 422, { errCode: 9001, message: 'too much' }],
    ['Store.refused', [], 409, { errCode: 9002, message: 'taken' }],
    ['Store.declared', ['x'], 400, { errCode: 1603, message: /"count", has to be an integer/ }],
    ['Store.echo', ['x'.repeat(10_000)], 413, { message: /10000/ }],
    ['Store.fials', [], 500, { errCode: 1585 }],
    ['open', [], 500, { errCode: 1585 }],
    ['Store.transaction', [], 500, { errCode: 1585 }],
    ['Store.constructor', [], 500, { errCode: 1585 }],
    ['Store.generated', [], 500, { errCode: 1585 }],
    ['NoteTools.own', [], 500, { errCode: 1585 }],
    ['NoteTools.query', [], 500, { errCode: 1585 }],
    ['NoteEntity.shout', [], 500, { errCode: 1585 }],
    ['Shop.hidden', [], 500, { errCode: 1585 }],
    ['__proto__', [], 500, { errCode: 1585 }],
  ]
  for (const [name, args, status, expected] of failing) {
    const { status: given, json } = await server.post('/call/plugin', { calls: [[name, args]] })
    t.equal(given, status, name)
    t.match(json, { __ERROR: [expected] }, name)
  }
  t.equal((await server.get('/big')).status, 500, 'a value that JSON does not have')
  t.equal((await server.get('/lone')).status, 500, 'no array')
  t.equal((await server.post('/rest/$catalog/who', [])).status, 404, 'clients cannot call what is not exposed')
  t.notMatch((await server.get('/rest/$catalog')).text, /"who"/)
})

t.test('sessions', async t => {
  const server = await start(t)
  const post = (calls: unknown[], headers: Record<string, string> = {}) =>
    server.post('/call/request', { calls }, headers)
  const stored = await post([['Store.keep', ['a']], ['Store.kept']])
  t.strictSame(stored.json, ['a', 'a'], 'a later call of the request sees the change')
  const cookie = stored.headers.get('set-cookie')!.split(';')[0]!
  t.strictSame((await post([['Store.kept']], { cookie })).json, ['a'], 'and so does the next request of the guest')
  t.equal((await post([['Store.kept']])).headers.get('set-cookie'), null, 'others get no session')

  const login = await post([['Store.login', ['grace']], ['Store.who'], ['Store.secret']], { cookie })
  t.strictSame(login.json, [true, ['grace', false, false, ['readNotes']], 'x'], 'a login applies to later calls')
  const renewed = login.headers.get('set-cookie')!.split(';')[0]!
  t.not(renewed, cookie)
  t.strictSame((await post([['Store.who']], { cookie: renewed })).json, [['grace', false, false, ['readNotes']]])
  t.strictSame(
    (await server.post('/call/plugin', { calls: [['Store.keep', ['b']], ['Store.kept']] }, { cookie: renewed })).json,
    ['b', null],
    'a session of the plugin ends with each call',
  )

  const asked = (name: string): string => `?calls=${encodeURIComponent(JSON.stringify({ calls: [[name]] }))}`
  const other = { 'sec-fetch-site': 'cross-site', cookie: renewed }
  const pages: [name: string, as: string, function_: string, headers: Record<string, string>, status: number][] = [
    ['a link on another page', 'request', 'Store.who', other, 403],
    ['a function that changes nothing', 'request', 'Store.harmless', other, 200],
    ['as the plugin', 'plugin', 'Store.who', other, 200],
    ['a page of the server', 'request', 'Store.who', { ...other, 'sec-fetch-site': 'same-origin' }, 200],
    ['a program', 'request', 'Store.who', { cookie: renewed }, 200],
  ]
  for (const [name, as, function_, headers, status] of pages) {
    t.equal((await server.get(`/call/${as}${asked(function_)}`, headers)).status, status, name)
  }
  t.equal((await post([['Store.who']], other)).status, 403, 'a form of another page')
})

t.test('calls end with their client or their signal', async t => {
  // Variables of a module differ between threads.
  const server = await start(t, { config: { functions: { threads: 1 } } })
  const call = callAs(server, 'plugin')
  const until = async (state: string): Promise<void> => {
    while ((await call('Store.stateOf')) !== state);
  }
  const leaving = new AbortController()
  const left = fetch(`${server.url}/leaves`, { method: 'POST', body: 'x', signal: leaving.signal })
  await until('waits')
  leaving.abort()
  await t.rejects(left)
  await until('gone')
  const stopped = server.get('/stopped')
  await until('waits')
  t.equal((await server.get('/stop')).json, 'stopping')
  await until('gone')
  t.ok(await stopped)
})
