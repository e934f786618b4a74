/** A server that is killed again and again sends every event of an acknowledged write, in the order of each entity. */
import t from 'tap'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { until } from '../support/base/until.ts'
import { WebhookReceiver } from '../support/services/webhook-receiver.ts'
import { LiveServer } from '../support/servers/live-server.ts'

t.setTimeout(timeoutMs)
const ROUNDS = isLong ? 100 : 2
const WRITERS = 4

t.test('no event is lost by kill -9, and none comes before an earlier one of its entity', async t => {
  const random = randomOf(seedOf(61))
  const receiver = await WebhookReceiver.start(t)
  // Some attempts fail.
  receiver.behaviour = () => (random.chance(0.1) ? 500 : 204)
  const folder = t.testdir()
  const server = new LiveServer('webhooks.child.js', () => [folder, receiver.url])
  /** Acknowledged writes, as `key/stamp`. */
  const acknowledged = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    await server.start()
    let isKilled = false
    const write = async (writer: number): Promise<void> => {
      let entity: { __KEY?: string; __STAMP?: number } = {}
      for (let i = 0; !isKilled; i++) {
        const { __KEY, __STAMP } = entity
        const body = i % 5 === 0 ? {} : { __KEY, __STAMP }
        const answer = await server.send('POST', '/Note?$method=update', { ...body, round, text: `${writer} ${i}` })
        if (answer.status !== 200) return
        entity = JSON.parse(answer.bytes.toString())
        acknowledged.add(`${entity.__KEY}/${entity.__STAMP}`)
      }
    }
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer).catch(() => {}))
    // During writes and deliveries.
    const enough = receiver.accepted.length + random.integer(5, 60)
    t.ok(await until(() => receiver.accepted.length >= enough), `events are sent in round ${round}`)
    await server.kill()
    isKilled = true
    await Promise.all(writers)
  }
  await server.start()
  const arrived = new Set<string>()
  const arrive = (): number => {
    for (const { event } of receiver.accepted) arrived.add(`${event.data.__KEY}/${event.data.__STAMP}`)
    return [...acknowledged].filter(each => !arrived.has(each)).length
  }
  t.ok(await until(() => arrive() === 0), `${arrive()} of ${acknowledged.size} are missing`)
  await server.stop()

  const last = new Map<string, number>()
  const early: string[] = []
  for (const { event } of receiver.accepted) {
    const { __KEY: key, __STAMP: stamp } = event.data
    // A repeated one may come again, and those behind it.
    if (stamp > (last.get(key) ?? 0) + 1) early.push(`${key}/${stamp}`)
    last.set(key, Math.max(stamp, last.get(key) ?? 0))
  }
  t.same(early, [])
  const ids = new Map<string, Set<string>>()
  for (const { id, event } of receiver.received) {
    const key = `${event.data.__KEY}/${event.data.__STAMP}`
    ids.set(key, (ids.get(key) ?? new Set()).add(id))
  }
  t.same(
    [...ids].filter(([, set]) => set.size !== 1),
    [],
    'one id for each event',
  )
})
