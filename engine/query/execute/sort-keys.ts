import type { StorageAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { jsonTypeOf, propertyOf } from '../../catalog/property.ts'
import { SEGMENT_ROWS } from '../../data/snapshot.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { jsonScalar } from '../bind/match-value.ts'
import type { Scalar } from '../bind/predicate.ts'
import type { Similarity } from '../../vector/math/similarity.ts'
import {
  type Cell,
  pathReader,
  pointerReader,
  readNumbers,
  readsSegments,
  type TextPointers,
} from '../scan/cell-reader.ts'
import { scoreReader } from '../scan/filter-vectors.ts'
import type { QueryContext } from '../operators/query-context.ts'

/** Less than 0 when position `a` comes before position `b`. Never 0 for two positions. */
export type PositionOrder = (a: number, b: number) => number

/**
 * Order of rows by sort keys, as an order of their positions in `rowIds`. Every key is read once per row.
 *
 * Null is lowest, also at the end of a relation that is null and for rows that do not exist. Rows with equal keys keep
 * the order of `rowIds`, descending or not. In objects: null < numbers < texts < bools < objects and arrays, which are
 * all equal.
 */
export function orderOf(keys: readonly SortKey[], rowIds: Uint32Array, context: QueryContext): PositionOrder {
  const [first, ...others] = keys.map(key => {
    const order = keyOrder(key, rowIds, context)
    return key.descending ? (a: number, b: number) => order(b, a) : order
  })
  const { budget } = context
  return (a, b) => {
    budget.step()
    // Most comparisons are decided by the first key.
    return first!(a, b) || decide(others, a, b) || a - b
  }
}

function decide(orders: readonly PositionOrder[], a: number, b: number): number {
  for (const order of orders) {
    const difference = order(a, b)
    if (difference !== 0) return difference
  }
  return 0
}

function keyOrder(key: SortKey, rowIds: Uint32Array, context: QueryContext): PositionOrder {
  const { cell } = TYPES[key.attribute.type]
  if (cell === 'json')
    return jsonOrder(key, rowIds, pathReader(key.relations, key.attribute, rowIds.length, context), context)
  if (cell === 'text' || cell === 'integer') {
    const pointers = pointerReader(context.snapshot.table(key.attribute.dataClass), key.attribute)
    if (pointers) return pointerOrder(key, rowIds, pointers, context)
    const read = pathReader(key.relations, key.attribute, rowIds.length, context)
    const values = readAll(rowIds, new Array<Scalar | undefined>(rowIds.length), read, context)
    const { budget } = context
    return (a, b) => {
      if (typeof values[a] === 'string') budget.look(values[a].length)
      return compare(values[a], values[b])
    }
  }
  const numbers = numbersOf(key, rowIds, context)
  return (a, b) => (numbers[a]! < numbers[b]! ? -1 : numbers[a]! > numbers[b]! ? 1 : 0)
}

/** Order of texts by their pointers. The beginnings of the texts decide most comparisons. */
function pointerOrder(
  key: SortKey,
  rowIds: Uint32Array,
  { texts, read }: TextPointers,
  context: QueryContext,
): PositionOrder {
  const reader = pathReader(key.relations, key.attribute, rowIds.length, context, read)
  // 0, never a pointer, stands for null.
  const pointers = readAll(rowIds, new Uint32Array(rowIds.length), rowId => reader(rowId) ?? 0, context)
  const heads = new Float64Array(pointers.length)
  for (let i = 0; i < pointers.length; i++) heads[i] = pointers[i] === 0 ? -1 : texts.head(pointers[i]!)
  return (a, b) => {
    if (heads[a] !== heads[b]) return heads[a]! - heads[b]!
    if (heads[a] === -1 || pointers[a] === pointers[b]) return 0
    context.budget.look(texts.byteLength(pointers[a]!))
    return texts.compare(pointers[a]!, pointers[b]!)
  }
}

/** Numbers of a sort key. Values are finite, so -Infinity can stand for null. */
function numbersOf(key: SortKey, rowIds: Uint32Array, context: QueryContext): Float64Array {
  const table = context.snapshot.table(key.attribute.dataClass)
  if (key.similarity) return scoresOf(key, key.similarity, rowIds, context)
  if (key.attribute.kind === 'storage' && key.relations.length === 0 && readsSegments(table, rowIds.length)) {
    return readNumbers(table, key.attribute, rowIds, Number.NEGATIVE_INFINITY, context.budget)
  }
  const read = pathReader(key.relations, key.attribute, rowIds.length, context)
  const numbers = new Float64Array(rowIds.length)
  return readAll(rowIds, numbers, rowId => read(rowId) ?? Number.NEGATIVE_INFINITY, context)
}

/** Scores of a sort key. A vector without a score is lowest, like null. */
function scoresOf(
  { attribute, relations }: SortKey,
  similarity: Similarity,
  rowIds: Uint32Array,
  context: QueryContext,
): Float64Array {
  const vectors = attribute as StorageAttribute
  const score = scoreReader(context.snapshot.table(attribute.dataClass), vectors, similarity, rowIds.length)
  const read = pathReader(relations, vectors, rowIds.length, context, score)
  return readAll(rowIds, new Float64Array(rowIds.length), rowId => read(rowId) ?? Number.NEGATIVE_INFINITY, context)
}

function jsonOrder(
  { properties }: SortKey,
  rowIds: Uint32Array,
  read: (rowId: number) => Cell,
  context: QueryContext,
): PositionOrder {
  const ranks = new Uint8Array(rowIds.length)
  const values = new Array<Scalar | undefined>(rowIds.length)
  readAll(rowIds, values, read, context)
  for (let i = 0; i < rowIds.length; i++) {
    const value = properties.reduce<unknown>(propertyOf, values[i])
    const type = value === null || value === undefined ? 'null' : jsonTypeOf(value)
    ranks[i] = JSON_RANK[type]
    values[i] = type === 'null' || type === 'container' ? undefined : jsonScalar(value as string | number | boolean)
  }
  return (a, b) => ranks[a]! - ranks[b]! || compare(values[a], values[b])
}

const JSON_RANK = { null: 0, number: 1, text: 2, bool: 3, container: 4 }

function compare(a: Scalar | undefined, b: Scalar | undefined): number {
  if (a === b) return 0
  if (a === undefined) return -1
  if (b === undefined) return 1
  return a < b ? -1 : a > b ? 1 : 0
}

function readAll<Values extends { [position: number]: unknown }>(
  rowIds: Uint32Array,
  values: Values,
  read: (rowId: number) => Cell,
  { budget }: QueryContext,
): Values {
  for (let i = 0; i < rowIds.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, rowIds.length - i))
    values[i] = read(rowIds[i]!)
  }
  return values
}
