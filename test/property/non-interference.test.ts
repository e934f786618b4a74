/**
 * No answer contains the name of a dataclass, relation or alias that the client may not read, unless its request does.
 *
 * Two stores that differ only in data that a client may not see answer each of its requests byte for byte alike: over all
 * plugins, reads and writes, entity sets, functions, plans and errors. Stamps, times, durations and random ids are not compared.
 *
 * The generator leaves out what cannot be kept secret: unique values and keys of hidden entities that the client tries to use,
 * references by which a hidden entity stops a deletion, numbers that the server counts, and what authors of a plugin reveal
 * through the code of a calculated attribute or a restrict event. Uniqueness and references
 * would have to be given up for it (`plugins/docs/pages/decisions/rights-and-sessions.md`).
 */
import t, { type Test } from 'tap'
import { randomModel, type WorldModel } from '../support/non-interference/model.ts'
import { Requests, type Sent } from '../support/non-interference/requests.ts'
import { randomPairs } from '../support/non-interference/rows.ts'
import { Stores } from '../support/non-interference/stores.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'

const WORLDS = isLong ? longCount(60) : 4
/** Requests in each world; each is sent to both stores. */
const REQUESTS = isLong ? 3_400 : 1_250
/** Number of concurrent reads. Writes between them are sent after them, one by one. */
const AT_ONCE = 8

/** Counts of a kind of request, over all worlds. */
interface Tally {
  sent: number
  /** Number of answers without an error. */
  fine: number
  /** Number of requests that get a different answer when sent for a caller who may see everything. */
  told: number
}
const tallies = new Map<string, Tally>()

t.setTimeout(2 * timeoutMs)
const wanted = seeds(WORLDS)
for (const seed of wanted) t.test(`world ${seed}: hidden data makes no difference`, t => checkWorld(t, seed))

t.test('requests of every kind succeed, and the stores differ for a caller who sees everything', t => {
  t.comment([...tallies].map(([kind, { sent, fine, told }]) => `${kind}: ${sent} sent, ${fine} fine, ${told} told`))
  for (const [kind, { fine }] of tallies) t.ok(fine > 0 || wanted.length < WORLDS, `${kind} succeeds`)
  const total = [...tallies.values()].reduce((sum, { told }) => sum + told, 0)
  t.ok(
    total > 5 * wanted.length || wanted.length < WORLDS,
    `${total} answers for someone who may see everything differ`,
  )
  t.end()
})

async function checkWorld(t: Test, seed: number): Promise<void> {
  const random = randomOf(seed)
  const world = randomModel(random)
  const stores = await Stores.start(t, random, world, randomPairs(random, world))
  const requests = new Requests(random, world, stores.known)
  const secrets = secretNames(world)
  const check = async (sent: Sent): Promise<string | undefined> => {
    const { difference, answer } = await stores.send(sent)
    const tally = tallies.get(sent.kind) ?? { sent: 0, fine: 0, told: 0 }
    tallies.set(sent.kind, tally)
    tally.sent++
    if (answer.status < 400) tally.fine++
    const asked = JSON.stringify(sent)
    const secret = secrets.find(name => new RegExp(`\\b${name}\\b`).test(answer.text) && !asked.includes(name))
    if (secret !== undefined) return `${asked}\n${secret} in ${answer.text.slice(0, 2_000)}`
    if (!sent.writes && tally.sent % 10 === 0 && (await stores.send(sent, 'admin')).difference) tally.told++
    if (difference === undefined) return undefined
    // A difference that a second read does not show depends on time.
    const again = sent.writes ? 'not asked' : ((await stores.send(sent)).difference ?? 'alike')
    return `${JSON.stringify(sent)}\n${difference}\nonce more: ${again}`
  }
  for (let count = 0; count < REQUESTS; ) {
    const [reads, writes]: [Sent[], Sent[]] = [[], []]
    while (reads.length < AT_ONCE) {
      const next = requests.next()
      ;(next.writes ? writes : reads).push(next)
    }
    const found = await Promise.all(reads.map(check))
    for (const write of writes) {
      if (random.chance(0.003)) stores.pass(random.pick([60, 7_300]))
      if (random.chance(0.05)) await stores.disturb(random)
      if (random.chance(0.02)) await stores.share(random)
      found.push(await check(write))
    }
    count += found.length
    const first = found.find(each => each !== undefined)
    if (first === undefined) continue
    t.fail(`seed ${seed}, request ${count}`, { report: `${first}\n${world.source}\n${JSON.stringify(world.roles)}` })
    return
  }
  t.pass(`${REQUESTS} requests`)
}

/** Names of dataclasses, relations and aliases that the client may not read anywhere. */
function secretNames({ classes }: WorldModel): string[] {
  const named = classes.flatMap(each => [
    { name: each.name as string, isShown: each.isReadable },
    ...[...each.relations, ...each.aliases].map(({ name, isReadable }) => ({ name, isShown: isReadable })),
    ...each.relations.map(({ inverse }) => ({ name: inverse, isShown: true })),
  ])
  const shown = new Set(named.filter(({ isShown }) => isShown).map(({ name }) => name))
  return named.map(({ name }) => name).filter(name => !shown.has(name))
}
