import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { Fingerprints } from '../catalog/calculated.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowValues } from '../row-format/encode-row.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RowView } from '../row-format/row-view.ts'
import type { Change } from './change.ts'
import type { RecordChange, TableState } from './record-store.ts'
import type { StoredSetChange } from './stored-sets.ts'
import type { Upload, UploadChange } from './stored-uploads.ts'

export interface TransactionOptions {
  /** Change records that are kept: how far a reader may be behind and still catch up. */
  keptChangeRecords?: number | undefined
  /** Called first after every commit; must not throw. */
  onCommit?: ((changes: readonly Change[], globalStamp: number) => void) | undefined
  /** Called as the transaction gets on. */
  onPhase?: ((phase: TransactionPhase) => void) | undefined
  /** Called for each row that is read or written. */
  onRow?: (() => void) | undefined
}

/** No transaction is open, the work of one runs, or it waits for the disk. */
export type TransactionPhase = 'idle' | 'working' | 'committing'

/** Another process has taken the store: nothing may be written to it by this one. */
export class StoreLostError extends Error {
  override readonly name = 'StoreLostError'
}

/** An entity as it is in the store. */
export interface StoredEntity {
  readonly rowId: number
  /** With bytes of its own. */
  readonly row: RowView
}

/** New content of an entity. */
export interface EntityContent {
  readonly stamp: number
  /**
   * Values of storage attributes, and for N→1 relations the key of the related entity. Absent attributes stay as they are
   * stored, and is null in a new entity.
   */
  readonly values: RowValues
  /** Row ids of related entities, in the order of the layout's references. */
  readonly references: readonly (number | undefined)[]
}

/** Parts of an entity that a link to it contains. */
export interface RelatedEntity {
  rowId: number
  /** In the target's own spelling. */
  key: Value
}

/**
 * The write transaction of a store, run again and again. It maintains rows, indexes, counters, the change log, binaries
 * and what the server keeps besides entities. Whatever is put is seen by later reads of the same transaction;
 * {@link attempt} takes back a part. It follows no rules of writing: those are its caller's.
 */
export interface StoreTransaction {
  /**
   * Runs `work` in a transaction and commits it durably. @returns the global stamp after it
   * @throws what `work` or the commit throws; nothing is written then. {@link StoreLostError}
   */
  run(work: () => void): number
  /** Runs `work` so that nothing of it stays when it returns false or throws. @returns what it returned */
  attempt(work: () => boolean): boolean
  /** Global stamp after the changes so far. */
  readonly stamp: number
  /** Changes so far of this transaction, or of the {@link attempt} that runs. */
  readonly changeCount: number
  /** Changes after the first `start` ones, with their rows. */
  changesFrom(start: number): readonly Change[]

  layout(dataClass: DataClass): RowLayout
  /** A row id that no entity has had. */
  newRowId(dataClass: DataClass): number
  /** Counters of a dataclass; changes to them are part of the transaction. */
  state(dataClass: DataClass): TableState
  /** A copy of the row, or undefined when there is none. */
  row(dataClass: DataClass, rowId: number): RowView | undefined
  /** Row that holds `value` (by fold) in a unique attribute, or undefined. */
  holder(attribute: StorageAttribute, value: Value): number | undefined
  findKey(dataClass: DataClass, key: Value): number | undefined
  /** The entity that a link by `key` leads to, or undefined. */
  related(dataClass: DataClass, key: Value): RelatedEntity | undefined
  /** Rows whose `relation` leads to row `targetRowId`. */
  referencing(relation: RelatedEntityAttribute, targetRowId: number): number[]

  /** Puts a new entity. @returns its row */
  insert(dataClass: DataClass, rowId: number, content: EntityContent, timestamp: string): Uint8Array
  /** Changes an entity. @returns its row */
  update(dataClass: DataClass, old: StoredEntity, content: EntityContent, timestamp: string): Uint8Array
  /** Removes a row that exists, with all that belongs to it. What refers to it is the caller's business. */
  remove(dataClass: DataClass, rowId: number): void
  putBinary(attribute: StorageAttribute, rowId: number, value: BinaryValue | null): void
  putFingerprints(dataClass: DataClass, fingerprints: Fingerprints): void

  upload(id: string): Upload | undefined
  /** The value of an upload that is not in the store, as `encodeBinary` made it. */
  decodeBinary(value: Uint8Array): BinaryValue | undefined
  putUpload(change: UploadChange): void
  putEntitySet(change: StoredSetChange): void
  putRecord(change: RecordChange): void
}
