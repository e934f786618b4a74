/**
 * Random programs of events, run by eight clients at once: what the events have read and written is what they would have read and
 * written if the saves had come one after the other, in the order of their commits. Saves that were refused leave nothing.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/event-rules.test.js      repeats one world
 */
import t, { type Test } from 'tap'
import { type Random, randomOf } from '../support/reference/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/reference/rounds.ts'
import { ledgerPlugin } from '../support/test-plugins.ts'
import { startServer, type TestServer } from '../support/test-server.ts'

const WORLDS = isLong ? longCount(250) : 5
const PROGRAMS = 40
const CLIENTS = 8
const ACCOUNTS = 3
const KINDS = ['a', 'b']

const long = { type: 'long' }
const MODEL = {
  name: 'ledger',
  dataClasses: {
    Account: {
      key: 'ID',
      attributes: {
        ID: long,
        balance: long,
        operations: { kind: 'relatedEntities', type: 'Operation', inverseName: 'account' },
      },
    },
    Operation: {
      key: 'ID',
      attributes: {
        ID: { ...long, autoFill: 'increment' },
        kind: { type: 'string', indexed: true },
        program: { type: 'object' },
        values: { type: 'object' },
        accountID: { ...long, indexed: true },
        account: { kind: 'relatedEntity', type: 'Account', foreignKey: 'accountID', inverseName: 'operations' },
      },
    },
    Rate: { key: 'ID', attributes: { ID: { ...long, autoFill: 'increment' }, value: long } },
    Total: { key: 'ID', attributes: { ID: long, saves: long } },
  },
}

type Step = readonly [name: string, ...args: (number | string)[]]
interface Operation {
  readonly kind: string
  readonly program: { readonly checks: readonly Step[]; readonly steps: readonly Step[] }
  readonly accountID: number | null
}

/** An entity without events. */
interface Rate {
  readonly value: number
  readonly __GlobalStamp: number
}

t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) t.test(`world ${seed}`, t => checkWorld(t, seed))

async function checkWorld(t: Test, seed: number): Promise<void> {
  const random = randomOf(seed)
  const accounts = Array.from({ length: ACCOUNTS }, (_, i) => ({ ID: i + 1, balance: 10 }))
  const server = await startServer(
    t,
    { model: MODEL, rows: { Total: [{ ID: 1, saves: 0 }], Account: accounts } },
    { config: { plugins: [ledgerPlugin], functions: { threads: 2 } } },
  )
  // Events that write run in transactions ever after: in every second world none do.
  const writes = seed % 2 === 0
  const requests = Array.from({ length: PROGRAMS }, () => requestOf(random, writes))
  const counts: number[] = []
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let send = requests.shift(); send; send = requests.shift()) counts.push(await send(server))
    }),
  )
  const accepted = counts.reduce((sum, count) => sum + count, 0)
  t.comment(`${counts.length} requests, ${accepted} operations accepted`)
  const operations: (Operation & { values?: unknown[]; __GlobalStamp: number })[] = (
    await server.get('/Operation?$top=1000&$asArray=true')
  ).json
  t.equal(operations.length, accepted, 'all that were accepted are there, and no others')
  operations.sort((a, b) => a.__GlobalStamp - b.__GlobalStamp)
  const rates: Rate[] = (await server.get('/Rate?$top=1000&$asArray=true')).json
  const reference = new Reference(accounts)
  for (const [i, operation] of operations.entries()) {
    reference.rates = rates.filter(rate => rate.__GlobalStamp < operation.__GlobalStamp)
    const expected = reference.run(operation)
    if (JSON.stringify(expected) === JSON.stringify(operation.values ?? [])) continue
    t.fail(`seed ${seed}: operation ${i} of ${operations.length} in the order of commits`, {
      expected,
      found: operation.values ?? [],
      operation,
    })
    return
  }
  const left = (await server.get('/Account?$top=1000&$asArray=true')).json as { ID: number; balance: number }[]
  t.same(
    left.map(({ ID, balance }) => [ID, balance]).sort(([a], [b]) => a! - b!),
    [...reference.accounts].sort(([a], [b]) => a - b),
    'accounts',
  )
  t.equal((await server.get('/Total(1)')).json.saves, ACCOUNTS + reference.saves, 'saves of accounts that were counted')
}

/** Sends operations in one of the ways in which entities are saved. @returns the number of those that were saved */
function requestOf(random: Random, writes: boolean): (server: TestServer) => Promise<number> {
  const way = random.pick(['one', 'one', 'array', 'atomic', 'validate', 'function', 'transaction', 'rate', 'rate'])
  if (way === 'rate') {
    const value = random.integer(1, 9)
    return async server => {
      await server.post('/Rate?$method=update', { value })
      return 0
    }
  }
  const one = operationOf(random, writes)
  if (way === 'function' || way === 'transaction') {
    const twice = way === 'transaction'
    return async server => {
      const { json } = await server.post('//rest/operate', [one, twice])
      return json.result === true ? (twice ? 2 : 1) : 0
    }
  }
  const many = Array.from({ length: random.integer(2, 4) }, () => operationOf(random, writes))
  const query = { one: 'update', array: 'update', atomic: 'update&$atomic=true', validate: 'validate' }[way]
  return async server => {
    const { json } = await server.post(`/Operation?$method=${query}`, way === 'one' ? one : many)
    const saved: { __ERROR?: unknown }[] = json.__ENTITIES ?? [json]
    const successful = saved.filter(({ __ERROR }) => !__ERROR).length
    if (way === 'validate') return 0
    return way === 'atomic' && successful < many.length ? 0 : successful
  }
}

function operationOf(random: Random, canWrite: boolean): Operation {
  const key = () => random.integer(1, ACCOUNTS)
  const reads: (() => Step)[] = [
    () => ['read', key()],
    () => ['parent'],
    () => ['siblings'],
    () => ['count', random.pick(KINDS)],
    () => ['sum'],
    () => ['rates'],
    () => ['rates'],
  ]
  const writes: (() => Step)[] = [
    () => ['add', key(), random.integer(-4, 5)],
    () => ['addToParent', random.integer(-4, 5)],
    () => ['open', random.integer(100, 103), random.integer(0, 1)],
    () => ['close', random.integer(100, 103)],
  ]
  const demand = (): Step[] => (random.chance(0.3) ? [['demand', random.integer(1, 9)]] : [])
  const checks = random.some(reads, 0.3).flatMap(make => [make(), ...demand()])
  const steps = random.some(reads, 0.2).map(make => make())
  if (canWrite && random.chance(0.5)) {
    for (const make of random.some(writes, 0.5)) steps.push(make(), ...demand(), random.pick(reads)())
  }
  return { kind: random.pick(KINDS), program: { checks, steps }, accountID: random.chance(0.8) ? key() : null }
}

/** Runs programs one after the other. */
class Reference {
  readonly accounts: Map<number, number>
  readonly operations: Operation[] = []
  rates: readonly Rate[] = []
  saves = 0

  constructor(accounts: readonly { ID: number; balance: number }[]) {
    this.accounts = new Map(accounts.map(({ ID, balance }) => [ID, balance]))
  }

  /** @returns its values */
  run(operation: Operation): unknown[] {
    const values: unknown[] = []
    for (const step of [...operation.program.checks, ...operation.program.steps]) {
      if (step[0] !== 'demand') values.push(this.value(operation, step))
    }
    this.operations.push(operation)
    return values
  }

  private value({ accountID }: Operation, [name, a, b]: Step): unknown {
    const { accounts, operations } = this
    switch (name) {
      case 'read':
        return accounts.get(a as number) ?? null
      case 'parent':
        return accountID === null ? null : accounts.get(accountID)!
      case 'siblings':
        return accountID === null ? null : operations.filter(other => other.accountID === accountID).length
      case 'count':
        return operations.filter(({ kind }) => kind === a).length
      case 'sum':
        return [...accounts.values()].reduce((sum, balance) => sum + balance, 0)
      case 'rates':
        return this.rates.reduce((sum, { value }) => sum + value, 0)
      case 'add':
        return accounts.has(a as number) ? this.put(a as number, accounts.get(a as number)! + (b as number)) : null
      case 'addToParent':
        return accountID === null ? null : this.put(accountID, accounts.get(accountID)! + (a as number))
      case 'open':
        // Its events run before the store finds that the key exists: what they have written is undone.
        return accounts.has(a as number) ? false : this.put(a as number, b as number)
      case 'close': {
        const balance = accounts.get(a as number)
        if (balance === undefined) return null
        if (balance > 0) return false
        return accounts.delete(a as number)
      }
      default:
        throw new Error(name)
    }
  }

  private put(key: number, balance: number): boolean {
    if (balance < 0) return false
    this.saves++
    this.accounts.set(key, balance)
    return true
  }
}
