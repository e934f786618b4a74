import type { RowAttribute, StorageAttribute } from '../../../engine/catalog/attribute.ts'
import type { Catalog, DataClass, WireOptions } from '../../../engine/catalog/dataclass.ts'
import { loadModel } from '../../../engine/catalog/load-model.ts'
import { indexesOf, valueAmong } from '../../../engine/catalog/property-columns.ts'
import { BinaryValue, type Value } from '../../../engine/catalog/value.ts'
import { encodeBinary } from '../../../engine/files/encode-binary.ts'
import { type Change, DELETED, INSERTED, UPDATED } from '../../../engine/data/change.ts'
import type { RecordStore } from '../../../engine/data/record-store.ts'
import type { Store } from '../../../engine/data/store.ts'
import { encodeChanges } from '../../../engine/storage/change-log.ts'
import { encodeRow } from '../../../engine/row-format/encode-row.ts'
import { type Environment, openEnvironment } from '../../../engine/storage/environment.ts'
import { binaryKey, changeKey, indexPrefix, rowKey } from '../../../engine/storage/keys.ts'
import { addPostings, removePosting } from '../../../engine/storage/postings.ts'
import { LmdbRecords } from '../../../engine/storage/lmdb-records.ts'
import { layoutKey, loadLayouts } from '../../../engine/storage/layouts.ts'
import { layoutFingerprint, type RowLayout, rowLayout } from '../../../engine/row-format/row-layout.ts'
import { openStore } from '../../../engine/storage/store.ts'
import {
  readGlobalStamp,
  readTableState,
  writeGlobalStamp,
  writeTableState,
} from '../../../engine/storage/store-state.ts'
import { fold } from '../../../engine/base/text/fold.ts'

export type TestEntity = Readonly<Record<string, Value>>

/** A store that tests write to without the writer and its rules. */
export interface RowStore {
  readonly environment: Environment
  readonly records: RecordStore
  readonly catalog: Catalog
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  dataClass(name: string): DataClass
  attribute(dataClass: string, name: string): StorageAttribute
  /** Everything that `work` writes is one commit. */
  commit(work: (rows: RowWriter) => void): void
  open(cacheBytes?: number): Store
}

export interface RowWriter {
  /** @returns the row id. N→1 relations are found by the value of their foreign key. */
  insert(dataClass: string, entity: TestEntity): number
  update(dataClass: string, rowId: number, entity: TestEntity): void
  delete(dataClass: string, rowId: number): void
}

export function createRowStore(path: string, model: unknown, wire: WireOptions = { dateOnlyFormat: 'iso' }): RowStore {
  const environment = openEnvironment({ path, mapSizeBytes: 2 ** 30 })
  const catalog = loadModel(model)
  for (const dataClass of catalog.dataClasses) {
    const layout = rowLayout(dataClass, 1, wire)
    environment.meta.putSync(layoutKey(dataClass.tableNumber), { version: 1, fingerprint: layoutFingerprint(layout) })
  }
  const layouts = loadLayouts(environment, catalog, wire)
  const dataClass = (name: string): DataClass => catalog.dataClassesByName.get(name)!
  return {
    environment,
    records: new LmdbRecords(environment),
    catalog,
    layouts,
    dataClass,
    attribute: (name, attribute) => dataClass(name).attributesByName.get(attribute) as StorageAttribute,
    commit(work) {
      environment.root.transactionSync(() => {
        const writer = new Writer(environment, layouts, dataClass)
        work(writer)
        writer.finish()
      })
    },
    open: (cacheBytes = 2 ** 26) => openStore({ environment, catalog, layouts, cacheBytes }),
  }
}

interface Written {
  entity: TestEntity
  stamp: number
}

/** Written rows, so that entries of an older version can be removed from indexes. Tests are small. */
const written = new WeakMap<Environment, Map<string, Written>>()

class Writer implements RowWriter {
  private readonly changes: Change[] = []
  private readonly entities: Map<string, Written>
  private globalStamp: number

  constructor(
    private readonly environment: Environment,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly dataClass: (name: string) => DataClass,
  ) {
    this.globalStamp = readGlobalStamp(environment)
    this.entities = written.get(environment) ?? new Map()
    written.set(environment, this.entities)
  }

  insert(name: string, entity: TestEntity): number {
    const state = readTableState(this.environment, this.dataClass(name).tableNumber)
    const rowId = state.nextRowId++
    state.rowCount++
    const id = entity[this.dataClass(name).key.name]
    if (typeof id === 'number') state.nextAutoIncrement = Math.max(state.nextAutoIncrement, id + 1)
    writeTableState(this.environment, this.dataClass(name).tableNumber, state)
    this.put(name, rowId, { entity, stamp: 1 }, INSERTED)
    return rowId
  }

  update(name: string, rowId: number, entity: TestEntity): void {
    const { stamp } = this.entities.get(`${name} ${rowId}`)!
    this.removeEntries(name, rowId)
    this.put(name, rowId, { entity, stamp: stamp + 1 }, UPDATED)
  }

  delete(name: string, rowId: number): void {
    const { tableNumber } = this.dataClass(name)
    this.removeEntries(name, rowId)
    this.entities.delete(`${name} ${rowId}`)
    this.environment.rows.removeSync(rowKey(tableNumber, rowId))
    const state = readTableState(this.environment, tableNumber)
    state.rowCount--
    writeTableState(this.environment, tableNumber, state)
    this.globalStamp++
    this.changes.push({ tableNumber, rowId, operation: DELETED })
  }

  finish(): void {
    if (this.changes.length === 0) return
    writeGlobalStamp(this.environment, this.globalStamp)
    this.environment.changes.putSync(changeKey(this.globalStamp), encodeChanges(this.changes))
  }

  private put(name: string, rowId: number, version: Written, operation: number): void {
    const dataClass = this.dataClass(name)
    const layout = this.layouts.get(dataClass)!
    const { entity, stamp } = version
    this.globalStamp++
    this.changes.push({ tableNumber: dataClass.tableNumber, rowId, operation })
    this.entities.set(`${name} ${rowId}`, version)
    const values = new Map<RowAttribute, Value>(layout.slots.map(slot => [slot, entity[slot.name] ?? null]))
    const references = layout.references.map(relation => {
      const target = this.findTarget(relation.target, entity[relation.foreignKey.name] ?? null)
      values.set(relation, target?.key ?? null)
      return target?.rowId
    })
    const row = encodeRow(layout, {
      key: String(entity[dataClass.key.name]),
      stamp,
      globalStamp: this.globalStamp,
      timestamp: '2026-01-31T10:00:00.000Z',
      values,
      references,
    })
    this.environment.rows.putSync(rowKey(dataClass.tableNumber, rowId), Buffer.from(row))
    for (const prefix of this.entries(name, rowId)) addPostings(this.environment.index, prefix, [rowId])
    for (const [attribute, value] of values) {
      if (!(value instanceof BinaryValue)) continue
      this.environment.binaries.putSync(
        binaryKey(dataClass.tableNumber, rowId, attribute.position),
        Buffer.from(encodeBinary(value)),
      )
    }
  }

  private removeEntries(name: string, rowId: number): void {
    for (const prefix of this.entries(name, rowId)) removePosting(this.environment.index, prefix, rowId)
    for (const attribute of this.dataClass(name).attributes) {
      this.environment.binaries.removeSync(binaryKey(this.dataClass(name).tableNumber, rowId, attribute.position))
    }
  }

  private entries(name: string, rowId: number): Buffer[] {
    const dataClass = this.dataClass(name)
    const { entity } = this.entities.get(`${name} ${rowId}`)!
    const values = new Map<unknown, Value>(dataClass.attributes.map(each => [each, entity[each.name] ?? null]))
    return indexesOf(dataClass).map(index => indexPrefix(index, valueAmong(values, index)))
  }

  private findTarget(target: DataClass, key: Value): { rowId: number; key: Value } | undefined {
    if (key === null) return undefined
    for (const [place, { entity }] of this.entities) {
      const value = entity[target.key.name] ?? null
      if (place.startsWith(`${target.name} `) && fold(String(value)) === fold(String(key))) {
        return { rowId: Number(place.slice(target.name.length + 1)), key: value }
      }
    }
    return undefined
  }
}
