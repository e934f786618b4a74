import type { StorageAttribute } from '../../engine/catalog/attribute.ts'
import type { Catalog, DataClass } from '../../engine/catalog/dataclass.ts'
import type { Value } from '../../engine/catalog/value.ts'
import { RowSet } from '../../engine/row-set/row-set.ts'
import {
  type Bounds,
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
} from '../../engine/storage/snapshot.ts'
import { fold } from '../../engine/text/fold.ts'
import { type FakeEntities, fakeRows } from './fake-rows.ts'

export interface FakeStore extends Snapshot {
  /** Segments that were made, as `Employee.salary 0`: what a query touched. */
  readonly segmentsRead: Set<string>
}

/**
 * A snapshot over plain objects, with columns, indexes and relations. Row ids are positions; undefined stands for an
 * entity that was deleted. Values as in `engine/catalog/value.ts`.
 * @param options.dense the rows that exist are a bitmap, as in a table with many, so that columns are read by segments
 */
export function fakeStore(catalog: Catalog, entities: FakeEntities, { dense = false } = {}): FakeStore {
  const rows = fakeRows(catalog, entities)
  const segmentsRead = new Set<string>()
  const of = (dataClass: DataClass) => entities[dataClass.name] ?? []
  const cell = (attribute: ColumnAttribute, rowId: number): unknown => {
    if (attribute.kind === 'storage') return comparable(of(attribute.dataClass)[rowId]?.[attribute.name] ?? null)
    const row = rows.table(attribute.dataClass).row(rowId)
    return row?.reference(row.layout.referenceOf.get(attribute)!) ?? null
  }
  const tables = new Map(
    catalog.dataClasses.map(dataClass => [
      dataClass,
      {
        ...rows.table(dataClass),
        live: liveRows(of(dataClass), dense),
        column: (attribute: ColumnAttribute): Column => ({
          attribute,
          segment(index) {
            segmentsRead.add(`${dataClass.name}.${attribute.name} ${index}`)
            return segment(attribute, index, rowId => cell(attribute, rowId))
          },
        }),
        index: (attribute: StorageAttribute) =>
          attribute.indexed
            ? fakeIndex(
                attribute,
                of(dataClass).map(entity => entity && (entity[attribute.name] ?? null)),
              )
            : undefined,
        findKey(key: Value) {
          const found = of(dataClass).findIndex(
            entity => entity && comparable(entity[dataClass.key.name]!) === comparable(key),
          )
          return found < 0 ? undefined : found
        },
      },
    ]),
  )
  return { globalStamp: 99, table: dataClass => tables.get(dataClass)!, release() {}, segmentsRead }
}

function liveRows(entities: readonly unknown[], dense: boolean): RowSet {
  const dead = RowSet.fromIds(entities.flatMap((entity, rowId) => (entity ? [] : [rowId])))
  return dense ? RowSet.range(entities.length).minus(dead) : RowSet.fromIds(RowSet.range(entities.length).minus(dead))
}

const comparable = (value: Value): unknown =>
  typeof value === 'string' ? fold(value) : typeof value === 'boolean' ? Number(value) : value

function segment(attribute: ColumnAttribute, index: number, cell: (rowId: number) => unknown): Segment {
  const present = new Uint32Array(SEGMENT_WORDS)
  const values = Array.from({ length: SEGMENT_ROWS }, (_, entry) => {
    const value = cell(index * SEGMENT_ROWS + entry)
    if (value === null) return undefined
    present[entry >>> 5]! |= 1 << (entry & 31)
    return value
  })
  const type = attribute.kind === 'storage' ? attribute.type : 'long'
  if (type === 'image' || type === 'blob') return { kind: 'presence', present }
  if (type === 'object') return { kind: 'json', present, values }
  if (type === 'string' || type === 'uuid') return { kind: 'text', present, values: values as string[] }
  if (values.some(value => typeof value === 'bigint')) {
    return { kind: 'bigint', present, values: BigInt64Array.from(values, value => BigInt((value as bigint) ?? 0)) }
  }
  return { kind: 'number', present, values: Float64Array.from(values, value => (value as number) ?? Number.NaN) }
}

function fakeIndex(_attribute: StorageAttribute, values: readonly (Value | undefined)[]): SecondaryIndex {
  const find = (test: (value: unknown) => boolean) =>
    RowSet.fromIds(values.flatMap((value, rowId) => (value !== undefined && test(comparable(value)) ? [rowId] : [])))
  const index: SecondaryIndex = {
    equal: value => find(other => other === comparable(value)),
    range: ({ lower, upper }) =>
      find(
        other =>
          other !== null &&
          (!lower || other! > comparable(lower.value)! || (lower.inclusive && other === comparable(lower.value))) &&
          (!upper || other! < comparable(upper.value)! || (upper.inclusive && other === comparable(upper.value))),
      ),
    prefix: prefix => find(other => typeof other === 'string' && other.startsWith(prefix)),
    estimate(what, limit) {
      const found =
        'equal' in what
          ? index.equal(what.equal)
          : 'prefix' in what
            ? index.prefix(what.prefix)
            : index.range(what as Bounds)
      return Math.min(found.size, limit)
    },
  }
  return index
}
