/** `tesser/plugins/webhooks` on a server: which events are sent, and what receivers get. */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { shopPlugin } from '../support/plugins/test-plugins.ts'
import type { TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { SECRET, WebhookReceiver } from '../support/services/webhook-receiver.ts'
import { open, stateOf, update } from './webhooks-shop.ts'

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
