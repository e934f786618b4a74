/** Events of webhooks that are given up: kept as dead letters, which can be sent again. */
import t from 'tap'
import { until } from '../support/base/until.ts'
import { WebhookReceiver } from '../support/services/webhook-receiver.ts'
import { open, stateOf, update } from './webhooks-shop.ts'

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
      const write = (error?: Error | null): void => void (error || answer.write(Buffer.alloc(65_536), write))
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
