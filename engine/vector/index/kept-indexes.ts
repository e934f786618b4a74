import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Catalog } from '../../catalog/dataclass.ts'
import type { RecordStore } from '../../data/record-store.ts'
import type { Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import type { Hnswlib } from './hnsw-graph.ts'
import { type ExactNearest, IndexKeeper, type IndexOptions } from './index-keeper.ts'
import { type IndexStatus, indexedVectors, type VectorIndex } from '../../data/vector-index.ts'

/** All indexes of a store, in the thread that has them. */
export class KeptIndexes {
  private readonly keepers: ReadonlyMap<StorageAttribute, IndexKeeper>
  /** Global stamp up to which the indexes have received changes; undefined if they have received none. */
  stamp: number | undefined

  constructor(
    catalog: Catalog,
    library: Hnswlib,
    options: IndexOptions,
    private readonly status: IndexStatus,
    note: (text: string) => void,
  ) {
    this.keepers = new Map(
      indexedVectors(catalog).map(attribute => [attribute, new IndexKeeper(attribute, library, options, note)]),
    )
  }

  /** Loads the indexes that have a file. */
  async load(): Promise<void> {
    const keepers = [...this.keepers.values()]
    const stamps = await Promise.all(keepers.map(keeper => keeper.load()))
    // Receiving a change twice does no harm.
    const knownStamps = stamps.filter(stamp => stamp !== undefined)
    if (knownStamps.length > 0) this.stamp = Math.min(...knownStamps)
  }

  /** Finds an index by names. @returns undefined if it cannot be used */
  find(dataClass: string, attribute: string): VectorIndex | undefined {
    for (const [{ name, dataClass: of }, keeper] of this.keepers) {
      if (name === attribute && of.name === dataClass) return keeper.index
    }
    return undefined
  }

  /** Called with each snapshot before it is read: passes all changes up to the snapshot on to the indexes. */
  catchUp(store: RecordStore, snapshot: Snapshot): void {
    // Shared memory may have advanced while this thread's view of the store did not.
    if (store.globalStamp() < snapshot.globalStamp) store.refresh()
    const newest = store.globalStamp()
    if (newest === this.stamp) return
    const changes = this.stamp === undefined ? undefined : store.changesBetween(this.stamp, newest)
    this.stamp = newest
    if (!changes) for (const keeper of this.keepers.values()) keeper.drop()
    for (const { tableNumber, rowId } of changes ?? []) {
      for (const [attribute, keeper] of this.keepers) {
        if (attribute.dataClass.tableNumber === tableNumber) keeper.markChanged(rowId)
      }
    }
    this.publish()
  }

  /** @param snapshot passed to {@link catchUp} before @returns true if there is more to do */
  work(
    snapshot: Snapshot,
    exactNearest: (table: TableSnapshot, attribute: StorageAttribute) => ExactNearest,
    milliseconds: number,
  ): boolean {
    // Later changes are already pending, and would be marked as done.
    if (snapshot.globalStamp !== this.stamp) return false
    let isMore = false
    for (const [attribute, keeper] of this.keepers) {
      const table = snapshot.table(attribute.dataClass)
      if (keeper.work(table, exactNearest(table, attribute), performance.now() + milliseconds)) isMore = true
    }
    this.publish()
    return isMore
  }

  /** Writes the files that are out of date; {@link work} must not be called meanwhile. */
  async save(): Promise<void> {
    for (const keeper of this.keepers.values()) if (keeper.wantsSaving) await keeper.save(this.stamp!)
  }

  private publish(): void {
    for (const [attribute, keeper] of this.keepers) this.status.set(attribute, keeper.cost)
  }
}
