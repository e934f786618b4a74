import type { Attribute, RelatedEntityAttribute, RowAttribute } from '../../../engine/catalog/attribute.ts'
import type { Catalog, DataClass } from '../../../engine/catalog/dataclass.ts'
import type { Value } from '../../../engine/catalog/value.ts'
import { RowSet } from '../../../engine/row-set/row-set.ts'
import { encodeRow } from '../../../engine/row-format/encode-row.ts'
import { type RowLayout, rowLayout } from '../../../engine/row-format/row-layout.ts'
import { RowView } from '../../../engine/row-format/row-view.ts'
import type { Snapshot, TableSnapshot } from '../../../engine/data/snapshot.ts'

export type FakeEntities = Readonly<Record<string, readonly (Readonly<Record<string, Value>> | undefined)[]>>

export interface FakeRows extends Snapshot {
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Number of reads of each row: `Company 0` is the first row of Company. */
  readonly reads: Map<string, number>
  /** Bytes of a row, owned. */
  bytes(dataClass: string, rowId: number): Uint8Array
}

/**
 * Rows without a store. The entities of a dataclass get the row ids 0, 1, …; undefined stands for a deleted one.
 * A read overwrites the result of the previous one, as in the store. Stamps: row id + 1; global stamps: row id + 10.
 */
export function fakeRows(catalog: Catalog, entities: FakeEntities, globalStamp = 99): FakeRows {
  const layouts = new Map(catalog.dataClasses.map(d => [d, rowLayout(d, 1, { dateOnlyFormat: 'iso' })]))
  const reads = new Map<string, number>()
  const scratch = new Uint8Array(1 << 20)
  const of = (dataClass: DataClass) => entities[dataClass.name] ?? []
  const byKey = new Map(
    catalog.dataClasses.map(each => {
      const rowIds = new Map<Value, number>()
      for (const [rowId, entity] of of(each).entries()) {
        const key = entity?.[each.key.name]
        if (key !== undefined && !rowIds.has(key)) rowIds.set(key, rowId)
      }
      return [each, rowIds]
    }),
  )
  const target = (relation: RelatedEntityAttribute, rowId: number): number | undefined => {
    const key = of(relation.dataClass)[rowId]?.[relation.foreignKey.name]
    return key === undefined ? undefined : byKey.get(relation.target)!.get(key)
  }
  const encode = (dataClass: DataClass, rowId: number): Uint8Array => {
    const entity = of(dataClass)[rowId]!
    const layout = layouts.get(dataClass)!
    const value = (attribute: Attribute): Value =>
      entity[attribute.kind === 'relatedEntity' ? attribute.foreignKey.name : attribute.name] ?? null
    return encodeRow(layout, {
      key: String(entity[dataClass.key.name]),
      stamp: rowId + 1,
      globalStamp: rowId + 10,
      timestamp: '2026-01-31T10:00:00.000Z',
      values: new Map(layout.slots.map((attribute): [RowAttribute, Value] => [attribute, value(attribute)])),
      references: layout.references.map(relation => target(relation, rowId)),
    })
  }
  const encoded = new Map(catalog.dataClasses.map(d => [d, of(d).map((entity, i) => entity && encode(d, i))]))

  const table = (dataClass: DataClass): TableSnapshot => ({
    dataClass,
    live: RowSet.fromIds(of(dataClass).flatMap((entity, i) => (entity ? [i] : []))),
    rowIdLimit: of(dataClass).length,
    row(rowId) {
      const name = `${dataClass.name} ${rowId}`
      reads.set(name, (reads.get(name) ?? 0) + 1)
      const row = encoded.get(dataClass)![rowId]
      if (!row) return undefined
      scratch.fill(0x21)
      scratch.set(row)
      return new RowView(layouts.get(dataClass)!, scratch.subarray(0, row.length))
    },
    referencing(relation, targetRowId) {
      const rowIds = of(dataClass).flatMap((entity, i) => (entity && target(relation, i) === targetRowId ? [i] : []))
      return Uint32Array.from(rowIds)
    },
    column: unused,
    rowsToDecode: () => 0,
    index: unused,
    findKey: unused,
    binary: unused,
  })
  return {
    globalStamp,
    table,
    release() {},
    layouts,
    reads,
    bytes: (name, rowId) => encoded.get(catalog.dataClassesByName.get(name)!)![rowId]!,
  }
}

function unused(): never {
  throw new Error('fake rows have no columns, indexes or binaries')
}
