import type { Operation, Step } from './programs.ts'

/** An entity without events. */
export interface Rate {
  readonly number: number
  readonly value: number
  readonly __GlobalStamp: number
}

/** Runs programs one after the other. */
export class LedgerReference {
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
