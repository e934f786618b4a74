import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { StoreTransaction, TransactionOptions } from '../data/store-transaction.ts'
import type { WritableStore } from '../data/writable-store.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { Environment } from './environment.ts'
import { FORMAT_VERSION } from './format-version.ts'
import { LmdbRecords } from './lmdb-records.ts'
import { LmdbTransaction } from './lmdb-transaction.ts'
import type { StoreLog } from './store-log.ts'
import type { StoreOwner } from './store-owner.ts'

/** Entry of `meta`: the image that belongs to the store. */
interface StoredImage {
  readonly id: string
}

/** Entry of `meta`: the image of the shared memory that fits the store. */
export const IMAGE = 'memoryImage'

/** A store in LMDB, after it was brought to its model, in the writer thread. */
export class LmdbWritable implements WritableStore {
  readonly formatVersion = FORMAT_VERSION
  readonly records: LmdbRecords
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>

  constructor(
    private readonly environment: Environment,
    { catalog, layouts }: Pick<WritableStore, 'catalog' | 'layouts'>,
    /** Compared in each transaction; undefined if no other process can write to the store. */
    private readonly owner?: Pick<StoreOwner, 'verify'>,
    private readonly log?: StoreLog,
  ) {
    this.records = new LmdbRecords(environment)
    this.catalog = catalog
    this.layouts = layouts
  }

  get memoryImage(): string | undefined {
    return (this.environment.meta.get(IMAGE) as StoredImage | undefined)?.id
  }

  set memoryImage(id: string) {
    const image: StoredImage = { id }
    this.environment.meta.putSync(IMAGE, image)
    // The log does not contain this change.
    void this.log?.checkpoint()
  }

  get isLogged(): boolean {
    return this.log !== undefined
  }

  followedTo(sequence: number): void {
    this.log?.followedTo(sequence)
  }

  transaction(options: TransactionOptions): StoreTransaction {
    return new LmdbTransaction(this.environment, this.layouts, this.owner, options, this.log)
  }
}
