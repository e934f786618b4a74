import { DataStore, ds, Entity, event, exposed } from 'tesser/classes'

/** A step of a program: its name and its arguments. */
type Step = readonly [name: string, ...args: (number | string)[]]

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any

const account = (key: number): Loose => ds.Account!.get(key)

/** Value of a step, as the operation keeps it. */
function resultOf(operation: Loose, [name, a, b]: Step): unknown {
  switch (name) {
    case 'read':
      return account(a as number)?.balance ?? null
    case 'parent':
      return operation.account?.balance ?? null
    case 'siblings':
      return operation.account?.operations.length ?? null
    case 'count':
      return ds.Operation!.query('kind = :1', a!).length
    case 'sum':
      return ds.Account!.all().sum('balance')
    case 'rates':
      return ds.Rate!.all().sum('value')
    case 'add': {
      const changed = account(a as number)
      if (!changed) return null
      changed.balance += b
      return changed.save().success
    }
    case 'addToParent': {
      const parent = operation.account
      if (!parent) return null
      parent.balance += a
      const { success } = parent.save()
      // Values that were not saved stay with the object.
      if (!success) parent.reload()
      return success
    }
    case 'open':
      return ds.Account!.new({ ID: a, balance: b }).save().success
    case 'close':
      return account(a as number)?.drop().success ?? null
    default:
      throw new Error(`no step ${name}`)
  }
}

export class OperationEntity extends Entity('Operation') {
  @event('validateSave') check() {
    return this.run(this.program?.checks ?? [])
  }
  @event('saving') work() {
    return this.run(this.program?.steps ?? [])
  }
  private run(steps: readonly Step[]) {
    for (const step of steps) {
      const [name, least] = step
      const values: unknown[] = this.values ?? []
      if (name === 'demand') {
        if (((values.at(-1) as number | null) ?? 0) < (least as number))
          return { errCode: 7, message: `less than ${least}`, seriousError: true }
      } else this.values = [...values, resultOf(this, step)]
    }
    return undefined
  }
}

export class AccountEntity extends Entity('Account') {
  @event('validateSave') notNegative() {
    return this.balance < 0 ? { errCode: 8, message: 'below 0', seriousError: true } : undefined
  }
  @event('saving') counts() {
    const total: Loose = ds.Total!.get(1)
    total.saves += 1
    total.save()
  }
  @event('validateDrop') notFull() {
    return this.balance > 0 ? { errCode: 9, message: 'not empty', seriousError: true } : undefined
  }
}

export class Store extends DataStore {
  /** Saves an operation from code; with `twice`, two of them in one transaction. */
  @exposed operate(values: object, twice: boolean) {
    const save = () => ds.Operation!.new(structuredClone(values)).save().success
    return twice ? ds.transaction(() => save() && save()) : save()
  }
}
