import { fold } from '../../base/text/fold.ts'
import { isBinary, type RelatedEntityAttribute, type StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { indexesOf, valueAmong } from '../../catalog/property-columns.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { BinaryValue, type Value } from '../../catalog/value.ts'
import type { RelatedEntity } from '../../data/store-transaction.ts'
import { changeRow, encodeRow, type RowValues } from '../../row-format/encode-row.ts'
import { keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { BinaryTable } from '../binary-table.ts'
import { type Environment, getBytes } from '../environment.ts'
import { IndexBuild } from '../index-build.ts'
import { IndexWriter } from '../index-writer.ts'
import { binaryKey, rowKey } from '../keys.ts'
import { RowTable } from '../row-table.ts'
import { writeGlobalStamp, writeTableState } from '../store-state.ts'
import { tableRows } from '../table-rows.ts'
import { type Duplicate, DuplicateFinder } from './duplicates.ts'
import type { DumpRow } from './row-reader.ts'

/** Maximum number of related entities remembered for each dataclass. */
const REMEMBERED = 50_000
/** Rows of a transaction that links them. */
const SLICE = 5_000
/** Maximum number of duplicates that are reported. */
const MAX_DUPLICATES = 100

interface FilledTable {
  readonly layout: RowLayout
  /** Undefined before the first row and after the last one. */
  indexes: IndexBuild | undefined
  readonly binaries: readonly StorageAttribute[]
  readonly counter: StorageAttribute | undefined
  /** Related entities by key. */
  readonly remembered: Map<Value, RelatedEntity>
  /** Number of entities, also of those that could not be put: the next row id. */
  rowCount: number
  nextAutoIncrement: number
  /** True if all entities of the dataclass are in the store. */
  isComplete: boolean
  /** True if rows have foreign keys whose entities were not in the store yet. */
  hasLateLinks: boolean
}

/**
 * Puts the entities of a dump into a new store that no other process uses. Checks only what the store relies on: keys and unique values
 * exist once, and foreign keys refer to entities. No plugin code runs.
 */
export class StoreFiller {
  private readonly tables: ReadonlyMap<DataClass, FilledTable>
  private readonly rows: RowTable
  private readonly indexes: IndexWriter
  private readonly binaries: BinaryTable
  private globalStamp: number

  /** @param globalStamp global stamp of the dump, 0 if it has none */
  constructor(
    private readonly environment: Environment,
    layouts: ReadonlyMap<DataClass, RowLayout>,
    globalStamp: number,
  ) {
    this.tables = new Map([...layouts].map(([dataClass, layout]) => [dataClass, emptyTable(dataClass, layout)]))
    this.rows = new RowTable(environment.rows)
    this.indexes = new IndexWriter(environment.index)
    this.binaries = new BinaryTable(environment)
    this.globalStamp = globalStamp
  }

  /**
   * Puts entities of one dataclass in one transaction. Their row ids are consecutive.
   * @param rows are put one by one, before the next one is read; undefined for one that cannot be read
   * @param onProblem called for an entity that cannot be put, before the next one is read
   */
  put(dataClass: DataClass, rows: Iterable<DumpRow | undefined>, onProblem: (problem: string) => void): void {
    const table = this.tables.get(dataClass)!
    table.indexes ??= new IndexBuild(indexesOf(dataClass), this.environment.path)
    this.environment.root.transactionSync(() => {
      const isLast = this.rows.isLast(dataClass.tableNumber)
      for (const row of rows) {
        const problem = row && this.putRow(dataClass, row, isLast)
        if (problem !== undefined) onProblem(problem)
        table.rowCount++
      }
    })
    this.binaries.settle()
  }

  /**
   * Called when all entities of a dataclass were put. Writes their indexes.
   * @param nextAutoIncrement counter of the dump
   * @param onProgress called with numbers of index entries
   * @param onProblem called for an entity with a value that has to be unique and is not
   */
  complete(
    dataClass: DataClass,
    nextAutoIncrement: number | undefined,
    onProgress: (done: number, total: number) => void,
    onProblem: (rowId: number, problem: string) => void,
  ): void {
    const table = this.tables.get(dataClass)!
    table.nextAutoIncrement = Math.max(table.nextAutoIncrement, nextAutoIncrement ?? 1)
    const total = table.rowCount * indexesOf(dataClass).length
    let done = 0
    const finder = new DuplicateFinder((attribute, rowId) => fold(this.valueOf(attribute, rowId) as string))
    let duplicates: Duplicate[] = []
    for (const entries of table.indexes?.entries() ?? []) {
      this.environment.root.transactionSync(() => this.indexes.putEntries(entries))
      for (const duplicate of finder.among(entries)) {
        duplicates.push(duplicate)
        if (duplicates.length >= 2 * MAX_DUPLICATES) duplicates = sortedByRow(duplicates).slice(0, MAX_DUPLICATES)
      }
      done += entries.rowIds.length
      onProgress(done, total)
    }
    for (const duplicate of sortedByRow(duplicates)) onProblem(duplicate.rowId, this.describe(duplicate))
    table.indexes = undefined
    table.isComplete = true
  }

  /** Removes temporary files after a failure. */
  close(): void {
    for (const { indexes } of this.tables.values()) indexes?.close()
  }

  /** Finds the entities of foreign keys that were put before their entities. */
  link(onProgress: (dataClass: DataClass) => void, onProblem: (dataClass: DataClass, problem: string) => void): void {
    for (const [dataClass, { hasLateLinks }] of this.tables) {
      if (!hasLateLinks) continue
      onProgress(dataClass)
      for (let first = 0; ; ) {
        const rows = [...tableRows(this.environment, dataClass.tableNumber, first, SLICE)]
        if (rows.length === 0) break
        this.environment.root.transactionSync(() => {
          for (const { rowId, bytes } of rows) {
            const problem = this.linkRow(dataClass, rowId, bytes)
            if (problem !== undefined) onProblem(dataClass, problem)
          }
        })
        first = rows.at(-1)!.rowId + 1
      }
    }
  }

  /** Writes the counters. @returns the global stamp, and the number of entities by dataclass */
  finish(): { stamp: number; entities: Readonly<Record<string, number>> } {
    this.environment.root.transactionSync(() => {
      writeGlobalStamp(this.environment, this.globalStamp)
      for (const [{ tableNumber }, { rowCount, nextAutoIncrement }] of this.tables)
        writeTableState(this.environment, tableNumber, { nextRowId: rowCount, rowCount, nextAutoIncrement })
    })
    const counts = [...this.tables].map(([{ name }, { rowCount }]) => [name, rowCount] as const)
    return { stamp: this.globalStamp, entities: Object.fromEntries(counts) }
  }

  /** @returns the reason why the row cannot be put */
  private putRow(dataClass: DataClass, row: DumpRow, isLast: boolean): string | undefined {
    const table = this.tables.get(dataClass)!
    const { layout, counter } = table
    const { values, stamp, timestamp } = row
    const rowId = table.rowCount
    const references = layout.references.map(relation => {
      const key = values.get(relation.foreignKey)!
      values.set(relation, null)
      if (key === null) return undefined
      const relatedEntity = this.relatedYet(dataClass, row, relation, rowId)
      values.set(relation, keyText(this.tables.get(relation.target)!.layout, relatedEntity?.key ?? key))
      if (relatedEntity && isSpelled(relation)) values.set(relation.foreignKey, relatedEntity.key)
      return relatedEntity?.rowId
    })
    const lostIndex = layout.references.findIndex(
      ({ foreignKey, target }, i) =>
        references[i] === undefined && values.get(foreignKey) !== null && this.tables.get(target)!.isComplete,
    )
    if (lostIndex >= 0) return leadsNowhere(layout.references[lostIndex]!, values)
    table.hasLateLinks ||= layout.references.some(
      ({ foreignKey }, i) => references[i] === undefined && values.get(foreignKey) !== null,
    )
    table.indexes!.add(rowId, attribute => valueAmong(values as ReadonlyMap<unknown, Value>, attribute))
    for (const attribute of table.binaries) {
      const value = values.get(attribute)
      if (value instanceof BinaryValue)
        this.binaries.put(binaryKey(dataClass.tableNumber, rowId, attribute.position), value)
    }
    const number = counter && values.get(counter)
    // Keys beyond 2^53, which are bigints, do not move the counter.
    if (typeof number === 'number' && number >= table.nextAutoIncrement) table.nextAutoIncrement = number + 1
    const globalStamp = row.globalStamp ?? this.globalStamp + 1
    this.globalStamp = Math.max(this.globalStamp, globalStamp)
    const key = keyText(layout, values.get(dataClass.key)!)
    const bytes = encodeRow(layout, { key, stamp, globalStamp, timestamp, values, references })
    if (isLast) this.rows.append(dataClass.tableNumber, rowId, bytes)
    else this.rows.put(dataClass.tableNumber, rowId, bytes)
    return undefined
  }

  /** The entity that a foreign key refers to, if it is in the store already. */
  private relatedYet(
    dataClass: DataClass,
    { values }: DumpRow,
    { target, foreignKey }: RelatedEntityAttribute,
    rowId: number,
  ): RelatedEntity | undefined {
    const key = values.get(foreignKey)!
    if (target !== dataClass) return this.tables.get(target)!.isComplete ? this.findRelated(target, key) : undefined
    const ownKey = values.get(dataClass.key)!
    return comparable(ownKey) === comparable(key) ? { rowId, key: ownKey } : undefined
  }

  private linkRow(dataClass: DataClass, rowId: number, bytes: Uint8Array): string | undefined {
    const { layout } = this.tables.get(dataClass)!
    const row = new RowView(layout, bytes)
    const values = new Map<unknown, Value>()
    let lossText: string | undefined
    const references = layout.references.map((relation, i) => {
      const reference = row.reference(i)
      const key = reference === undefined ? (row.value(relation.foreignKey) as Value) : null
      if (key === null) return reference
      const relatedEntity = this.findRelated(relation.target, key)
      if (!relatedEntity) {
        lossText = leadsNowhere(relation, { get: () => key })
        return undefined
      }
      values.set(relation, keyText(this.tables.get(relation.target)!.layout, relatedEntity.key))
      if (isSpelled(relation)) values.set(relation.foreignKey, relatedEntity.key)
      return relatedEntity.rowId
    })
    if (lossText !== undefined || values.size === 0) return lossText && `the entity ${row.key}: ${lossText}`
    const { stamp, globalStamp, timestamp } = row
    const changedRow = changeRow(row, { stamp, globalStamp, timestamp, values: values as RowValues, references })
    this.rows.put(dataClass.tableNumber, rowId, changedRow)
    return undefined
  }

  private findRelated(target: DataClass, key: Value): RelatedEntity | undefined {
    const { remembered } = this.tables.get(target)!
    const rememberedEntity = remembered.get(key)
    if (rememberedEntity) return rememberedEntity
    const rowId = this.holder(target.key, key)
    if (rowId === undefined) return undefined
    const entity = { rowId, key: target.key.type === 'string' ? this.valueOf(target.key, rowId) : key }
    if (remembered.size >= REMEMBERED) remembered.clear()
    remembered.set(key, entity)
    return entity
  }

  private holder(attribute: StorageAttribute, value: Value): number | undefined {
    return this.indexes.holder(attribute, value, rowId => this.valueOf(attribute, rowId) as string)
  }

  private describe({ attribute, rowId }: Duplicate): string {
    const value = this.valueOf(attribute, rowId)
    return attribute.together
      ? `${attribute.name}: another entity has the values ${String(value).slice(0, 100)}, which are unique together`
      : `${attribute.name}: another entity has the value ${excerptOf(attribute, value)}, which is unique`
  }

  private valueOf(attribute: StorageAttribute, rowId: number): Value {
    const { tableNumber } = attribute.dataClass
    const bytes = getBytes(this.environment.rows, rowKey(tableNumber, rowId))!
    return new RowView(this.tables.get(attribute.dataClass)!.layout, bytes).value(attribute) as Value
  }
}

/** True if a foreign key must have the same spelling as the target's key. */
const isSpelled = ({ foreignKey, target }: RelatedEntityAttribute): boolean => foreignKey.type === target.key.type

const comparable = (value: Value): Value => (typeof value === 'string' ? fold(value) : value)

const excerptOf = (attribute: StorageAttribute, value: Value): string =>
  JSON.stringify(String(TYPES[attribute.type].toCode(value, attribute)).slice(0, 100))

const leadsNowhere = ({ foreignKey, target }: RelatedEntityAttribute, values: RowValues): string =>
  `${foreignKey.name}: there is no entity ${excerptOf(foreignKey, values.get(foreignKey)!)} in ${target.name}`

const sortedByRow = (duplicates: Duplicate[]): Duplicate[] => duplicates.sort((a, b) => a.rowId - b.rowId)

function emptyTable(dataClass: DataClass, layout: RowLayout): FilledTable {
  const storageAttributes = dataClass.attributes.filter(attribute => attribute.kind === 'storage')
  return {
    layout,
    indexes: undefined,
    binaries: storageAttributes.filter(({ type }) => isBinary(type)),
    counter: storageAttributes.find(({ autoFill }) => autoFill === 'increment'),
    remembered: new Map(),
    rowCount: 0,
    nextAutoIncrement: 1,
    isComplete: false,
    hasLateLinks: false,
  }
}
