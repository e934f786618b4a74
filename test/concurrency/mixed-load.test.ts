/**
 * Writers and long readers at once on a table of several segments: every query sees a state that existed. Amounts move
 * within a region only, in one transaction each, so the sum of a region, and with it every other sum, never changes.
 */
import t, { type Test } from 'tap'
import { bytesOf, type Engine, openEngine, parsePathList } from '../../engine/index.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { decode, readJson, readRequest } from '../support/engine/read-request.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { inTurn, isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { optionsOf, type Setting, wantedSetting } from '../support/runner/setting.ts'

const ACCOUNTS = 15_000
const REGIONS = 5
const BALANCE = 1_000
const LOAD_MS = isLong ? 60_000 : 2_000

const model = {
  name: 'bank',
  dataClasses: {
    Region: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        accounts: { kind: 'relatedEntities', type: 'Account', inverseName: 'region' },
      },
    },
    Account: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        balance: { type: 'number' },
        place: { type: 'string' },
        regionID: { type: 'long' },
        region: { kind: 'relatedEntity', type: 'Region', foreignKey: 'regionID', inverseName: 'accounts' },
      },
    },
  },
}

interface Account {
  balance: number
  stamp: number
  region: number
}

/** Accounts by key, as of the answers that the writers have received. */
type Reference = Map<string, Account>

t.setTimeout(timeoutMs)
const settings: Setting[] = wantedSetting() ? [wantedSetting()!] : ['normal', 'pool', 'memory-minimum']
for (const setting of wantedSetting() ? settings : inTurn(settings, 2)) {
  t.test(`${setting}: sums are the same in every read while writers run, and the final state is right`, async t => {
    const engine = await openBank(t.testdir({}), setting)
    try {
      await load(t, engine)
    } finally {
      await engine.close()
    }
  })
}

async function load(t: Test, engine: Engine): Promise<void> {
  const random = randomOf(seedOf(13))
  const reference: Reference = new Map()
  for (let i = 0; i < ACCOUNTS; i += 5_000) {
    const bodies = Array.from({ length: 5_000 }, (_, j) => account(BALANCE, 1 + ((i + j) % REGIONS)))
    for (const { __KEY, __STAMP } of await save(engine, bodies)) {
      reference.set(__KEY, { balance: BALANCE, stamp: __STAMP, region: 1 + (reference.size % REGIONS) })
    }
  }
  await engine.parts.writer.memoryFilled
  const end = performance.now() + LOAD_MS
  const isOn = () => performance.now() < end
  let writes = 0
  let reads = 0
  // Each writer has accounts of its own, so that no stamp is stale.
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const own = [...reference.keys()].filter((_, i) => i % 4 === writer)
    for (; isOn(); writes++) await (random.chance(0.2) ? openAndClose : move)(engine, random, reference, own)
  })
  const wrong: string[] = []
  const readers = Array.from({ length: 3 }, async () => {
    while (isOn()) {
      const [name, ask, expected] = random.pick(QUESTIONS)
      const answer = await ask(engine, random)
      if (answer !== expected) wrong.push(`${name}: ${answer} and not ${expected}`)
      reads++
      await new Promise(setImmediate)
    }
  })
  await Promise.all([...writers, ...readers])
  t.same(wrong.slice(0, 10), [])
  t.ok(writes > 0 && reads > 0, `${writes} transactions, ${reads} reads`)

  const { __ENTITIES } = await readJson(engine, request({ orderBy: 'balance, ID' }))
  const found = (__ENTITIES as { __KEY: string; balance: number }[]).map(({ __KEY, balance }) => `${__KEY}: ${balance}`)
  const expected = [...reference]
    .sort(([a, x], [b, y]) => x.balance - y.balance || Number(a) - Number(b))
    .map(([key, { balance }]) => `${key}: ${balance}`)
  t.equal(found.join(), expected.join(), 'the accounts match the reference')
}

const TOTAL = ACCOUNTS * BALANCE
const OF_REGION = TOTAL / REGIONS

/** Queries, with answers that hold in every state. */
const QUESTIONS: readonly [string, (engine: Engine, random: Random) => Promise<number>, number][] = [
  ['sum of all', engine => sum(engine), TOTAL],
  ['sum of a place', (engine, random) => sum(engine, `place = "Place ${region(random)}"`), OF_REGION],
  ['sum of some places', engine => sum(engine, 'place in ["place 1", "place 2"]'), 2 * OF_REGION],
  ['sum of places by pattern', engine => sum(engine, 'place = "@lace@3"'), OF_REGION],
  ['sum of a region', (engine, random) => sum(engine, `region.name = "region ${region(random)}"`), OF_REGION],
  ['sum of rich and poor', engine => sum(engine, `balance >= ${BALANCE} or balance < ${BALANCE}`), TOTAL],
  [
    'sum of a page in order',
    async engine => {
      const { __ENTITIES } = await readJson(engine, request({ filter: 'place = "place 4"', orderBy: 'balance desc' }))
      const balances = (__ENTITIES as { balance: number }[]).map(({ balance }) => balance)
      const isSorted = balances.every((balance, i) => i === 0 || balance <= balances[i - 1]!)
      return isSorted ? balances.reduce((sum, balance) => sum + balance, 0) : Number.NaN
    },
    OF_REGION,
  ],
]

const region = (random: Random): number => random.integer(1, REGIONS)

async function sum(engine: Engine, filter?: string): Promise<number> {
  const aggregation = { function: 'sum', distinct: false } as const
  const bytes = engine.queries.compute(
    request(filter === undefined ? {} : { filter }),
    parsePathList('balance'),
    aggregation,
  )
  return decode(bytes instanceof Promise ? await bytes : bytes)
}

/** Moves an amount from one account to another of its region. */
async function move(engine: Engine, random: Random, reference: Reference, own: readonly string[]): Promise<void> {
  const from = random.pick(own)
  const to = random.pick(own)
  const amount = random.integer(1, 50)
  const [a, b] = [reference.get(from)!, reference.get(to)!]
  if (from === to || a.region !== b.region) return
  const changed = (key: string, { stamp }: Account, balance: number) => ({ __KEY: key, __STAMP: stamp, balance })
  const saved = await save(engine, [changed(from, a, a.balance - amount), changed(to, b, b.balance + amount)])
  reference.set(from, { ...a, balance: a.balance - amount, stamp: saved[0]!.__STAMP })
  reference.set(to, { ...b, balance: b.balance + amount, stamp: saved[1]!.__STAMP })
}

/** Opens two accounts whose balances add up to zero, and deletes them again half of the time. */
async function openAndClose(engine: Engine, random: Random, reference: Reference): Promise<void> {
  const amount = random.integer(1, 1_000)
  const of = region(random)
  const saved = await save(engine, [account(amount, of), account(-amount, of)])
  const keys = saved.map(({ __KEY }) => __KEY)
  if (random.chance(0.5)) {
    for (const [i, { __KEY, __STAMP }] of saved.entries()) {
      reference.set(__KEY, { balance: i === 0 ? amount : -amount, stamp: __STAMP, region: of })
    }
  } else await engine.saves.delete(request({ source: { kind: 'keys', keys } }), { atomic: true })
}

const account = (balance: number, regionID: number): object => ({ balance, regionID, place: `Place ${regionID}` })

async function openBank(path: string, setting: Setting): Promise<Engine> {
  const engine = await openEngine(engineOptions({ path, model, memoryBytes: 2 ** 27, ...optionsOf(setting) }))
  const regions = Array.from({ length: REGIONS }, (_, i) => ({ ID: i + 1, name: `region ${i + 1}` }))
  await save(engine, regions, 'Region')
  return engine
}

async function save(
  engine: Engine,
  bodies: readonly object[],
  dataClass = 'Account',
): Promise<{ __KEY: string; __STAMP: number }[]> {
  const body = Buffer.from(JSON.stringify(bodies))
  const { status, body: answer } = await engine.saves.save(
    { kind: 'save', dataClass, body, mode: 'update', atomic: true },
    { form: 'collection' },
  )
  const text = Buffer.from(await bytesOf(answer)).toString()
  if (status !== 200) throw new Error(`a save was refused: ${text.slice(0, 1_000)}`)
  return JSON.parse(text).__ENTITIES
}

const request = (part: Partial<ReadRequest>): ReadRequest => readRequest('Account', 'balance', part)
