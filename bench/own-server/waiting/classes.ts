import { setTimeout } from 'node:timers/promises'
import { DataStore, ds, onHTTPGet } from 'tesser/classes'

export class Store extends DataStore {
  /** Reads, waits as for a service, and reads again. */
  @onHTTPGet async waits(ms: number) {
    const before = ds.Item!.getCount()
    await setTimeout(ms)
    return ds.Item!.getCount() - before
  }
}
