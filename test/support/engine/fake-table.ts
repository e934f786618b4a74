import type { StorageAttribute } from '../../../engine/catalog/attribute.ts'
import type { Catalog, DataClass } from '../../../engine/catalog/dataclass.ts'
import type { Value } from '../../../engine/catalog/value.ts'
import type { Scalar } from '../../../engine/query/bind/predicate.ts'
import { RowSet } from '../../../engine/row-set/row-set.ts'
import {
  type Bounds,
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type IndexRange,
  type RowOrder,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
  type Span,
} from '../../../engine/data/snapshot.ts'
import { fold } from '../../../engine/base/text/fold.ts'
import { type FakeEntities, fakeRows } from './fake-rows.ts'

export interface FakeStore extends Snapshot {
  /** Segments that were created, such as `Employee.salary 0`: those that a query touched. */
  readonly segmentsRead: Set<string>
}

/**
 * A snapshot over plain objects, with columns, indexes and relations. Row ids are positions; undefined stands for a
 * deleted entity. Values are as in `engine/catalog/value.ts`.
 */
export function fakeStore(catalog: Catalog, entities: FakeEntities): FakeStore {
  const rows = fakeRows(catalog, entities)
  const segmentsRead = new Set<string>()
  const of = (dataClass: DataClass) => entities[dataClass.name] ?? []
  const rowIdsByKey = new Map(
    catalog.dataClasses.map(dataClass => [
      dataClass,
      new Map(
        of(dataClass).flatMap((entity, rowId) => (entity ? [[comparable(entity[dataClass.key.name]!), rowId]] : [])),
      ),
    ]),
  )
  const cell = (attribute: ColumnAttribute, rowId: number): unknown => {
    const entity = of(attribute.dataClass)[rowId]
    if (attribute.kind === 'storage') return comparable(entity?.[attribute.name] ?? null)
    const key = entity?.[attribute.foreignKey.name] ?? null
    return key === null ? null : (rowIdsByKey.get(attribute.target)!.get(comparable(key)) ?? null)
  }
  const segments = new Map<string, Segment>()
  const tables = new Map(
    catalog.dataClasses.map(dataClass => [
      dataClass,
      {
        ...rows.table(dataClass),
        column: (attribute: ColumnAttribute): Column => ({
          attribute,
          segment(index) {
            const name = `${dataClass.name}.${attribute.name} ${index}`
            segmentsRead.add(name)
            if (!segments.has(name))
              segments.set(
                name,
                makeSegment(attribute, index, rowId => cell(attribute, rowId)),
              )
            return segments.get(name)!
          },
        }),
        index: (attribute: StorageAttribute) =>
          attribute.indexed
            ? fakeIndex(of(dataClass).map(entity => entity && (entity[attribute.name] ?? null)))
            : undefined,
        findKey: (key: Value) => rowIdsByKey.get(dataClass)!.get(comparable(key)),
      },
    ]),
  )
  return { globalStamp: 99, table: dataClass => tables.get(dataClass)!, release() {}, segmentsRead }
}

const comparable = (value: Value): unknown =>
  typeof value === 'string' ? fold(value) : typeof value === 'boolean' ? Number(value) : value

function makeSegment(attribute: ColumnAttribute, index: number, cell: (rowId: number) => unknown): Segment {
  const present = new Uint32Array(SEGMENT_WORDS)
  const values = Array.from({ length: SEGMENT_ROWS }, (_, entry) => {
    const value = cell(index * SEGMENT_ROWS + entry)
    if (value === null) return undefined
    present[entry >>> 5]! |= 1 << (entry & 31)
    return value
  })
  const type = attribute.kind === 'storage' ? attribute.type : 'long'
  if (type === 'image' || type === 'blob') return { kind: 'presence', presence: present }
  if (type === 'object') return { kind: 'json', presence: present, values }
  if (type === 'string' || type === 'uuid') return { kind: 'text', presence: present, values: values as string[] }
  if (values.some(value => typeof value === 'bigint')) {
    return {
      kind: 'bigint',
      presence: present,
      values: BigInt64Array.from(values, value => BigInt((value as bigint) ?? 0)),
    }
  }
  return {
    kind: 'number',
    presence: present,
    values: Float64Array.from(values, value => (value as number) ?? Number.NaN),
  }
}

export function fakeIndex(values: readonly (Value | undefined)[]): SecondaryIndex {
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
    order: fakeOrder(values, range =>
      'equal' in range ? index.equal(range.equal) : 'prefix' in range ? index.prefix(range.prefix) : index.range(range),
    ),
  }
  return index
}

function fakeOrder(values: readonly (Value | undefined)[], find: (range: IndexRange) => RowSet): RowOrder {
  const rank = (rowId: number): Scalar | null => comparable(values[rowId]!) as Scalar | null
  const compare = (a: number, b: number): number => {
    const [left, right] = [rank(a), rank(b)]
    if (left === null || right === null) return Number(left !== null) - Number(right !== null)
    return left < right ? -1 : left > right ? 1 : 0
  }
  const rows = [...values.keys()].filter(rowId => values[rowId] !== undefined)
  const sorted = Uint32Array.from(rows.sort((a, b) => compare(a, b) || a - b))
  const spanOf = (test: (rowId: number) => boolean): Span => {
    const start = sorted.findIndex(test)
    return start < 0 ? { start: 0, end: 0 } : { start, end: sorted.findLastIndex(test) + 1 }
  }
  return {
    size: sorted.length,
    find: range => {
      const found = find(range)
      return spanOf(rowId => found.has(rowId))
    },
    same: rowId => spanOf(other => compare(other, rowId) === 0),
    isSame: (a, b) => compare(a, b) === 0,
    rowIds: ({ start, end }) => sorted.slice(start, end),
  }
}
