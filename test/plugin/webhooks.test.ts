/** `tesser/plugins/webhooks` on a server: which events are sent, what receivers get, what is kept for them. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { createServer as createTesser } from '../../kernel/main.ts'
import { logSink } from '../support/base/log-sink.ts'
import { shopPlugin } from '../support/plugins/test-plugins.ts'
import { type ServerOptions, startServer, temporaryFolder, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { SECRET, WebhookReceiver } from '../support/services/webhook-receiver.ts'

const model = {
  name: 'shop',
  dataClasses: {
    Customer: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string' },
        orders: { kind: 'relatedEntities', type: 'OrderSelection', inverseName: 'customer' },
      },
    },
    Order: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        title: { type: 'string', indexed: true },
        amount: { type: 'number' },
        big: { type: 'long64' },
        note: { type: 'string' },
        secret: { type: 'string', scope: 'private' },
        customerID: { type: 'long' },
        customer: { kind: 'relatedEntity', type: 'Customer', foreignKey: 'customerID', inverseName: 'orders' },
      },
    },
  },
}
const shop = { model, rows: { Customer: [{ name: 'Ada' }, { name: 'Kurt' }] } }

const FAST = { allowPrivate: true, firstRetrySeconds: 0.01, maxRetrySeconds: 0.02 }

interface Options extends ServerOptions {
  readonly plugins?: readonly unknown[]
  readonly pluginOptions?: object
}

async function open(t: Test, hooks: readonly object[], options: Options = {}): Promise<TestServer> {
  const { plugins = [], pluginOptions, config, ...others } = options
  const all = hooks.map(hook => ({ name: 'orders', secret: SECRET, dataClass: 'Order', ...FAST, ...hook }))
  const webhooks = { plugin: 'tesser/plugins/webhooks', options: { hooks: all, ...pluginOptions } }
  return startServer(t, shop, {
    isChanged: true,
    config: { auth: { guestsAdministrate: true }, ...config, plugins: [...plugins, webhooks] },
    ...others,
  })
}

const update = (server: TestServer, body: object) => server.post('/Order?$method=update', body)
const stateOf = async (server: TestServer) => (await server.get('/$webhooks/orders')).json

interface Place {
  readonly name: string
  /** @param key of an entity with the title `before` and the amount 1, at its first stamp */
  readonly write: (server: TestServer, key: string) => Promise<unknown>
  /** Type and title of each event. */
  readonly events: readonly string[]
}

const stale = (key: string) => ({ __KEY: key, __STAMP: 9, title: 'stale' })

const places: Place[] = [
  { name: 'a save of a new entity', write: server => update(server, { title: 'A' }), events: ['created A'] },
  {
    name: 'saves of several, one of them again',
    write: (server, key) => update(server, [{ title: 'A' }, { title: 'B' }, { __KEY: key, __STAMP: 1, title: 'C' }]),
    events: ['created A', 'created B', 'updated C'],
  },
  {
    name: 'saves that fail in part',
    write: (server, key) => update(server, [{ title: 'A' }, stale(key)]),
    events: ['created A'],
  },
  {
    name: 'saves of which all or none are made',
    write: (server, key) => server.post('/Order?$method=update&$atomic=true', [{ title: 'A' }, stale(key)]),
    events: [],
  },
  { name: 'a function', write: server => server.post('/Order/make', ['F']), events: ['created F'] },
  {
    name: 'a transaction',
    write: server => server.post('/Order/makeTwo', ['T', false]),
    events: ['created T 1', 'created T 2'],
  },
  { name: 'a transaction that fails', write: server => server.post('/Order/makeTwo', ['T', true]), events: [] },
  {
    name: 'an import',
    write: server => server.post('/$import/Order', 'title\nI1\nI2\n', { 'content-type': 'text/csv' }),
    events: ['created I1', 'created I2'],
  },
  { name: 'a deletion', write: (server, key) => server.send('DELETE', `/Order(${key})`), events: ['deleted before'] },
  {
    name: 'a deletion by filter',
    write: server => server.send('DELETE', '/Order?$filter="amount = 1"'),
    events: ['deleted before'],
  },
  { name: 'another dataclass', write: server => server.post('/Customer?$method=update', { name: 'X' }), events: [] },
]

t.test('every way to write is seen, and nothing else', async t => {
  const receiver = await WebhookReceiver.start(t)
  const server = await open(t, [{ url: receiver.url }], { plugins: [shopPlugin] })
  for (const { name, write, events } of places) {
    const { __KEY: key } = (await update(server, { title: 'before', amount: 1 })).json
    await write(server, key)
    await update(server, { title: `after ${name}` })
    await until(() => receiver.accepted.some(({ event }) => event.data.title === `after ${name}`))
    await until(async () => (await stateOf(server)).pending === 0)
    // Entities are independent of each other, so their events come in any order.
    const seen = receiver.accepted.splice(0).map(({ event: { type, data } }) => `${type.slice(6)} ${data.title}`)
    t.same(seen.sort(), ['created before', `created after ${name}`, ...events].sort(), name)
    await server.send('DELETE', '/Order')
    await until(
      async () =>
        (await stateOf(server)).pending === 0 &&
        receiver.accepted.some(({ event }) => event.data.title === `after ${name}` && event.type === 'Order.deleted'),
    )
    receiver.accepted.length = 0
  }
})

t.test('an event has the entity as its commit made it, and a signature', async t => {
  const receiver = await WebhookReceiver.start(t)
  const server = await open(t, [{ url: receiver.url }], { plugins: [shopPlugin] })
  await server.post('/Order?$method=update', '{"title":"Ü","big":9007199254740993,"customerID":1}')
  await until(() => receiver.accepted.length === 1)
  const [{ id, headers, body }] = receiver.accepted as [(typeof receiver.accepted)[0]]
  const read = await server.get('/Order(1)')
  t.equal(
    body.replace(/^\{.*?"data":/, ''),
    `${read.text.replace(/,"label":"#1"/, '')}}`,
    'the bytes of a read, without code',
  )
  t.match(JSON.parse(body), { type: 'Order.created', timestamp: /^\d{4}-.*Z$/ })
  t.match(body, /"big":9007199254740993/)
  t.match(id, /^msg_[\w-]{24}$/)
  t.match(headers['content-type'], /^application\/json/)
  const signed = `${id}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(SECRET.slice(6), 'base64')
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  t.ok(new Webhook(SECRET).verify(body, headers as Record<string, string>))
  t.match(await stateOf(server), { name: 'orders', receiver: /^http:..127.0.0.1:\d+$/, delivered: 1, pending: 0 })
})

interface FilterCase {
  readonly name: string
  readonly hook: object
  readonly events: readonly string[]
}

const filters: FilterCase[] = [
  { name: 'none', hook: {}, events: ['created', 'updated', 'updated', 'deleted'] },
  { name: 'created', hook: { events: ['created'] }, events: ['created'] },
  { name: 'updated', hook: { events: ['updated'] }, events: ['updated', 'updated'] },
  { name: 'deleted', hook: { events: ['deleted'] }, events: ['deleted'] },
  { name: 'a filter of the first state', hook: { filter: 'amount = 10' }, events: ['created'] },
  { name: 'a filter of a state between', hook: { filter: 'amount = 20' }, events: ['updated'] },
  { name: 'a filter of the last state', hook: { filter: 'amount = 30' }, events: ['updated', 'deleted'] },
  { name: 'a filter that nothing passes', hook: { filter: 'amount = 40' }, events: [] },
  {
    name: 'a filter over an index',
    hook: { filter: 'title = "f@" and amount > 15' },
    events: ['updated', 'updated', 'deleted'],
  },
  {
    name: 'a filter over a relation',
    hook: { filter: 'customer.name = "Kurt"' },
    events: ['created', 'updated', 'updated', 'deleted'],
  },
  { name: 'a filter over a relation of another', hook: { filter: 'customer.name = "Ada"' }, events: [] },
]

t.test('filters are decided on the entity as it was at each event', async t => {
  const receiver = await WebhookReceiver.start(t)
  const hooks = filters.map(({ hook }, i) => ({ name: `h${i}`, url: `${receiver.url}?${i}`, ...hook }))
  const server = await open(t, [...hooks, { name: 'end', url: receiver.url, filter: 'title = "end"' }])
  receiver.behaviour = () => 204
  await update(server, { title: 'F', amount: 10, customerID: 2 })
  await update(server, { __KEY: '1', __STAMP: 1, amount: 20 })
  await update(server, { __KEY: '1', __STAMP: 2, amount: 30 })
  await server.send('DELETE', '/Order(1)')
  const states = async () => (await server.get('/$webhooks')).json.hooks.slice(0, filters.length)
  const expected = filters.map(({ events }) => events.length)
  await until(async () =>
    (await states()).every((hook: { delivered: number }, i: number) => hook.delivered >= expected[i]!),
  )
  t.same(
    (await states()).map((hook: { delivered: number }) => hook.delivered),
    expected,
  )
})

t.test('attributes of a hook are what is sent', async t => {
  const receiver = await WebhookReceiver.start(t)
  const server = await open(t, [{ url: receiver.url, attributes: ['title', 'customer.name'] }])
  await update(server, { title: 'A', customerID: 2, amount: 3 })
  await server.send('DELETE', '/Order(1)')
  await until(() => receiver.accepted.length === 2)
  const data = receiver.accepted.map(({ event: { data } }) => ({ ...data, __TIMESTAMP: undefined }))
  t.match(data, [
    { __KEY: '1', title: 'A', customer: { name: 'Kurt' }, amount: undefined },
    { __KEY: '1', title: 'A', customer: { name: 'Kurt' } },
  ])
})

t.test('events of an entity come in order, whatever fails, and other entities do not wait', async t => {
  const receiver = await WebhookReceiver.start(t)
  const server = await open(t, [{ url: receiver.url, concurrency: 3 }])
  // Every event of entity 1 fails twice, and all of 2 fail once.
  receiver.behaviour = ({ event: { data } }, count) =>
    count <= (data.ID === 1 ? 2 : data.ID === 2 ? 1 : 0) ? 500 : 204
  for (const title of ['A', 'B', 'C']) await update(server, { title })
  for (let stamp = 1; stamp <= 5; stamp++) {
    for (const key of [1, 2, 3]) await update(server, { __KEY: `${key}`, __STAMP: stamp, amount: stamp })
  }
  await until(() => receiver.accepted.length === 18)
  for (const key of [1, 2, 3]) {
    const stamps = receiver.accepted.filter(({ event }) => event.data.ID === key).map(({ event }) => event.data.__STAMP)
    t.same(stamps, [1, 2, 3, 4, 5, 6], `entity ${key}`)
  }
  const ids = new Set(receiver.accepted.map(({ id }) => id))
  t.equal(ids.size, 18)
  const retried = receiver.received.filter(({ event }) => event.data.ID === 1).length
  t.equal(retried, 18, 'the same id each time')
})

t.test('a receiver that hangs or is down holds up no other hook and no writer', async t => {
  const good = await WebhookReceiver.start(t)
  const hanging = await WebhookReceiver.start(t)
  hanging.behaviour = () => 'hang'
  const server = await open(t, [
    { name: 'hanging', url: hanging.url },
    { name: 'closed', url: 'http://127.0.0.1:9/' },
    { name: 'orders', url: good.url },
  ])
  for (let i = 0; i < 20; i++) t.equal((await update(server, { title: `${i}` })).status, 200)
  await until(() => good.accepted.length === 20)
  t.equal(hanging.accepted.length, 0)
  t.ok(await until(async () => (await server.get('/$webhooks/closed')).json.failure !== null))
  t.match((await server.get('/$webhooks/closed')).json, { delivered: 0, failure: { reason: /ECONNREFUSED/ } })
})

interface Answer {
  readonly name: string
  readonly behaviour: WebhookReceiver['behaviour']
  readonly reason: RegExp
}

const answers: Answer[] = [
  { name: '500', behaviour: () => 500, reason: /^answered 500$/ },
  { name: '404', behaviour: () => 404, reason: /^answered 404$/ },
  { name: '410', behaviour: () => 410, reason: /^answered 410/ },
  {
    name: 'a redirect',
    behaviour: () => answer => void answer.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    reason: /^answered 302, a redirect, which is not followed$/,
  },
  { name: 'nothing', behaviour: () => 'hang', reason: /^no answer within 0.2 s$/ },
  {
    name: 'a closed connection',
    behaviour: () => answer => void answer.destroy(),
    reason: /socket hang up|ECONNRESET/,
  },
  {
    name: 'an endless answer',
    behaviour: () => answer => {
      answer.writeHead(503)
      const write = (): void => void (answer.destroyed || answer.write(Buffer.alloc(65_536), write))
      write()
    },
    reason: /^answered 503$/,
  },
]

t.test('events that are given up are kept, and can be listed, read, sent again and removed', async t => {
  const receivers = await Promise.all(answers.map(() => WebhookReceiver.start(t)))
  for (const [i, { behaviour }] of answers.entries()) receivers[i]!.behaviour = behaviour
  const timeoutOf = (name: string): number => (name === 'nothing' ? 0.2 : 30)
  const hooks = receivers.map(({ url }, i) => {
    return { name: `h${i}`, url, maxAgeHours: 0, timeoutSeconds: timeoutOf(answers[i]!.name) }
  })
  const server = await open(t, hooks)
  await update(server, { title: 'A', amount: 7 })
  for (const [i, { name, reason }] of answers.entries()) {
    const receiver = receivers[i]!
    const state = async () => (await server.get(`/$webhooks/h${i}`)).json
    t.ok(await until(async () => (await state()).deadLetters === 1), name)
    const { letters, givenUp } = await state()
    t.equal(givenUp, 1)
    t.match(letters, [{ type: 'Order.created', key: '1', reason, attempts: 1, id: receiver.received[0]!.id }])
    const path = `/$webhooks/h${i}/${letters[0].id}`
    const read = await server.get(path)
    t.match(read.json, { reason, event: { type: 'Order.created', data: { title: 'A', amount: 7 } } })
    t.match((await server.post(path)).json, { result: false, reason })
    t.match((await state()).letters, [{ attempts: 2 }])
    receiver.behaviour = () => 204
    t.same((await server.post(path)).json, { result: true })
    t.equal(receiver.accepted[0]!.body, receiver.received[0]!.body)
    t.match(await state(), { deadLetters: 0, letters: [] })
    t.equal((await server.post(path)).status, 404)
  }
})

t.test('only the newest dead letters are kept, for administrators', async t => {
  const receiver = await WebhookReceiver.start(t)
  receiver.behaviour = () => 410
  const server = await open(t, [{ url: receiver.url, deadLetters: 2 }])
  for (let i = 0; i < 5; i++) {
    await update(server, { title: `${i}` })
    await until(async () => (await stateOf(server)).givenUp === i + 1)
  }
  const { letters, deadLetters } = await stateOf(server)
  t.same([letters.map(({ key }: { key: string }) => key), deadLetters], [['4', '5'], 2])
  t.same((await server.send('DELETE', `/$webhooks/orders/${letters[0].id}`)).json, { result: true })
  t.equal((await stateOf(server)).deadLetters, 1)
})

const requests = [
  {
    name: 'an unknown hook',
    method: 'GET',
    path: '/$webhooks/none',
    status: 404,
    message: /there is no hook none; there are orders/,
  },
  {
    name: 'an unknown letter',
    method: 'GET',
    path: '/$webhooks/orders/x',
    status: 404,
    message: /has no dead letter x/,
  },
  { name: 'parts behind a letter', method: 'GET', path: '/$webhooks/orders/x/y', status: 404, message: /is neither/ },
  {
    name: 'a POST to a hook',
    method: 'POST',
    path: '/$webhooks/orders',
    status: 405,
    message: /POST is for a dead letter/,
  },
  {
    name: 'a DELETE of all',
    method: 'DELETE',
    path: '/$webhooks',
    status: 405,
    message: /DELETE is for a dead letter/,
  },
] as const

t.test('requests that cannot be answered', async t => {
  const server = await open(t, [{ url: 'http://127.0.0.1:9/' }])
  for (const { name, method, path, status, message } of requests) {
    const answer = await server.send(method, path)
    t.match([answer.status, answer.json], [status, { __ERROR: [{ message }] }], name)
  }
  const closed = await open(t, [{ url: 'http://127.0.0.1:9/' }], { config: { auth: {} } })
  t.match((await closed.get('/$webhooks')).json, { __ERROR: [{ message: /^\$webhooks is for administrators/ }] })
})

t.test('an event that cannot be made is a dead letter without it', async t => {
  const receiver = await WebhookReceiver.start(t)
  const server = await open(t, [{ url: receiver.url }])
  await update(server, { title: 'large', note: 'x'.repeat(1_050_000) })
  await update(server, { title: 'small' })
  await until(async () => (await stateOf(server)).givenUp === 1)
  const { letters } = await stateOf(server)
  t.match(letters, [{ key: '1', attempts: 0, reason: /^the entity has more than 1048576 characters/ }])
  const path = `/$webhooks/orders/${letters[0].id}`
  t.equal((await server.get(path)).json.event, null)
  t.match(await server.post(path), { status: 409, json: { __ERROR: [{ message: /could not be read/ }] } })
  await until(() => receiver.accepted.length === 1)
  t.equal(receiver.accepted[0]!.event.data.title, 'small')
})

t.test('a letter is sent once at a time', async t => {
  const receiver = await WebhookReceiver.start(t)
  receiver.behaviour = () => 410
  const server = await open(t, [{ url: receiver.url }])
  await update(server, { title: 'A' })
  await until(async () => (await stateOf(server)).deadLetters === 1)
  let answer = (): void => {}
  receiver.behaviour = () => response => (answer = () => void response.writeHead(204).end())
  const path = `/$webhooks/orders/${(await stateOf(server)).letters[0].id}`
  const first = server.post(path)
  await until(() => receiver.received.length === 2)
  t.match(await server.post(path), { status: 409, json: { __ERROR: [{ message: /is being sent already/ }] } })
  answer()
  t.same((await first).json, { result: true })
})

t.test('secrets and addresses are in no log, answer or metric', async t => {
  const { lines, logger } = logSink()
  const secret = `whsec_${Buffer.from('never to be seen by anyone').toString('base64')}`
  process.env.TEST_HOOK_SECRET = secret
  t.teardown(() => delete process.env.TEST_HOOK_SECRET)
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'model.json'), JSON.stringify(model))
  const hook = { name: 'orders', dataClass: 'Order', ...FAST, maxAgeHours: 0 }
  const hooks = [
    { ...hook, url: 'http://127.0.0.1:9/path-of-the-hook?token=of-the-hook', secret: { env: 'TEST_HOOK_SECRET' } },
  ]
  writeFileSync(
    join(folder, 'tesser.config.json'),
    JSON.stringify({
      model: 'model.json',
      data: 'store',
      server: { port: 0 },
      auth: { guestsAdministrate: true },
      plugins: [{ plugin: 'tesser/plugins/webhooks', options: { hooks } }],
    }),
  )
  const file = join(folder, 'tesser.config.json')
  const server = await createTesser(loadConfig({ file, env: process.env, flags: {} }), logger)
  t.teardown(() => server.close())
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).text()
  await fetch(`${server.url}/rest/Order?$method=update`, { method: 'POST', body: '{"title":"A"}' })
  await until(async () => JSON.parse(await get('/rest/$webhooks')).hooks[0].deadLetters === 1)
  const told = [
    await get('/rest/$webhooks'),
    await get('/rest/$webhooks/orders'),
    await get('/metrics'),
    JSON.stringify(lines),
  ]
  t.match(JSON.stringify(lines), /an event was given up/)
  for (const text of told) t.notMatch(text, /path-of-the-hook|of-the-hook|bmV2ZXIgdG8/)
})

t.test('forbidden addresses are never connected to', async t => {
  const tcp = createServer(socket => socket.destroy())
  let connections = 0
  tcp.on('connection', () => connections++)
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  t.teardown(() => void tcp.close())
  const { port } = tcp.address() as { port: number }
  // The name resolves to the address of this machine, as a name of an attacker may.
  const server = await open(t, [{ url: `http://localhost:${port}/`, allowPrivate: false, maxAgeHours: 0 }])
  await update(server, { title: 'A' })
  t.ok(await until(async () => (await stateOf(server)).deadLetters === 1))
  t.match((await stateOf(server)).letters, [
    { reason: /^localhost is (127.0.0.1|::1), which is not a public address \(loopback\)/ },
  ])
  t.equal(connections, 0)
})

t.test('a restart continues without loss, and with the same ids', async t => {
  const folder = temporaryFolder(t)
  const receiver = await WebhookReceiver.start(t)
  receiver.behaviour = ({ event: { data } }) => (data.title === 'A' ? 500 : 204)
  const hook = { url: receiver.url, firstRetrySeconds: 60, maxRetrySeconds: 60 }
  const first = await open(t, [hook], { folder })
  await update(first, { title: 'A' })
  await update(first, { title: 'B' })
  await until(() => receiver.received.length >= 2)
  await first.close()
  // Written while no hook is there.
  const between = await startServer(t, { ...shop, rows: {} }, { folder })
  await update(between, { title: 'C' })
  await between.close()
  receiver.behaviour = () => 204
  const webhooks = {
    plugin: 'tesser/plugins/webhooks',
    options: { hooks: [{ name: 'orders', secret: SECRET, dataClass: 'Order', ...FAST, ...hook }] },
  }
  const second = await startServer(
    t,
    { ...shop, rows: {} },
    { folder, isChanged: true, config: { plugins: [webhooks] } },
  )
  await update(second, { title: 'D' })
  t.ok(
    await until(() =>
      ['A', 'B', 'C', 'D'].every(title => receiver.accepted.some(({ event }) => event.data.title === title)),
    ),
  )
  const ids = (title: string) =>
    new Set(receiver.received.filter(({ event }) => event.data.title === title).map(({ id }) => id))
  t.equal(ids('A').size, 1)
})

t.test('commits that the log no longer has are skipped, and counted', async t => {
  const folder = temporaryFolder(t)
  const receiver = await WebhookReceiver.start(t)
  const first = await open(t, [{ url: receiver.url }], { folder })
  await update(first, { title: 'A' })
  await until(() => receiver.accepted.length === 1)
  await first.close()
  const between = await startServer(t, { ...shop, rows: {} }, { folder })
  // Two checkpoints, and a log of several files: the first is removed, which nothing needs without the plugin.
  const note = 'x'.repeat(300_000)
  for (let i = 0; i < 12; i++) await update(between, { title: `${i}`, note })
  await between.close()
  const webhooks = {
    plugin: 'tesser/plugins/webhooks',
    options: { hooks: [{ name: 'orders', secret: SECRET, dataClass: 'Order', ...FAST, url: receiver.url }] },
  }
  const second = await startServer(
    t,
    { ...shop, rows: {} },
    { folder, isChanged: true, config: { auth: { guestsAdministrate: true }, plugins: [webhooks] } },
  )
  await update(second, { title: 'last' })
  t.ok(await until(() => receiver.accepted.some(({ event }) => event.data.title === 'last')))
  const { skippedRecords } = await stateOf(second)
  const seen = receiver.accepted.filter(({ event }) => /^\d+$/.test(event.data.title)).length
  t.ok(skippedRecords > 0)
  t.ok(seen + skippedRecords >= 12 && seen < 12, `${seen} seen, ${skippedRecords} skipped`)
})

interface RefusedCase {
  readonly name: string
  readonly hook: object
  readonly message: RegExp
}

const refused: RefusedCase[] = [
  {
    name: 'another dataclass',
    hook: { dataClass: 'Ordr' },
    message: /the "Ordr" datastore class cannot be found; did you mean .*Order/,
  },
  { name: 'a filter with an unknown attribute', hook: { filter: 'titel = 1' }, message: /titel/ },
  { name: 'a filter that is none', hook: { filter: 'title = ' }, message: /h\d+: ./ },
  { name: 'an unknown attribute', hook: { attributes: ['titel'] }, message: /titel/ },
  { name: 'a private attribute', hook: { attributes: ['secret'] }, message: /secret/ },
  {
    name: 'a calculated attribute',
    hook: { attributes: ['label'] },
    message: /a calculated attribute of Order is named/,
  },
  {
    name: 'a filter over a calculated attribute',
    hook: { filter: 'label = "x"' },
    message: /a calculated attribute of Order is named/,
  },
  {
    name: 'an unknown event',
    hook: { events: ['changed'] },
    message: /hooks.\d+.events.0 must be one of "created", "updated", "deleted"/,
  },
  { name: 'no events', hook: { events: [] }, message: /hooks.\d+.events must NOT have fewer than 1 items/ },
  {
    name: 'a secret of another form',
    hook: { secret: 'hunter2hunter2' },
    message: /secret is not whsec_ and 24 to 64 bytes as base64/,
  },
  { name: 'a short secret', hook: { secret: 'whsec_aHVudGVyMg==' }, message: /secret is not whsec_/ },
  {
    name: 'an address of another scheme',
    hook: { url: 'ftp://example.com/' },
    message: /url begins with ftp:; it begins with https: or http:/,
  },
  { name: 'no address', hook: { url: 'example.com' }, message: /url is not an address such as/ },
  {
    name: 'an address with a password',
    hook: { url: 'https://u:hunter2@example.com/' },
    message: /url has a user name or a password/,
  },
  {
    name: 'an address of this machine',
    hook: { url: 'http://127.1/', allowPrivate: false },
    message: /url is 127.0.0.1, which is not a public address \(loopback\)/,
  },
  {
    name: 'times that contradict',
    hook: { firstRetrySeconds: 9, maxRetrySeconds: 1 },
    message: /maxRetrySeconds is less than firstRetrySeconds/,
  },
  {
    name: 'an unknown option',
    hook: { dataclass: 'Order' },
    message: /hooks.\d+ has no "dataclass"; did you mean "dataClass"\?/,
  },
]

t.test('options are refused before the port opens', async t => {
  // All problems of a start are in one error.
  const bySchema = refused.filter(({ message }) => /^hooks/.test(message.source))
  for (const cases of [bySchema, refused.filter(each => !bySchema.includes(each))]) {
    const hooks = cases.map(({ hook }, i) => ({ name: `h${i}`, url: 'http://127.0.0.1:9/', ...hook }))
    const error = await open(t, hooks, { plugins: [shopPlugin] }).catch((error: Error) => error)
    const lines = (error as Error).message.split('\n')
    for (const [i, { name, message }] of cases.entries()) {
      const own = lines.filter(line => line.includes(`hook h${i}: `) || line.includes(`hooks.${i}`))
      t.match(own, [message], `${name}: ${own}`)
    }
    t.notMatch((error as Error).message, /hunter2|aHVudGVyMg/)
  }
  const twice = open(t, [{ url: 'http://127.0.0.1:9/' }, { url: 'http://127.0.0.1:9/' }])
  await t.rejects(twice, { message: /there are two of this name/ })
  const off = open(t, [{ url: 'http://127.0.0.1:9/' }], { config: { storage: { log: 'off' } } })
  const message = /webhooks are sent from the log of commits, and this store has none: set storage.log to on/
  await t.rejects(off, { message })
})

t.test('entities of a database cannot be watched', async t => {
  const attributes = { ID: { type: 'long' } }
  const model = {
    name: 'm',
    dataClasses: { Far: { key: 'ID', storage: { postgres: 'main', table: 'far' }, attributes } },
  }
  const hook = { name: 'far', secret: SECRET, dataClass: 'Far', url: 'http://127.0.0.1:9/', ...FAST }
  const config = {
    connections: { main: { url: 'postgres://me@127.0.0.1:1/x' } },
    plugins: [{ plugin: 'tesser/plugins/webhooks', options: { hooks: [hook] } }],
  }
  await t.rejects(startServer(t, { model, rows: {} }, { isChanged: true, config }), {
    message: /hook far: entities of Far are in a database, whose changes are not in the log/,
  })
})

t.test('a server without hooks needs no log', async t => {
  const server = await open(t, [], { config: { auth: { guestsAdministrate: true }, storage: { log: 'off' } } })
  t.same((await server.get('/$webhooks')).json, { hooks: [] })
})

t.test('metrics count what happens to events', async t => {
  const receiver = await WebhookReceiver.start(t)
  receiver.behaviour = ({ event: { data } }) => (data.title === 'A' ? 410 : 204)
  const server = await open(t, [{ url: receiver.url }])
  await update(server, { title: 'A' })
  await update(server, { title: 'B' })
  await until(async () => (await stateOf(server)).delivered === 1 && (await stateOf(server)).givenUp === 1)
  const { text } = await server.get('//metrics')
  for (const line of [
    'webhooks_delivered_total{hook="orders"} 1',
    'webhooks_failed_attempts_total{hook="orders"} 1',
    'webhooks_given_up_total{hook="orders"} 1',
    'webhooks_dead_letters{hook="orders"} 1',
    'webhooks_pending{hook="orders"} 0',
  ]) {
    t.ok(text.includes(line), line)
  }
})
