import { strict as assert } from 'node:assert'
import type { RelatedEntityAttribute, RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import type { ProtocolError } from '../../base/errors.ts'
import type { RecordStore } from '../../data/record-store.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Upload } from '../../data/stored-uploads.ts'
import { decodeBinary } from '../../files/encode-binary.ts'
import { RefusedChange } from '../../data/refused-change.ts'
import type { EntityContent, RelatedEntity, StoredEntity, StoreTransaction } from '../../data/store-transaction.ts'
import { FIRST_TASK_ROW } from '../../query/plan/nodes/remote-query.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import { keyText, NO_ROW, type RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import type { SavedEntity } from '../../write/contract/requests.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { describeValue } from '../../write/value/convert.ts'
import type { RemoteReads } from '../reads/remote-reads.ts'
import { partsOf } from '../sql/key-parts.ts'
import type { ColumnValues } from '../sql/write-statements.ts'

/** A change of a row that the database still has to make. */
export type RemoteChange =
  | { readonly kind: 'insert'; readonly values: ColumnValues; readonly timestamp: string }
  | {
      readonly kind: 'update'
      readonly key: Value
      readonly stamp: number
      readonly values: ColumnValues
      readonly timestamp: string
    }

/** Outcome of a change: the row as the database has it now, or why it has not changed. */
export type ChangeOutcome =
  | { readonly kind: 'done'; readonly rowId: number; readonly row: RowView }
  | {
      readonly kind: 'refused'
      readonly problems: readonly ProtocolError[]
      /** Error of the database about one of these values, which it does not name. */
      readonly unfit?: { readonly error: unknown; readonly values: ColumnValues }
    }
  /** The database would have accepted it, but another change of the transaction was refused. */
  | { readonly kind: 'undone' }

/** Maximum bytes of the images and blobs of one save: a statement has them as text, which takes several times as much memory. */
const MAX_BYTES = 2 ** 26
/** First row id of new entities whose keys the database still has to create. */
const FIRST_NEW_ROW = FIRST_TASK_ROW + 0x0800_0000

/**
 * A transaction that writes to a database. The work in it runs several times. While outcomes of changes are unknown, it reads rows as they
 * would be after the changes; then the database makes these changes, and the work runs again with the outcomes.
 */
export class RemoteTransaction implements StoreTransaction {
  /** Changes of this run without an outcome. */
  readonly changes: RemoteChange[] = []
  private next = 0
  private news = 0
  /** Bytes of images and blobs that this run has attached. */
  private bytes = 0
  /** Rows after the changes, by row id. They are encoded only if something reads them. */
  private readonly rows = new Map<number, () => RowView>()
  /** Changes without an outcome by the empty arrays that stand for their rows. */
  private readonly pending = new Map<Uint8Array, PendingRow>()
  /** True if the work has read a row after a change whose outcome is unknown: the outcome may change the result of the work. */
  readsPending = false

  /** @param outcomes of the first changes, in their order */
  constructor(
    private readonly dataClass: DataClass,
    private readonly data: RemoteReads,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly records: Pick<RecordStore, 'uploads' | 'files'>,
    private readonly outcomes: readonly ChangeOutcome[],
  ) {}

  readonly stamp = 0
  /** False because the statement that saves an entity compares its stamp. */
  readonly rerunsEvents = false

  get changeCount(): number {
    return this.next
  }

  attempt(work: () => boolean): boolean {
    const { length } = this.changes
    const before = new Map(this.rows)
    const isKept = work()
    if (isKept) return true
    this.changes.length = length
    this.rows.clear()
    for (const [rowId, row] of before) this.rows.set(rowId, row)
    return false
  }

  /** Always true: event code reads entities other than its own without a guard. */
  stillHolds(): boolean {
    return true
  }

  layout(dataClass: DataClass): RowLayout {
    return this.layouts.get(dataClass)!
  }

  newRowId(): number {
    const outcome = this.outcomes[this.next]
    return outcome?.kind === 'done' ? outcome.rowId : FIRST_NEW_ROW + this.news++
  }

  reads(): boolean {
    return true
  }

  /** State without row numbers, since the database numbers its rows. */
  state(): ReturnType<StoreTransaction['state']> {
    return { nextRowId: 0, rowCount: 0, nextAutoIncrement: Number.POSITIVE_INFINITY }
  }

  row(dataClass: DataClass, rowId: number): RowView | undefined {
    if (!dataClass.remote) return this.data.context!.snapshot.table(dataClass).row(rowId)?.copy()
    const changedRow = dataClass === this.dataClass ? this.rows.get(rowId) : undefined
    if (!changedRow) return this.data.row(dataClass, rowId)
    this.readsPending ||= this.pending.size > 0
    return changedRow()
  }

  /** Always undefined: the database enforces unique values by its own rules, and refuses a change that breaks them. */
  holder(): undefined {
    return undefined
  }

  findKey(dataClass: DataClass, key: Value, along?: RelatedEntityAttribute): number | undefined {
    if (!dataClass.remote) return this.data.context!.snapshot.table(dataClass).findKey(key)
    const rowId = this.data.rowOf(dataClass, key)
    if (along?.dataClass.remote) this.data.fetchReference(along, rowId)
    return this.row(dataClass, rowId) && rowId
  }

  /** Entity that a foreign key refers to. A foreign key between two tables is checked by their database. */
  findRelated(dataClass: DataClass, key: Value): RelatedEntity | undefined {
    if (dataClass.remote) return { rowId: NO_ROW, key }
    const table = this.data.context!.snapshot.table(dataClass)
    const rowId = table.findKey(key)
    return rowId === undefined ? undefined : { rowId, key: table.row(rowId)!.value(dataClass.key) as Value }
  }

  insert(dataClass: DataClass, rowId: number, { stamp, values }: EntityContent, timestamp: string): Uint8Array {
    const columnValues = this.sentValues(values)
    return this.change({ kind: 'insert', values: columnValues, timestamp }, rowId, () => {
      const layout = this.layout(dataClass)
      // Until the database has generated the key, a value of its type is a placeholder.
      const key = columnValues.get(dataClass.key) ?? (dataClass.key.type === 'string' ? '' : 0)
      const all = { get: (attribute: RowAttribute) => (attribute === dataClass.key ? key : values.get(attribute)) }
      const content = { key: keyText(layout, key), stamp, globalStamp: stamp, timestamp, values: all, references: [] }
      return new RowView(layout, encodeRow(layout, content))
    })
  }

  update(
    dataClass: DataClass,
    { rowId, row }: StoredEntity,
    { stamp, values }: EntityContent,
    timestamp: string,
  ): Uint8Array {
    const key = row.value(dataClass.key) as Value
    const change = { kind: 'update', key, stamp: row.stamp, values: this.sentValues(values), timestamp } as const
    return this.change(change, rowId, () => {
      const layout = this.layout(dataClass)
      const all = new Map<RowAttribute, Value>()
      for (const attribute of layout.slots) {
        const value = values.get(attribute)
        all.set(attribute, value === undefined ? (row.value(attribute) as Value) : value)
      }
      // A stamp has 32 bits.
      const next = stamp >>> 0
      const content = { key: row.key, stamp: next, globalStamp: next, timestamp, values: all, references: [] }
      return new RowView(layout, encodeRow(layout, content))
    })
  }

  /** Does nothing, since the bytes are among the values of the change. */
  putBinary(): void {}

  upload(id: string): Upload | undefined {
    const upload = this.records.uploads.get(id)
    if (upload) this.count(upload.value)
    return upload
  }

  decodeBinary(bytes: Uint8Array): BinaryValue | undefined {
    const value = decodeBinary(bytes, this.records.files)
    if (value) this.count(value)
    return value
  }

  /** @throws {RemoteErrors.TOO_MANY_BYTES} */
  private count({ size }: BinaryValue): void {
    this.bytes += size
    if (this.bytes > MAX_BYTES) throw RemoteErrors.TOO_MANY_BYTES(this.dataClass.name, this.bytes, MAX_BYTES)
  }

  run = failUnused
  changesFrom = failUnused
  referencing = failUnused
  insertRows = failUnused
  holderOf = failUnused
  remove = failUnused
  putFingerprints = failUnused
  putUpload = failUnused
  putEntitySet = failUnused
  record = failUnused
  putRecord = failUnused

  /** @returns bytes of the row, or an empty array that stands for them until {@link finished} */
  private change(change: RemoteChange, rowId: number, provisional: () => RowView): Uint8Array {
    const outcome = this.outcomes[this.next++]
    if (outcome?.kind === 'refused') throw new RefusedChange(outcome.problems)
    if (outcome?.kind === 'done') {
      this.rows.set(rowId, () => outcome.row)
      return outcome.row.bytes
    }
    const row = once(provisional)
    const placeholder = new Uint8Array(0)
    this.rows.set(rowId, row)
    this.pending.set(placeholder, { row, at: outcome ? NONE : this.changes.length })
    if (!outcome) this.changes.push(change)
    return placeholder
  }

  /**
   * Result of the work for an entity, with its row.
   * @param outcomes of {@link changes}, in their order; without one, an entity is shown as it would be
   */
  finished(entity: SavedEntity, outcomes: readonly ChangeOutcome[] = []): SavedEntity {
    const pending = entity.row && this.pending.get(entity.row as Uint8Array)
    if (!pending) return entity
    const outcome = outcomes[pending.at]
    return outcome?.kind === 'done'
      ? { ...entity, row: outcome.row.bytes, rowId: outcome.rowId }
      : { ...entity, row: pending.row().bytes }
  }

  /** Values for the columns; for relations, their foreign keys. */
  private sentValues(values: EntityContent['values']): Map<StorageAttribute, Value> {
    const result = new Map<StorageAttribute, Value>()
    const { table } = this.data.rowsOf(this.dataClass)
    for (const attribute of this.dataClass.attributes) {
      if (attribute.kind !== 'storage') continue
      const value = values.get(attribute)
      if (value === undefined) continue
      const { length } = table.columns.get(attribute)!
      if (length > 1 && value !== null && !partsOf(String(value), length)) {
        throw new RefusedChange([RemoteErrors.KEY_PARTS(describeValue(attribute, value), this.dataClass.name, length)])
      }
      const expected = value === null ? undefined : table.forms.get(attribute)!.loss?.(value)
      if (expected !== undefined) {
        throw new RefusedChange([WriteErrors.WRONG_TYPE(attribute.name, describeValue(attribute, value), expected)])
      }
      result.set(attribute, value)
    }
    return result
  }
}

/** The row after a change whose outcome is unknown. */
interface PendingRow {
  readonly row: () => RowView
  /** Index of the change in {@link RemoteTransaction.changes}. */
  readonly at: number
}

const NONE = -1

/** A function that computes its result with the first call. */
function once<T extends object>(compute: () => T): () => T {
  let result: T | undefined
  return () => (result ??= compute())
}

const failUnused = (): never => assert.fail('this is not part of a save')
