import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RecordStore } from './record-store.ts'
import type { StoreTransaction, TransactionOptions } from './store-transaction.ts'

/** A store in the one thread that writes to it. */
export interface WritableStore {
  /** Version of the storage format. */
  readonly formatVersion: number
  readonly records: RecordStore
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Id of the image of shared memory that belongs to this store, or undefined. Stored at once, outside of transactions. */
  memoryImage: string | undefined
  /** True if commits are durable by a log. */
  readonly isLogged: boolean
  /** The log keeps records behind `sequence` for those who follow it. */
  followedTo(sequence: number): void
  /** Creates the transaction for all writes. One at a time. */
  transaction(options: TransactionOptions): StoreTransaction
}
