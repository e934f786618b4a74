import { isBinary, isByRow, type RelatedEntityAttribute, type StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { indexesOf, valueAmong } from '../../catalog/property-columns.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import { fold } from '../../base/text/fold.ts'
import { type CheckedRow, checkRow } from './check-row.ts'
import { orUnreadable } from './or-unreadable.ts'
import { type Environment, getBytes, keyRange } from '../environment.ts'
import { attributeRange, binaryKey, indexPrefix, prefixEnd, rowIdOfKey, rowKey } from '../keys.ts'
import { MAX_TEXT_BYTES } from '../../row-format/index-key.ts'
import { hasPosting, postingLists } from '../postings.ts'
import { NO_ROW, type RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { readTableState } from '../store-state.ts'

export interface CheckProgress {
  dataClass: string
  /** Rows of the dataclass checked so far, and the number that the store has counted. */
  checkedRows: number
  rowCount: number
}

export interface StoreUnderCheck {
  environment: Environment
  layouts: ReadonlyMap<DataClass, RowLayout>
  globalStamp: number
  onProgress: (progress: CheckProgress) => void
}

const indexedValue = ({ values }: CheckedRow, attribute: StorageAttribute): Value =>
  valueAmong(values as ReadonlyMap<unknown, Value>, attribute)

/** Number of rows between two reports. */
const PROGRESS_ROWS = 1000

/** The check of one dataclass: its rows, what they refer to, its indexes and its counters. */
export class TableCheck {
  private readonly environment: Environment
  private readonly layout: RowLayout
  private readonly indexed: StorageAttribute[]
  private readonly relations: readonly RelatedEntityAttribute[]
  /** Number of index entries that rows expect and that were found. */
  private readonly confirmedEntries = new Map<StorageAttribute, number>()
  private maxIncrement = 0

  constructor(
    private readonly store: StoreUnderCheck,
    private readonly dataClass: DataClass,
  ) {
    this.environment = store.environment
    this.layout = store.layouts.get(dataClass)!
    this.indexed = indexesOf(dataClass)
    this.relations = this.layout.references
  }

  *problems(): Generator<string> {
    const { tableNumber, name } = this.dataClass
    const state = readTableState(this.environment, tableNumber)
    let rowCount = 0
    let lastRowId = -1
    for (const key of keyRange(this.environment.rows, rowKey(tableNumber, 0), rowKey(tableNumber, NO_ROW))) {
      rowCount++
      lastRowId = rowIdOfKey(key)
      if (key.length !== 6) yield `${name}: a row has a key of ${key.length} bytes instead of 6`
      else yield* orUnreadable(`${name}, row ${lastRowId}`, this.checkOne(lastRowId))
      if (rowCount % PROGRESS_ROWS === 0) this.progress(rowCount, state.rowCount)
    }
    this.progress(rowCount, state.rowCount)
    if (rowCount !== state.rowCount) yield `${name}: there are ${rowCount} rows, the store counts ${state.rowCount}`
    if (lastRowId >= state.nextRowId) {
      yield `${name}: there is a row ${lastRowId}, but the next row id is ${state.nextRowId}`
    }
    if (this.maxIncrement >= state.nextAutoIncrement) {
      yield `${name}: a row has the number ${this.maxIncrement}, but the next one is ${state.nextAutoIncrement}`
    }
    for (const attribute of this.indexed) {
      const where = `${name}, index of ${attribute.name}`
      yield* orUnreadable(where, this.checkEntries(attribute))
      if (attribute.unique) yield* orUnreadable(where, this.checkUnique(attribute))
    }
  }

  private progress(checkedRows: number, rowCount: number): void {
    this.store.onProgress({ dataClass: this.dataClass.name, checkedRows, rowCount })
  }

  private *checkOne(rowId: number): Generator<string> {
    const where = `${this.dataClass.name}, row ${rowId}`
    const result = this.read(rowId)!
    if (typeof result === 'string') {
      yield `${where}: ${result}`
      return
    }
    for (const attribute of this.indexed) {
      const value = indexedValue(result, attribute)
      if (!this.hasEntry(attribute, indexPrefix(attribute, value), rowId)) {
        yield `${where}: ${attribute.name} is missing in the index`
      }
      // Keys beyond 2^53, which are bigints, do not move the counter.
      if (attribute.autoFill === 'increment' && typeof value === 'number') {
        this.maxIncrement = Math.max(this.maxIncrement, value)
      }
    }
    for (const [index, relation] of this.relations.entries()) {
      const problem = this.checkReference(result, relation, result.row.reference(index))
      if (problem) yield `${where}: ${relation.name} ${problem}`
    }
    for (const attribute of this.layout.slots) {
      if (attribute.kind !== 'storage' || !isBinary(attribute.type) || result.values.get(attribute) === null) continue
      const binary = binaryKey(this.dataClass.tableNumber, rowId, attribute.position)
      if (!getBytes(this.environment.binaries, binary)) yield `${where}: the bytes of ${attribute.name} are missing`
    }
  }

  private hasEntry(attribute: StorageAttribute, prefix: Buffer, rowId: number): boolean {
    if (!hasPosting(this.environment.index, prefix, rowId)) return false
    this.confirmedEntries.set(attribute, (this.confirmedEntries.get(attribute) ?? 0) + 1)
    return true
  }

  /** The row, or a description of its defect, which is reported when the row itself is checked; undefined when the row does not exist. */
  private read(rowId: number): CheckedRow | string | undefined {
    const storedRow = getBytes(this.environment.rows, rowKey(this.dataClass.tableNumber, rowId))
    // A copy: further lookups overwrite the bytes that this one returned.
    return storedRow && checkRow(this.layout, Buffer.from(storedRow), this.store.globalStamp)
  }

  private checkReference(
    { values }: CheckedRow,
    relation: RelatedEntityAttribute,
    targetId: number | undefined,
  ): string | undefined {
    const foreignKey = values.get(relation.foreignKey) as Value
    const linkedKey = values.get(relation)
    // Its database knows whether there is such an entity.
    if (!isByRow(relation) && (foreignKey === null) === (linkedKey === null)) return undefined
    if (targetId === undefined) {
      if (foreignKey !== null)
        return `points to nothing, though ${relation.foreignKey.name} is ${textOf(relation.foreignKey, foreignKey)}`
      return linkedKey === null ? undefined : `is a link to ${linkedKey}, though ${relation.foreignKey.name} is null`
    }
    const storedTarget = getBytes(this.environment.rows, rowKey(relation.target.tableNumber, targetId))
    if (!storedTarget) return `points to row ${targetId} of ${relation.target.name}, which does not exist`
    const target = new RowView(this.store.layouts.get(relation.target)!, Buffer.from(storedTarget))
    let targetKey: string
    let targetValue: Value
    try {
      targetKey = target.key
      targetValue = target.value(relation.target.key) as Value
    } catch {
      return `points to row ${targetId} of ${relation.target.name}, which cannot be read`
    }
    if (foreignKey === null || comparable(foreignKey) !== comparable(targetValue)) {
      return `points to ${targetKey}, but ${relation.foreignKey.name} is ${textOf(relation.foreignKey, foreignKey)}`
    }
    return linkedKey === targetKey ? undefined : `is a link to ${linkedKey} instead of ${targetKey}`
  }

  /** Reports stray entries, which no row expects. */
  private *checkEntries(attribute: StorageAttribute): Generator<string> {
    const { start } = attributeRange(this.dataClass.tableNumber, attribute.position)
    const where = `${this.dataClass.name}, index of ${attribute.name}`
    let entries = 0
    for (const { rowIds, problem } of postingLists(this.environment.index, start, prefixEnd(start))) {
      if (problem) yield `${where}: ${problem}`
      entries += rowIds.length
    }
    if (entries === (this.confirmedEntries.get(attribute) ?? 0)) return
    for (const { prefix, rowIds } of postingLists(this.environment.index, start, prefixEnd(start))) {
      for (const rowId of rowIds) {
        const entryRow = this.read(rowId)
        if (typeof entryRow === 'string') continue
        if (entryRow && prefix.equals(indexPrefix(attribute, indexedValue(entryRow, attribute)))) continue
        yield `${where}: an entry of row ${rowId}, which ${entryRow ? 'has another value' : 'does not exist'}`
      }
    }
  }

  private *checkUnique(attribute: StorageAttribute): Generator<string> {
    const { valuesStart, end } = attributeRange(this.dataClass.tableNumber, attribute.position)
    for (const { prefix, rowIds } of postingLists(this.environment.index, valuesStart, end)) {
      if (rowIds.length < 2) continue
      if (prefix.length <= valuesStart.length + MAX_TEXT_BYTES) {
        for (const rowId of rowIds.slice(1)) yield this.notUnique(attribute, rowId)
        continue
      }
      // Texts that share a key, because it is cut.
      const texts = new Set<string>()
      for (const rowId of rowIds) {
        const postedRow = this.read(rowId)
        if (postedRow === undefined || typeof postedRow === 'string') continue
        const foldedText = fold(String(indexedValue(postedRow, attribute)))
        if (texts.has(foldedText)) yield this.notUnique(attribute, rowId)
        texts.add(foldedText)
      }
    }
  }

  private notUnique(attribute: StorageAttribute, rowId: number): string {
    return `${this.dataClass.name}, row ${rowId}: another row has the same ${attribute.name}, which is unique`
  }
}

const comparable = (value: Value): Value => (typeof value === 'string' ? fold(value) : value)

const textOf = (attribute: StorageAttribute, value: Value): string =>
  value === null ? 'null' : String(TYPES[attribute.type].toCode(value, attribute))
