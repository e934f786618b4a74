import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RecordStore } from './record-store.ts'
import type { StoreTransaction, TransactionOptions } from './store-transaction.ts'

/** A store in the one thread that writes to it. */
export interface WritableStore {
  /** Version of the format in which it is stored. */
  readonly formatVersion: number
  readonly records: RecordStore
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Id of the image of shared memory that belongs to this store; undefined: none does. Kept at once, outside of transactions. */
  memoryImage: string | undefined
  /** The transaction of everything that is written. One at a time. */
  transaction(options: TransactionOptions): StoreTransaction
}
