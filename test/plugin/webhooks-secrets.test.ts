/** Secrets and addresses of webhooks, and what they do after a restart. */
import { createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { logSink } from '../support/base/log-sink.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { startServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'
import { SECRET, WebhookReceiver } from '../support/services/webhook-receiver.ts'
import { FAST, model, open, shop, stateOf, update } from './webhooks-shop.ts'

t.test('secrets and addresses are in no log, answer or metric', async t => {
  const { lines, logger } = logSink()
  const secret = `whsec_${Buffer.from('never to be seen by anyone').toString('base64')}`
  const hook = { name: 'orders', dataClass: 'Order', ...FAST, maxAgeHours: 0 }
  const hooks = [
    { ...hook, url: 'http://127.0.0.1:9/path-of-the-hook?token=of-the-hook', secret: { env: 'TEST_HOOK_SECRET' } },
  ]
  const { ask } = await startConfigured(t, {
    fixture: { model, rows: {} },
    env: { TEST_HOOK_SECRET: secret },
    logger: () => logger,
    config: {
      auth: { guestsAdministrate: true },
      plugins: [{ plugin: 'tesser/plugins/webhooks', options: { hooks } }],
    },
  })
  const get = async (path: string) => (await ask(path)).text
  await ask('/rest/Order?$method=update', { body: '{"title":"A"}' })
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
