import { ABORT } from 'lmdb'
import { isBinary, type RelatedEntityAttribute, type StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { BinaryTable } from '../binary/binary-table.ts'
import { readUpload, type Upload, type UploadChange } from '../binary/upload-table.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import { indexesOf, valueAmong } from '../catalog/property-columns.ts'
import { type EntitySetChange, putEntitySet } from '../entity-set/entity-set-table.ts'
import { type Change, DELETED, INSERTED, UPDATED } from '../storage/change-log.ts'
import { fingerprintsKey } from '../storage/calculated.ts'
import { changeRow, encodeRow, type RowValues } from '../storage/encode-row.ts'
import { decodeBinary } from '../storage/encode-binary.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { binaryKey, rowKey } from '../storage/keys.ts'
import { NO_ROW, type RowLayout } from '../storage/row-layout.ts'
import { RowView } from '../storage/row-view.ts'
import { LmdbIndex } from '../storage/secondary-index.ts'
import {
  readGlobalStamp,
  readTableState,
  type TableState,
  writeGlobalStamp,
  writeTableState,
} from '../storage/store-state.ts'
import { formatDate } from '../storage/wire-value.ts'
import { fold } from '../text/fold.ts'
import { ChangeLogWriter } from './change-log-writer.ts'
import { IndexWriter } from './index-writer.ts'
import type { RecordChange } from './requests.ts'
import { hasLimits } from './validate.ts'

/** An entity as it is in the store. */
export interface StoredEntity {
  readonly rowId: number
  /** With bytes of its own. */
  readonly row: RowView
}

/** What an entity gets. */
export interface EntityContent {
  readonly stamp: number
  /**
   * Of storage attributes, and for N→1 relations the key of the related entity. What is not among them stays as it is
   * stored, and is null in a new entity.
   */
  readonly values: RowValues
  /** Row ids of related entities, in the order of the layout's references. */
  readonly references: readonly (number | undefined)[]
}

/** What a link to an entity needs. */
export interface RelatedEntity {
  rowId: number
  /** In the target's own spelling. */
  key: Value
}

/** Related entities remembered of each dataclass. Bulk data refers to the same few again and again. */
const REMEMBERED_TARGETS = 50_000

/** What the writer knows of one dataclass. */
interface Table {
  readonly layout: RowLayout
  readonly limited: readonly StorageAttribute[]
  readonly indexed: readonly StorageAttribute[]
  readonly autoFilled: readonly StorageAttribute[]
  /** Key → entity; forgotten when something is undone. */
  readonly targets: Map<Value, RelatedEntity>
}

/**
 * Rows, indexes, counters and the change record inside one LMDB write transaction. Everything is put at once, so that
 * later requests of the same transaction see it; {@link attempt} takes back a part.
 */
export class WriteTransaction {
  /** By table number. */
  private readonly tables: (Table | undefined)[] = []
  private globalStamp = 0
  private readonly states = new Map<number, TableState>()
  private changes: Change[] = []
  private readonly indexes: IndexWriter
  private readonly changeLog: ChangeLogWriter
  private readonly binaries: BinaryTable

  constructor(
    private readonly environment: Environment,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    keptChangeRecords: number,
    /** Gets to know every commit, before anyone else; must not throw. */
    private readonly onCommit?: (changes: readonly Change[], globalStamp: number) => void,
  ) {
    this.indexes = new IndexWriter(environment.index)
    this.changeLog = new ChangeLogWriter(environment.changes, keptChangeRecords)
    this.binaries = new BinaryTable(environment)
  }

  /**
   * Runs `work` in a transaction and commits it durably. @returns the global stamp after it
   * @throws what `work` or the commit throws; nothing is written then
   */
  run(work: () => void): number {
    try {
      this.environment.root.transactionSync(() => {
        this.globalStamp = readGlobalStamp(this.environment)
        work()
        this.finish()
      })
      this.onCommit?.(this.changes, this.globalStamp)
      return this.globalStamp
    } catch (error) {
      this.forget()
      throw error
    } finally {
      this.states.clear()
      this.indexes.discard()
      this.changes = []
      for (const id of this.binaries.takeUnused()) this.environment.files.removeSoon(id)
    }
  }

  /** Runs `work` so that nothing of it stays when it returns false or throws. @returns what it returned */
  attempt(work: () => boolean): boolean {
    const { globalStamp, changes } = this
    const states = new Map([...this.states].map(([table, state]) => [table, { ...state }]))
    this.changes = []
    this.indexes.flush()
    let kept = false
    try {
      this.environment.root.childTransaction(() => {
        kept = work()
        if (kept) this.indexes.flush()
        return kept ? undefined : ABORT
      })
    } finally {
      if (kept) for (const change of this.changes) changes.push(change)
      else {
        this.globalStamp = globalStamp
        this.states.clear()
        for (const [table, state] of states) this.states.set(table, state)
        this.forget()
      }
      this.changes = changes
    }
    return kept
  }

  /** Global stamp after the changes so far. */
  get stamp(): number {
    return this.globalStamp
  }

  /** Changes so far of this transaction, or of the {@link attempt} that runs. */
  get changeCount(): number {
    return this.changes.length
  }

  /** Those after the first `start` ones, with their rows. */
  changesFrom(start: number): readonly Change[] {
    return this.changes.slice(start)
  }

  layout(dataClass: DataClass): RowLayout {
    return this.table(dataClass).layout
  }

  /** Those that {@link hasLimits}. */
  limited(dataClass: DataClass): readonly StorageAttribute[] {
    return this.table(dataClass).limited
  }

  autoFilled(dataClass: DataClass): readonly StorageAttribute[] {
    return this.table(dataClass).autoFilled
  }

  newRowId(dataClass: DataClass): number {
    const state = this.state(dataClass)
    if (state.nextRowId >= NO_ROW) throw new Error(`${dataClass.name} has used all its ${NO_ROW} row ids`)
    return state.nextRowId++
  }

  /** Counters of a dataclass; changes to them are part of the transaction. */
  state(dataClass: DataClass): TableState {
    let state = this.states.get(dataClass.tableNumber)
    if (!state) {
      state = readTableState(this.environment, dataClass.tableNumber)
      this.states.set(dataClass.tableNumber, state)
    }
    return state
  }

  /** A copy of the row, or undefined when there is none. */
  row(dataClass: DataClass, rowId: number): RowView | undefined {
    const bytes = getBytes(this.environment.rows, rowKey(dataClass.tableNumber, rowId))
    return bytes && new RowView(this.layout(dataClass), bytes.slice())
  }

  /** Row that holds `value` (by fold) in a unique attribute, or undefined. */
  holder(attribute: StorageAttribute, value: Value): number | undefined {
    return this.indexes.holder(
      attribute,
      value,
      rowId => this.row(attribute.dataClass, rowId)!.value(attribute) as string,
    )
  }

  findKey(dataClass: DataClass, key: Value): number | undefined {
    return this.holder(dataClass.key, key)
  }

  /** The entity that a link by `key` leads to, or undefined. */
  related(dataClass: DataClass, key: Value): RelatedEntity | undefined {
    const { targets } = this.table(dataClass)
    const known = targets.get(key)
    if (known) return known
    const rowId = this.findKey(dataClass, key)
    if (rowId === undefined) return undefined
    const found = { rowId, key: this.row(dataClass, rowId)!.value(dataClass.key) }
    if (targets.size >= REMEMBERED_TARGETS) targets.clear()
    targets.set(key, found)
    return found
  }

  /** Rows whose `relation` leads to row `targetRowId`. */
  referencing(relation: RelatedEntityAttribute, targetRowId: number): number[] {
    this.indexes.flush()
    const { target, foreignKey } = relation
    const key = this.row(target, targetRowId)?.value(target.key) as Value | undefined
    if (key === undefined) return []
    const foldedText = (rowId: number) => fold(this.row(foreignKey.dataClass, rowId)!.value(foreignKey) as string)
    return [...new LmdbIndex(this.environment, foreignKey, foldedText).equal(key)]
  }

  /** Puts a new entity. @returns its row */
  insert(dataClass: DataClass, rowId: number, content: EntityContent, timestamp: string): Uint8Array {
    for (const attribute of this.table(dataClass).indexed)
      this.indexes.put(attribute, valueAmong(content.values, attribute), rowId)
    this.state(dataClass).rowCount++
    const key = this.keyText(dataClass, content.values.get(dataClass.key) ?? '')
    const { stamp, values, references } = content
    const globalStamp = ++this.globalStamp
    const row = encodeRow(this.layout(dataClass), { key, stamp, globalStamp, timestamp, values, references })
    return this.putRow(dataClass, rowId, row, INSERTED)
  }

  /** Changes an entity. @returns its row */
  update(dataClass: DataClass, old: StoredEntity, content: EntityContent, timestamp: string): Uint8Array {
    const { rowId, row } = old
    for (const attribute of this.table(dataClass).indexed) {
      if (content.values.get(attribute.source?.object ?? attribute) === undefined) continue
      const before = row.value(attribute) as Value
      const after = valueAmong(content.values, attribute)
      if (before === after) continue
      this.indexes.remove(attribute, before, rowId)
      this.indexes.put(attribute, after, rowId)
    }
    const { stamp, values, references } = content
    const globalStamp = ++this.globalStamp
    const changed = changeRow(row, { stamp, globalStamp, timestamp, values, references })
    return this.putRow(dataClass, rowId, changed, UPDATED)
  }

  /** Removes a row that exists, with all that belongs to it. What refers to it is the caller's business. */
  remove(dataClass: DataClass, rowId: number): void {
    const { indexed, layout, targets } = this.table(dataClass)
    const row = this.row(dataClass, rowId)!
    for (const attribute of indexed) this.indexes.remove(attribute, row.value(attribute) as Value, rowId)
    for (const attribute of layout.slots) {
      if (attribute.kind === 'storage' && isBinary(attribute.type)) this.putBinary(attribute, rowId, null)
    }
    // A text key may be remembered in several spellings.
    targets.clear()
    this.environment.rows.removeSync(rowKey(dataClass.tableNumber, rowId))
    this.state(dataClass).rowCount--
    this.globalStamp++
    this.changes.push({ tableNumber: dataClass.tableNumber, rowId, operation: DELETED })
  }

  putBinary(attribute: StorageAttribute, rowId: number, value: BinaryValue | null): void {
    this.binaries.put(binaryKey(attribute.dataClass.tableNumber, rowId, attribute.position), value)
  }

  putUpload(change: UploadChange): void {
    this.binaries.putUpload(change)
  }

  decodeBinary(value: Uint8Array): BinaryValue | undefined {
    return decodeBinary(value, this.environment.files)
  }

  upload(id: string): Upload | undefined {
    return readUpload(this.environment, id)
  }

  putFingerprints(dataClass: DataClass, fingerprints: Record<string, string>): void {
    this.environment.meta.putSync(fingerprintsKey(dataClass.tableNumber), fingerprints)
  }

  putEntitySet(change: EntitySetChange): void {
    putEntitySet(this.environment, change)
  }

  putRecord({ key, value }: RecordChange): void {
    const { records } = this.environment
    if (value === undefined) records.removeSync(key)
    else records.putSync(key, value)
  }

  /** `__KEY` for a key. */
  keyText(dataClass: DataClass, key: Value): string {
    const { type, simpleDate } = dataClass.key
    return type === 'date' && typeof key === 'number'
      ? formatDate(key, simpleDate, this.layout(dataClass).wire)
      : String(key)
  }

  private putRow(dataClass: DataClass, rowId: number, row: Uint8Array, operation: number): Uint8Array {
    const { tableNumber } = dataClass
    this.environment.rows.putSync(rowKey(tableNumber, rowId), row as Buffer)
    this.changes.push({ tableNumber, rowId, operation, row })
    return row
  }

  /** Writes counters and the change records: the last step of a transaction. */
  private finish(): void {
    this.indexes.flush()
    for (const [tableNumber, state] of this.states) writeTableState(this.environment, tableNumber, state)
    const { changes } = this
    if (changes.length === 0) return
    writeGlobalStamp(this.environment, this.globalStamp)
    this.changeLog.put(changes, this.globalStamp)
  }

  private forget(): void {
    this.changeLog.forget()
    this.indexes.forget()
    for (const table of this.tables) table?.targets.clear()
  }

  private table(dataClass: DataClass): Table {
    let table = this.tables[dataClass.tableNumber]
    if (!table) {
      const stored = dataClass.attributes.filter(attribute => attribute.kind === 'storage')
      table = {
        layout: this.layouts.get(dataClass)!,
        limited: stored.filter(hasLimits),
        indexed: indexesOf(dataClass),
        autoFilled: stored.filter(attribute => attribute.autoFill !== undefined),
        targets: new Map(),
      }
      this.tables[dataClass.tableNumber] = table
    }
    return table
  }
}
