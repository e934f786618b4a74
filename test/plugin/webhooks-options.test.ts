/** Options of webhooks that are refused, and metrics. */
import t from 'tap'
import { shopPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { SECRET, WebhookReceiver } from '../support/services/webhook-receiver.ts'
import { FAST, open, stateOf, update } from './webhooks-shop.ts'

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
