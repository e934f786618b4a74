import type { Test } from 'tap'
import { randomOf } from '../base/random.ts'
import { ACCOUNTS, type Ask, type LedgerRequest, type Operation, type Part, requestOf } from './programs.ts'
import { LedgerReference, type Rate } from './reference.ts'

export const CLIENTS = 8
const ALL = '$top=100000&$asArray=true'

interface Sent extends LedgerRequest {
  /** Whether each part was saved; undefined: the request was not answered. */
  saved?: boolean[]
}

type StoredOperation = Operation & { readonly values?: unknown[]; readonly __GlobalStamp: number }

/** A store on which clients run random programs of events. */
export class Ledger {
  private readonly random
  /** Events that write run in transactions ever after: in every second world none do. */
  private readonly writes
  private readonly accounts = Array.from({ length: ACCOUNTS }, (_, i) => ({ ID: i + 1, balance: 10 }))
  private readonly sent: Sent[] = []
  private lastNumber = 0

  constructor(private readonly seed: number) {
    this.random = randomOf(seed)
    this.writes = seed % 2 === 0
  }

  /** Saves what the programs need. */
  async begin(ask: Ask): Promise<void> {
    await ask('/Total?$method=update', { ID: 1, saves: 0 })
    await ask('/Account?$method=update', this.accounts)
  }

  /** Sends random requests. @returns the clients, each of which ends with the last request, or fails when one is not answered */
  send(ask: Ask, count: number): Promise<void>[] {
    const requests: Sent[] = Array.from({ length: count }, () =>
      requestOf(this.random, this.writes, () => ++this.lastNumber),
    )
    return Array.from({ length: CLIENTS }, async () => {
      for (let request = requests.shift(); request; request = requests.shift()) {
        this.sent.push(request)
        request.saved = await request.send(ask)
      }
    })
  }

  /**
   * Demands that everything that was accepted is there and nothing that was refused, that parts without an answer are whole or absent, and
   * that all of it is what the same programs make one after the other.
   */
  async check(t: Test, ask: Ask): Promise<void> {
    const operations: StoredOperation[] = await ask(`/Operation?${ALL}`)
    const rates: Rate[] = await ask(`/Rate?${ALL}`)
    this.checkSaved(t, [...operations, ...rates])
    operations.sort((a, b) => a.__GlobalStamp - b.__GlobalStamp)
    const reference = new LedgerReference(this.accounts)
    for (const [i, operation] of operations.entries()) {
      reference.rates = rates.filter(rate => rate.__GlobalStamp < operation.__GlobalStamp)
      const expected = reference.run(operation)
      const found = operation.values ?? []
      if (JSON.stringify(expected) === JSON.stringify(found)) continue
      const place = `operation ${i} of ${operations.length} in the order of commits`
      t.fail(`seed ${this.seed}: ${place}`, { expected, found, operation })
      return
    }
    const left: { ID: number; balance: number }[] = await ask(`/Account?${ALL}`)
    t.same(
      left.map(({ ID, balance }) => [ID, balance]).sort(([a], [b]) => a! - b!),
      [...reference.accounts].sort(([a], [b]) => a - b),
      'accounts',
    )
    t.equal((await ask('/Total(1)')).saves, ACCOUNTS + reference.saves, 'saves of accounts that were counted')
  }

  private checkSaved(t: Test, entities: readonly { readonly number: number }[]): void {
    const counts = new Map<number, number>()
    for (const { number } of entities) counts.set(number, (counts.get(number) ?? 0) + 1)
    const countOf = (number: number): number => counts.get(number) ?? 0
    const isWhole = ({ numbers, copies = 1 }: Part): boolean => numbers.every(number => countOf(number) === copies)
    const wrong: unknown[] = []
    let accepted = 0
    const unanswered = this.sent.filter(({ saved }) => !saved)
    for (const request of this.sent) {
      const found = request.parts.map(isWhole)
      for (const [i, part] of request.parts.entries()) {
        const isThere = found[i]!
        const isRight = (request.saved?.[i] ?? isThere) === isThere && (isThere || !part.numbers.some(countOf))
        if (!isRight) wrong.push({ part, saved: request.saved?.[i], counts: part.numbers.map(countOf) })
        if (isThere) accepted += part.numbers.length * (part.copies ?? 1)
      }
      // An outcome that has been found once stays.
      request.saved = found
    }
    const partsThere = unanswered.flatMap(({ saved }) => saved!.filter(Boolean)).length
    const those = `${unanswered.length} without an answer, of which ${partsThere} parts are there`
    t.comment(`${this.sent.length} requests, ${those}; ${accepted} entities`)
    t.same(
      wrong,
      [],
      `seed ${this.seed}: what was accepted is there, what was refused is not, all else is whole or absent`,
    )
    t.equal(entities.length, accepted, 'nothing else is there')
  }
}
