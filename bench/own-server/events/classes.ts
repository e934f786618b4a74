import { threadId } from 'node:worker_threads'
import { DataStore, ds, Entity, event, exposed, job } from 'tesser/classes'

export class Store extends DataStore {
  @job({ concurrency: 64 }) nothing(_: number) {}

  @exposed many(count: number) {
    return ds.transaction(() => {
      for (let i = 0; i < count; i++) ds.enqueue(Store.prototype.nothing, [i])
      return count
    })
  }
}

export class CheckedEntity extends Entity('Checked') {
  @event('saving') check() {
    if (this.name === '') return { errCode: 1, message: 'a name is needed' }
  }
}

export class EnqueuingEntity extends Entity('Enqueuing') {
  @event('saving') check() {
    if (this.name === '') return { errCode: 1, message: 'a name is needed' }
    // Not due while the benchmark lasts.
    ds.enqueue(Store.prototype.nothing, [1], { at: '2100-01-01' })
  }
}

export class LinkedEntity extends Entity('Linked') {
  @event('saving') check() {
    if (this.name === '') return { errCode: 1, message: 'a name is needed' }
  }
}

export class ReadingEntity extends Entity('Reading') {
  @event('saving') check() {
    if (this.account.balance < 0) return { errCode: 2, message: 'the account is overdrawn' }
  }
}

let bookings = 0
let numbers = 0

export class BookingEntity extends Entity('Booking') {
  @event('saving') book() {
    this.thread = threadId
    this.runs = ++bookings
    this.account.balance += this.amount
    if (!this.account.save().success) return { errCode: 3, message: 'the account cannot be changed' }
  }
}

export class NumberedEntity extends Entity('Numbered') {
  @event('saving') count() {
    this.thread = threadId
    this.runs = ++numbers
    this.number = ds.Numbered!.all().length + 1
  }
}
