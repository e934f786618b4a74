import { ABORT } from 'lmdb'
import { isBinary, type RelatedEntityAttribute, type StorageAttribute } from '../catalog/attribute.ts'
import type { Fingerprints } from '../catalog/calculated.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { BinaryTable } from './binary-table.ts'
import type { Upload, UploadChange } from '../data/stored-uploads.ts'
import { UploadTable } from './upload-table.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import { indexedAfter, indexesOf, valueAmong } from '../catalog/property-columns.ts'
import type { StoredSetChange } from '../data/stored-sets.ts'
import { EntitySetTable } from './entity-set-table.ts'
import { type Change, DELETED, INSERTED, UPDATED } from '../data/change.ts'
import type { Reads } from '../data/reads.ts'
import type { RecordChange, TableState } from '../data/record-store.ts'
import type {
  EntityContent,
  IndexEntries,
  NewRow,
  RelatedEntity,
  StoredEntity,
  StoreTransaction,
  TransactionOptions,
} from '../data/store-transaction.ts'
import type { CommitRecord, Effect } from '../log/record.ts'
import { writeFingerprints } from './fingerprints.ts'
import { changeRow, encodeRow } from '../row-format/encode-row.ts'
import { decodeBinary } from '../files/encode-binary.ts'
import type { Environment } from './environment.ts'
import { binaryKey } from './keys.ts'
import { writeRowStamp } from '../row-format/new-row.ts'
import { keyText, NO_ROW, type RowLayout } from '../row-format/row-layout.ts'
import { globalStampOf, RowView } from '../row-format/row-view.ts'
import { LmdbIndex } from './secondary-index.ts'
import { readGlobalStamp, readTableState, writeGlobalStamp, writeTableState } from './store-state.ts'
import type { StoreLog } from './store-log.ts'
import type { StoreOwner } from './store-owner.ts'
import { fold } from '../base/text/fold.ts'
import { ChangeLogWriter } from './change-log-writer.ts'
import { IndexWriter } from './index-writer.ts'
import { RowTable } from './row-table.ts'

/** Maximum number of related entities remembered for each dataclass. Bulk data refers to the same few again and again. */
const REMEMBERED_TARGETS = 50_000
const KEPT_CHANGE_RECORDS = 100_000

/** The writer's state of one dataclass. */
interface WrittenTable {
  readonly layout: RowLayout
  readonly indexed: readonly StorageAttribute[]
  /** Key → entity; cleared by a rollback. */
  readonly targets: Map<Value, RelatedEntity>
}

/** The write transaction of a store in LMDB, which keeps rows, indexes, counters, the change log and related data consistent. */
export class LmdbTransaction implements StoreTransaction {
  readonly rerunsEvents = true
  /** By table number. */
  private readonly tables: (WrittenTable | undefined)[] = []
  private globalStamp = 0
  /** Global stamp of the last change of each table since this object was created, by table number. */
  private lastChanges: (number | undefined)[] = []
  /** Changes up to this global stamp are not in {@link lastChanges}. */
  private firstStamp: number | undefined
  private readonly states = new Map<number, TableState>()
  private changes: Change[] = []
  /** Effects of the transaction so far, for the log. */
  private readonly effects: Effect[] = []
  private readonly rows: RowTable
  private readonly indexes: IndexWriter
  private readonly changeLog: ChangeLogWriter
  private readonly binaries: BinaryTable
  private readonly uploads: UploadTable
  private readonly sets: EntitySetTable

  constructor(
    private readonly environment: Environment,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly owner: Pick<StoreOwner, 'verify'> | undefined,
    private readonly options: TransactionOptions,
    /** Makes commits durable; without it, LMDB does. */
    private readonly log?: Pick<StoreLog, 'append' | 'committed' | 'failed' | 'logsDeletedRows'>,
  ) {
    this.rows = new RowTable(environment.rows)
    this.indexes = new IndexWriter(environment.index)
    this.changeLog = new ChangeLogWriter(environment.changes, options.keptChangeRecords ?? KEPT_CHANGE_RECORDS)
    this.binaries = new BinaryTable(environment)
    this.uploads = new UploadTable(environment)
    this.sets = new EntitySetTable(environment)
  }

  run(work: () => void): number {
    const { log, options } = this
    const { onCommit, onPhase } = options
    const { lastChanges } = this
    let isLogged = false
    onPhase?.('working')
    try {
      this.environment.root.transactionSync(() => {
        this.owner?.verify()
        this.globalStamp = readGlobalStamp(this.environment)
        this.firstStamp ??= this.globalStamp
        this.lastChanges = lastChanges.slice()
        work()
        this.finish()
        onPhase?.('committing')
        const { globalStamp, states, effects } = this
        if (!log || effects.length === 0) return
        log.append({ time: Date.now(), globalStamp, states, effects })
        isLogged = true
      })
      if (isLogged) {
        isLogged = false
        log!.committed()
      }
      onPhase?.('working')
      onCommit?.(this.changes, this.globalStamp)
      return this.globalStamp
    } catch (error) {
      this.lastChanges = lastChanges
      this.forget()
      if (isLogged) log!.failed()
      throw error
    } finally {
      this.states.clear()
      this.indexes.discard()
      this.changes = []
      this.effects.length = 0
      this.binaries.settle()
      onPhase?.('idle')
    }
  }

  /**
   * Repeats commits in one transaction, with everything that follows from their records.
   * @param finish last step inside the transaction
   */
  apply(records: readonly CommitRecord[], finish: () => void): void {
    this.environment.root.transactionSync(() => {
      for (const { globalStamp, states, effects } of records) {
        for (const effect of effects) this.applyEffect(effect)
        this.globalStamp = globalStamp
        this.states.clear()
        for (const [tableNumber, state] of states) this.states.set(tableNumber, { ...state })
        this.finish()
        this.states.clear()
        this.changes = []
      }
      finish()
    })
    this.effects.length = 0
    this.binaries.settle()
  }

  attempt(work: () => boolean): boolean {
    const { globalStamp, changes, lastChanges } = this
    const effectCount = this.effects.length
    const states = new Map([...this.states].map(([table, state]) => [table, { ...state }]))
    this.changes = []
    this.lastChanges = lastChanges.slice()
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
        this.lastChanges = lastChanges
        this.states.clear()
        for (const [table, state] of states) this.states.set(table, state)
        this.effects.length = effectCount
        this.forget()
      }
      this.changes = changes
    }
    return kept
  }

  get stamp(): number {
    return this.globalStamp
  }

  get changeCount(): number {
    return this.changes.length
  }

  changesFrom(start: number): readonly Change[] {
    return this.changes.slice(start)
  }

  stillHolds({ globalStamp, tables, rows }: Reads): boolean {
    const lastChange = (tableNumber: number) => this.lastChanges[tableNumber] ?? this.firstStamp!
    if (tables.some(tableNumber => lastChange(tableNumber) > globalStamp)) return false
    for (let i = 0; i < rows.length; i += 3) {
      const [tableNumber, rowId, stamp] = [rows[i]!, rows[i + 1]!, rows[i + 2]!]
      const bytes = this.rows.get(tableNumber, rowId)
      if (!bytes || globalStampOf(bytes) !== stamp) return false
    }
    return true
  }

  layout(dataClass: DataClass): RowLayout {
    return this.table(dataClass).layout
  }

  newRowId(dataClass: DataClass): number {
    const state = this.state(dataClass)
    if (state.nextRowId >= NO_ROW) throw new Error(`${dataClass.name} has used all its ${NO_ROW} row ids`)
    return state.nextRowId++
  }

  state(dataClass: DataClass): TableState {
    let state = this.states.get(dataClass.tableNumber)
    if (!state) {
      state = readTableState(this.environment, dataClass.tableNumber)
      this.states.set(dataClass.tableNumber, state)
    }
    return state
  }

  row(dataClass: DataClass, rowId: number): RowView | undefined {
    this.options.onRow?.()
    const bytes = this.rows.get(dataClass.tableNumber, rowId)
    return bytes && new RowView(this.layout(dataClass), bytes.slice())
  }

  holder(attribute: StorageAttribute, value: Value): number | undefined {
    return this.indexes.holder(
      attribute,
      value,
      rowId => this.row(attribute.dataClass, rowId)!.value(attribute) as string,
    )
  }

  holderOf(attribute: StorageAttribute, bytes: Uint8Array, start: number, end: number): number | undefined {
    return this.indexes.holderOf(attribute, bytes, start, end)
  }

  reads({ place }: DataClass): boolean {
    return place.isStore
  }

  findKey(dataClass: DataClass, key: Value): number | undefined {
    return this.holder(dataClass.key, key)
  }

  findRelated(dataClass: DataClass, key: Value): RelatedEntity | undefined {
    // The save has already checked the entity in its database, if a check was necessary.
    if (!dataClass.place.isStore) return { rowId: NO_ROW, key }
    const { targets } = this.table(dataClass)
    const knownTarget = targets.get(key)
    if (knownTarget) return knownTarget
    const rowId = this.findKey(dataClass, key)
    if (rowId === undefined) return undefined
    const entity = { rowId, key: this.row(dataClass, rowId)!.value(dataClass.key) }
    if (targets.size >= REMEMBERED_TARGETS) targets.clear()
    targets.set(key, entity)
    return entity
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): number[] {
    this.indexes.flush()
    const { target, foreignKey } = relation
    const key = this.row(target, targetRowId)?.value(target.key) as Value | undefined
    if (key === undefined) return []
    const foldedText = (rowId: number) => fold(this.row(foreignKey.dataClass, rowId)!.value(foreignKey) as string)
    return [...new LmdbIndex(this.environment, foreignKey, foldedText).equal(key)]
  }

  insert(dataClass: DataClass, rowId: number, content: EntityContent, timestamp: string): Uint8Array {
    for (const attribute of this.table(dataClass).indexed)
      this.indexes.put(attribute, valueAmong(content.values, attribute), rowId)
    this.state(dataClass).rowCount++
    const layout = this.layout(dataClass)
    const key = keyText(layout, content.values.get(dataClass.key) ?? '')
    const { stamp, values, references } = content
    const globalStamp = ++this.globalStamp
    const row = encodeRow(layout, { key, stamp, globalStamp, timestamp, values, references })
    return this.putRow(dataClass, rowId, row, INSERTED)
  }

  insertRows(dataClass: DataClass, rows: readonly NewRow[], entries: readonly IndexEntries[]): void {
    const { tableNumber } = dataClass
    this.state(dataClass).rowCount += rows.length
    const isLast = this.rows.isLast(tableNumber)
    for (const { rowId, row } of rows) {
      writeRowStamp(row, ++this.globalStamp)
      this.options.onRow?.()
      if (isLast) this.rows.append(tableNumber, rowId, row)
      else this.rows.put(tableNumber, rowId, row)
      this.recordChange({ tableNumber, rowId, operation: INSERTED, row })
    }
    for (const index of entries) this.indexes.putEntries(index)
  }

  update(dataClass: DataClass, old: StoredEntity, content: EntityContent, timestamp: string): Uint8Array {
    const { rowId, row } = old
    for (const attribute of this.table(dataClass).indexed) {
      const after = indexedAfter(attribute, content.values, row)
      if (after === undefined) continue
      const before = row.value(attribute) as Value
      if (before === after) continue
      this.indexes.remove(attribute, before, rowId)
      this.indexes.put(attribute, after, rowId)
    }
    const { stamp, values, references } = content
    const globalStamp = ++this.globalStamp
    const changedRow = changeRow(row, { stamp, globalStamp, timestamp, values, references })
    return this.putRow(dataClass, rowId, changedRow, UPDATED)
  }

  remove(dataClass: DataClass, rowId: number): void {
    const { indexed, layout, targets } = this.table(dataClass)
    const row = this.row(dataClass, rowId)!
    for (const attribute of indexed) this.indexes.remove(attribute, row.value(attribute) as Value, rowId)
    for (const attribute of layout.slots) {
      if (attribute.kind === 'storage' && isBinary(attribute.type)) this.putBinary(attribute, rowId, null)
    }
    // A text key may be remembered in several spellings.
    targets.clear()
    this.rows.remove(dataClass.tableNumber, rowId)
    this.state(dataClass).rowCount--
    this.globalStamp++
    this.recordChange({ tableNumber: dataClass.tableNumber, rowId, operation: DELETED }, row)
  }

  putBinary(attribute: StorageAttribute, rowId: number, value: BinaryValue | null): void {
    const key = binaryKey(attribute.dataClass.tableNumber, rowId, attribute.position)
    this.effects.push({ kind: 'binary', key, value: this.binaries.put(key, value) })
  }

  putUpload(change: UploadChange): void {
    this.effects.push({ kind: 'upload', change })
    this.binaries.putUpload(change)
  }

  decodeBinary(value: Uint8Array): BinaryValue | undefined {
    return decodeBinary(value, this.environment.files)
  }

  upload(id: string): Upload | undefined {
    return this.uploads.get(id)
  }

  putFingerprints(dataClass: DataClass, fingerprints: Fingerprints): void {
    const { tableNumber } = dataClass
    this.effects.push({ kind: 'fingerprints', tableNumber, fingerprints })
    writeFingerprints(this.environment, tableNumber, fingerprints)
  }

  putEntitySet(change: StoredSetChange): void {
    this.effects.push({ kind: 'set', change })
    this.sets.put(change)
  }

  record(key: string): unknown {
    return this.environment.records.get(key)
  }

  putRecord(change: RecordChange): void {
    this.effects.push({ kind: 'record', change })
    const { records } = this.environment
    const { key, value } = change
    if (value === undefined) records.removeSync(key)
    else records.putSync(key, value)
  }

  private putRow(dataClass: DataClass, rowId: number, row: Uint8Array, operation: number): Uint8Array {
    const { tableNumber } = dataClass
    this.options.onRow?.()
    this.rows.put(tableNumber, rowId, row)
    this.recordChange({ tableNumber, rowId, operation, row })
    return row
  }

  /** @param deletedRow the deleted row before its deletion */
  private recordChange(change: Change, deletedRow?: RowView): void {
    this.changes.push(change)
    this.lastChanges[change.tableNumber] = this.globalStamp
    const isLogged = deletedRow && this.log?.logsDeletedRows
    this.effects.push({ kind: 'row', change: isLogged ? { ...change, row: deletedRow.copy().bytes } : change })
  }

  private applyEffect(effect: Effect): void {
    if (effect.kind === 'row') this.applyRow(effect.change)
    else if (effect.kind === 'binary') {
      const value = effect.value && decodeBinary(effect.value, this.environment.files)
      if (value === undefined) throw new Error('a record of the log has an unreadable image or blob')
      this.binaries.put(Buffer.from(effect.key), value)
    } else if (effect.kind === 'upload') this.binaries.putUpload(effect.change)
    else if (effect.kind === 'set') this.sets.put(effect.change)
    else if (effect.kind === 'record') this.putRecord(effect.change)
    else writeFingerprints(this.environment, effect.tableNumber, effect.fingerprints)
  }

  private applyRow({ tableNumber, rowId, operation, row }: Change): void {
    const dataClass = [...this.layouts.keys()].find(other => other.tableNumber === tableNumber)
    if (!dataClass) throw new Error(`a record of the log has table ${tableNumber}, which the store does not have`)
    if (operation === DELETED) {
      this.remove(dataClass, rowId)
      return
    }
    const { indexed, layout } = this.table(dataClass)
    const before = operation === UPDATED ? this.row(dataClass, rowId) : undefined
    const after = new RowView(layout, row!)
    for (const attribute of indexed) {
      const value = after.value(attribute) as Value
      if (before) {
        const old = before.value(attribute) as Value
        if (old === value) continue
        this.indexes.remove(attribute, old, rowId)
      }
      this.indexes.put(attribute, value, rowId)
    }
    this.putRow(dataClass, rowId, row!, operation)
  }

  /** Writes counters and the change records: the last step of a transaction. */
  private finish(): void {
    this.indexes.flush()
    this.binaries.forgetRemoved()
    // Ids that no row was stored under are used again, because the log would not record them.
    if (this.log && this.effects.length === 0) return
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

  private table(dataClass: DataClass): WrittenTable {
    let table = this.tables[dataClass.tableNumber]
    if (!table) {
      table = { layout: this.layouts.get(dataClass)!, indexed: indexesOf(dataClass), targets: new Map() }
      this.tables[dataClass.tableNumber] = table
    }
    return table
  }
}
