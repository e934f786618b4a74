import { strict as assert } from 'node:assert'
import type { RelatedEntityAttribute, StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import { BinaryValue, type Value } from '../../../../engine/catalog/value.ts'
import type { ReadStore } from '../../../../engine/data/read-store.ts'
import type { TableState } from '../../../../engine/data/record-store.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import type {
  EntityContent,
  RelatedEntity,
  StoredEntity,
  StoreTransaction,
} from '../../../../engine/data/store-transaction.ts'
import type { Upload } from '../../../../engine/data/stored-uploads.ts'
import { decodeBinary } from '../../../../engine/files/encode-binary.ts'
import { changeRow, encodeRow } from '../../../../engine/row-format/encode-row.ts'
import { keyText, type RowLayout } from '../../../../engine/row-format/row-layout.ts'
import type { RowView } from '../../../../engine/row-format/row-view.ts'
import { copyOf, type MemoryTable, type MemoryTables } from './memory-tables.ts'

/** The write transaction of the tables, with which a writer of the engine saves, deletes and locks. */
export class MemoryTransaction implements StoreTransaction {
  readonly rerunsEvents = false
  stamp = 0
  changeCount = 0
  /** State of the store that the transaction sees. */
  local: Snapshot | undefined
  private own: MemoryTables

  /** @param tables the committed state */
  constructor(
    public tables: MemoryTables,
    private readonly store: Pick<ReadStore, 'layouts' | 'records'>,
  ) {
    this.own = tables
  }

  run(work: () => void): number {
    this.changeCount = 0
    this.own = copyOf(this.tables)
    work()
    this.tables = this.own
    return this.stamp
  }

  attempt(work: () => boolean): boolean {
    const { own, stamp, changeCount } = this
    this.own = copyOf(own)
    const isKept = work()
    if (!isKept) Object.assign(this, { own, stamp, changeCount })
    return isKept
  }

  stillHolds(): boolean {
    return true
  }

  layout(dataClass: DataClass): RowLayout {
    return this.store.layouts.get(dataClass)!
  }

  newRowId(dataClass: DataClass): number {
    return this.state(dataClass).nextRowId++
  }

  state(dataClass: DataClass): TableState {
    return this.table(dataClass)!.state
  }

  reads(): boolean {
    return true
  }

  row(dataClass: DataClass, rowId: number): RowView | undefined {
    const table = this.table(dataClass)
    return table ? table.rows.get(rowId) : this.local!.table(dataClass).row(rowId)?.copy()
  }

  holder(attribute: StorageAttribute, value: Value): number | undefined {
    return this.table(attribute.dataClass)!.rowsWith(attribute, value)[0]
  }

  findKey(dataClass: DataClass, key: Value): number | undefined {
    const table = this.table(dataClass)
    return table ? table.idOf(key) : this.local!.table(dataClass).findKey(key)
  }

  findRelated(dataClass: DataClass, key: Value): RelatedEntity | undefined {
    const rowId = this.findKey(dataClass, key)
    return rowId === undefined ? undefined : { rowId, key: this.row(dataClass, rowId)!.value(dataClass.key) as Value }
  }

  /** Entities of the store may refer to what is deleted, as everywhere between two places. */
  referencing({ dataClass, target, foreignKey }: RelatedEntityAttribute, targetRowId: number): number[] {
    const key = this.table(target)!.keyOf(targetRowId)
    return this.table(dataClass)?.rowsWith(foreignKey, key) ?? []
  }

  insert(dataClass: DataClass, rowId: number, content: EntityContent, timestamp: string): Uint8Array {
    const key = keyText(this.layout(dataClass), content.values.get(dataClass.key) ?? '')
    const encoded = encodeRow(this.layout(dataClass), { ...content, key, timestamp, globalStamp: this.nextStamp() })
    this.table(dataClass)!.put(rowId, encoded)
    return encoded
  }

  update(dataClass: DataClass, old: StoredEntity, content: EntityContent, timestamp: string): Uint8Array {
    const changed = changeRow(old.row, { ...content, timestamp, globalStamp: this.nextStamp() })
    this.table(dataClass)!.put(old.rowId, changed)
    return changed
  }

  remove(dataClass: DataClass, rowId: number): void {
    this.table(dataClass)!.remove(rowId)
    this.nextStamp()
  }

  putBinary({ dataClass, name }: StorageAttribute, rowId: number, value: BinaryValue | null): void {
    const { binaries } = this.table(dataClass)!
    // The file of an upload does not last.
    if (value) binaries.set(`${rowId} ${name}`, new BinaryValue(value.mediaType, value.bytes))
    else binaries.delete(`${rowId} ${name}`)
  }

  upload(id: string): Upload | undefined {
    return this.store.records.uploads.get(id)
  }

  decodeBinary(encoded: Uint8Array): BinaryValue | undefined {
    return decodeBinary(encoded, this.store.records.files)
  }

  changesFrom = unused
  insertRows = unused
  holderOf = unused
  putFingerprints = unused
  putUpload = unused
  putEntitySet = unused
  record = unused
  putRecord = unused

  private table(dataClass: DataClass): MemoryTable | undefined {
    return this.own.get(dataClass)
  }

  private nextStamp(): number {
    this.changeCount++
    return ++this.stamp
  }
}

const unused = (): never => assert.fail('no save or deletion of a client needs this')
