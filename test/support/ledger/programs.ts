/** Random programs of events: the model that they run in, and requests that save operations with a program each. */
import type { Random } from '../base/random.ts'

export const ACCOUNTS = 3
const KINDS = ['a', 'b']

const long = { type: 'long' }
/** Accounts, operations on them with their programs, rates without events, and the number of saves of accounts. */
export const LEDGER_MODEL = {
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
        number: long,
        kind: { type: 'string', indexed: true },
        program: { type: 'object' },
        values: { type: 'object' },
        accountID: { ...long, indexed: true },
        account: { kind: 'relatedEntity', type: 'Account', foreignKey: 'accountID', inverseName: 'operations' },
      },
    },
    Rate: { key: 'ID', attributes: { ID: { ...long, autoFill: 'increment' }, number: long, value: long } },
    Total: { key: 'ID', attributes: { ID: long, saves: long } },
  },
}

export type Step = readonly [name: string, ...args: (number | string)[]]

export interface Operation {
  /** The number by which its client knows it. */
  readonly number: number
  readonly kind: string
  readonly program: { readonly checks: readonly Step[]; readonly steps: readonly Step[] }
  readonly accountID: number | null
}

/**
 * Sends a request below `/rest`, by POST with a body.
 * @returns the JSON of the answer
 * @throws {Error} the server is gone
 */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Ask = (path: string, body?: unknown) => Promise<any>

/** Entities that are saved together: all of them or none. */
export interface Part {
  /** Numbers of operations or of a rate. */
  readonly numbers: readonly number[]
  /** How many entities of each number there are then; 1 by default. */
  readonly copies?: number
}

export interface LedgerRequest {
  readonly parts: readonly Part[]
  /** @returns whether each part was saved */
  send(ask: Ask): Promise<boolean[]>
}

/** A request that saves operations in one of the ways in which entities are saved, or a rate. */
export function requestOf(random: Random, writes: boolean, nextNumber: () => number): LedgerRequest {
  const way = random.pick(['one', 'one', 'array', 'atomic', 'validate', 'function', 'transaction', 'rate', 'rate'])
  if (way === 'rate') {
    const rate = { number: nextNumber(), value: random.integer(1, 9) }
    return {
      parts: [{ numbers: [rate.number] }],
      send: async ask => [!(await ask('/Rate?$method=update', rate)).__ERROR],
    }
  }
  const one = operationOf(random, writes, nextNumber())
  if (way === 'function' || way === 'transaction') {
    const twice = way === 'transaction'
    return {
      parts: [{ numbers: [one.number], copies: twice ? 2 : 1 }],
      send: async ask => [(await ask('/$catalog/operate', [one, twice])).result === true],
    }
  }
  const more = Array.from({ length: random.integer(2, 4) }, () => operationOf(random, writes, nextNumber()))
  const many = way === 'one' ? [one] : more
  const numbers = many.map(({ number }) => number)
  const parts: Readonly<Record<string, readonly Part[]>> = {
    one: [{ numbers }],
    array: numbers.map(each => ({ numbers: [each] })),
    atomic: [{ numbers }],
    validate: [],
  }
  const query = { one: 'update', array: 'update', atomic: 'update&$atomic=true', validate: 'validate' }[way]
  return {
    parts: parts[way]!,
    async send(ask) {
      const answer = await ask(`/Operation?$method=${query}`, way === 'one' ? one : many)
      const saved: boolean[] = (answer.__ENTITIES ?? [answer]).map(({ __ERROR }: { __ERROR?: unknown }) => !__ERROR)
      if (way === 'validate') return []
      return way === 'atomic' ? [saved.length === many.length && saved.every(Boolean)] : saved
    },
  }
}

function operationOf(random: Random, canWrite: boolean, number: number): Operation {
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
  return { number, kind: random.pick(KINDS), program: { checks, steps }, accountID: random.chance(0.8) ? key() : null }
}
