import { DataClass, ds, Entity, type EntityOf, event, exposed, job, request } from 'tesser/classes'
import { refusal } from './errors.ts'

export class Account extends DataClass('Account') {
  /** Enqueues a payment of an amount from each other account to one account. */
  @exposed collect(to: number, amount: number) {
    return ds.transaction(() => {
      const payers = this.query('ID != :1', to)
      for (const payer of payers) ds.enqueue(this.pay, [payer, to, amount])
      return payers.length
    })
  }

  /** A job may run more than once, so its transfer stores the job's id. A refusal is final: there is one attempt. */
  @job({ attempts: 1 }) pay(from: EntityOf<'Account'> | null, toID: number, amount: number) {
    const { id } = request.job!
    if (!from || ds.Transfer.query('job === :1', id).length > 0) return
    ds.Transfer.new({ from, toID, amount, job: id }).saveOrThrow()
  }
}

export class AccountEntity extends Entity('Account') {
  @event('validateSave') check() {
    if (this.balance < this.limit)
      return refusal(4403, `the limit of the account of ${this.owner} is ${this.limit}`, 'balance')
  }

  @event('validateDrop') close() {
    if (this.balance !== 0) return refusal(4404, `account ${this.ID} is not empty`)
  }
}

export class TransferEntity extends Entity('Transfer') {
  @event('validateSave') check() {
    if (!this.isNew()) return refusal(4405, 'a transfer is not changed; send one in the opposite direction')
    if (this.fromID === this.toID) return refusal(4406, 'a transfer is between two accounts', 'to')
  }

  /** Changes both balances with the save, or neither. */
  @event('saving') book() {
    const { from, to, amount } = this
    // The save is refused then.
    if (!from || !to) return
    from.balance -= amount
    from.saveOrThrow()
    to.balance += amount
    to.saveOrThrow()
  }

  @event('validateDrop') keep() {
    return refusal(4405, 'a transfer is not dropped; send one in the opposite direction')
  }
}

declare module 'tesser/classes' {
  interface Classes {
    Account: Account
    AccountEntity: AccountEntity
    TransferEntity: TransferEntity
  }
}
