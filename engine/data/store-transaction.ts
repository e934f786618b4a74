import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { Fingerprints } from '../catalog/calculated.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowValues } from '../row-format/encode-row.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { RowView } from '../row-format/row-view.ts'
import type { Change } from './change.ts'
import type { Reads } from './reads.ts'
import type { RecordChange, TableState } from './record-store.ts'
import type { StoredSetChange } from './stored-sets.ts'
import type { Upload, UploadChange } from './stored-uploads.ts'

export interface TransactionOptions {
  /** Number of change records to keep, which limits how far a reader may be behind and still catch up. */
  keptChangeRecords?: number | undefined
  /** Called first after every commit; must not throw. */
  onCommit?: ((changes: readonly Change[], globalStamp: number) => void) | undefined
  /** Called when the phase of the transaction changes. */
  onPhase?: ((phase: TransactionPhase) => void) | undefined
  /** Called for each row that is read or written. */
  onRow?: (() => void) | undefined
}

/** Phases: no transaction is open, its work is running, or it is waiting for the disk. */
export type TransactionPhase = 'idle' | 'working' | 'committing'

/** Thrown when another process has taken the store: this process must not write to it. */
export class StoreLostError extends Error {
  override readonly name = 'StoreLostError'
}

/** An entity as it is in the store. */
export interface StoredEntity {
  readonly rowId: number
  /** The row, in its own copy of the bytes. */
  readonly row: RowView
}

/** New content of an entity. */
export interface EntityContent {
  readonly stamp: number
  /**
   * Values of storage attributes, and for N→1 relations the key of the related entity. Absent attributes keep their stored
   * values; in a new entity they are null.
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

/** The encoded row of a new entity. */
export interface NewRow {
  readonly rowId: number
  readonly row: Buffer
}

/** Entries of an index, ascending by key and then by row. */
export interface IndexEntries {
  readonly attribute: StorageAttribute
  /** Keys as `index-key.ts` writes them, one after the other. */
  readonly bytes: Uint8Array
  /** End of each key in `bytes`. */
  readonly ends: Uint32Array
  /** Places of the keys that have entries. */
  readonly keys: Uint32Array
  /** For each of these keys the end of its rows in `rowIds`. */
  readonly rowEnds: Uint32Array
  readonly rowIds: Uint32Array
}

/**
 * The write transaction of a store, one reusable object. It maintains rows, indexes, counters, the change log, binaries and the server's
 * own data besides entities. Later reads of the same transaction see what was put; {@link attempt} can roll back a part of it. The calling
 * code enforces the rules of writing.
 */
export interface StoreTransaction {
  /**
   * Runs `work` in a transaction and commits it durably. @returns the global stamp after the commit
   * @throws {StoreLostError} or any error of `work` or of the commit; nothing is written then
   */
  run(work: () => void): number
  /** Runs `work` and rolls back its changes when it returns false or throws. @returns the result of `work` */
  attempt(work: () => boolean): boolean
  /** Global stamp after the changes so far. */
  readonly stamp: number
  /** Number of changes so far in this transaction, or in the running {@link attempt}. */
  readonly changeCount: number
  /** Changes after the first `start` ones, with their rows. */
  changesFrom(start: number): readonly Change[]
  /** True if events run again before a save of an entity that has changed since they have read it. */
  readonly rerunsEvents: boolean
  /** True if nothing of what was read has changed since. May be false without a change, after a restart. */
  stillHolds(reads: Reads): boolean

  layout(dataClass: DataClass): RowLayout
  /** A row id that no entity has had. */
  newRowId(dataClass: DataClass): number
  /** Counters of a dataclass; changes to them are part of the transaction. */
  state(dataClass: DataClass): TableState
  /** True if the transaction can read entities of the dataclass. Entities of other dataclasses are known only by their keys. */
  reads(dataClass: DataClass): boolean
  /** A copy of the row, or undefined when there is none. */
  row(dataClass: DataClass, rowId: number): RowView | undefined
  /** Row that holds `value` (by fold) in a unique attribute, or undefined. */
  holder(attribute: StorageAttribute, value: Value): number | undefined
  /** Row that holds the value of an index key in a unique attribute. Not for texts that the index cuts. */
  holderOf(attribute: StorageAttribute, bytes: Uint8Array, start: number, end: number): number | undefined
  /** @param along the relation that is followed */
  findKey(dataClass: DataClass, key: Value, along?: RelatedEntityAttribute): number | undefined
  /** The entity to which a link with this `key` points, or undefined. */
  findRelated(dataClass: DataClass, key: Value): RelatedEntity | undefined
  /** Rows whose `relation` points to row `targetRowId`. */
  referencing(relation: RelatedEntityAttribute, targetRowId: number): number[]

  /** Inserts an entity. @returns its row */
  insert(dataClass: DataClass, rowId: number, content: EntityContent, timestamp: string): Uint8Array
  /**
   * Inserts entities whose rows are encoded; their global stamps are written here.
   * @param rows ascending by id
   * @param entries all entries of the rows in all indexes
   */
  insertRows(dataClass: DataClass, rows: readonly NewRow[], entries: readonly IndexEntries[]): void
  /** Updates an entity. @returns its row */
  update(dataClass: DataClass, old: StoredEntity, content: EntityContent, timestamp: string): Uint8Array
  /** Removes an existing row with all data that belongs to it. The calling code handles references to it. */
  remove(dataClass: DataClass, rowId: number): void
  putBinary(attribute: StorageAttribute, rowId: number, value: BinaryValue | null): void
  putFingerprints(dataClass: DataClass, fingerprints: Fingerprints): void

  upload(id: string): Upload | undefined
  /** Decodes the value of an upload that is not in the store, as encoded by `encodeBinary`. */
  decodeBinary(value: Uint8Array): BinaryValue | undefined
  putUpload(change: UploadChange): void
  putEntitySet(change: StoredSetChange): void
  record(key: string): unknown
  putRecord(change: RecordChange): void
}
