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
