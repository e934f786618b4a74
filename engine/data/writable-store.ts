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
  /** Id of the image of shared memory that belongs to this store, or undefined. Stored immediately, outside of transactions. */
  memoryImage: string | undefined
  /** True if a log makes commits durable. */
  readonly isLogged: boolean
  /** Makes the log keep records after `sequence` for its followers. */
  followedTo(sequence: number): void
  /** Creates the transaction for all writes. One at a time. */
  transaction(options: TransactionOptions): StoreTransaction
}
