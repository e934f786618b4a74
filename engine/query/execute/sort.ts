import type { DataClass } from '../../catalog/dataclass.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { IndexRange, RowOrder, Span, TableSnapshot } from '../../data/snapshot.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { orderCost, sortCost } from '../estimate/sort-cost.ts'
import { exactLookup } from '../plan/lower.ts'
import type { IndexLookup } from '../operators/index-scan.ts'
import type { Operator } from '../operators/operator.ts'
import type { VectorFilter } from '../operators/vector-filter.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { nearestByIndex } from '../operators/index-search.ts'
import { nearestBySketches } from './near-sketches.ts'
import { nearestCandidates } from './nearest-candidates.ts'
import { boundsOfFew, orderByScore } from './order-by-score.ts'
import { orderScan } from './order-scan.ts'
import type { Rows } from '../contract/rows.ts'
import { orderOf } from './sort-keys.ts'
import { topCandidates } from './top-candidates.ts'
import { sortPositions, topPositions } from './top-n.ts'

interface SortedPage {
  readonly dataClass: DataClass
  readonly keys: readonly SortKey[]
  readonly skip: number
  readonly count: number
}

/** A page of the sorted rows: read along the order of an index if that costs less than sorting. */
export function sortedPage(page: SortedPage, rows: Rows, filter: Operator | undefined, context: QueryContext): Rows {
  return rows.reordered(alongOrder(page, rows, filter, context) ?? sortRows(page, rows, filter, context))
}

/**
 * A page of the sorted rows without finding all rows first, for all rows of the dataclass, or all rows in a range of the
 * attribute that they are sorted by. Positions in the index give their number.
 * @returns undefined for any other query
 */
export function indexedPage(
  { dataClass, keys, skip, count }: SortedPage,
  source: Rows,
  filter: Operator | undefined,
  context: QueryContext,
): Rows | undefined {
  const table = context.snapshot.table(dataClass)
  const order = keptOrder(keys[0]!, table)
  if (!order || source.selection !== table.live) return undefined
  const span = filter ? spanOf(filter, keys[0]!, order) : { start: 0, end: order.size }
  if (!span) return undefined
  const rowIds = orderScan(
    { order, span, members: undefined, keys, skip, count, maxRows: Number.POSITIVE_INFINITY },
    context,
  )!
  return source.ofPage(rowIds, span.end - span.start)
}

function alongOrder(
  { dataClass, keys, skip, count }: SortedPage,
  rows: Rows,
  filter: Operator | undefined,
  context: QueryContext,
): Uint32Array | undefined {
  // A list has its own order, which decides between equal rows; deleted rows are not in the index.
  if (!(rows.selection instanceof RowSet) || rows.set.size !== rows.selection.size) return undefined
  const order = keptOrder(keys[0]!, context.snapshot.table(dataClass))
  if (!order) return undefined
  const members = rows.set
  const inputs = filter?.kind === 'Intersect' ? filter.inputs : []
  const [part] = inputs.flatMap(input => spanOf(input, keys[0]!, order) ?? [])
  const span = part ?? { start: 0, end: order.size }
  const spanSize = span.end - span.start
  const isAll = members.size === order.size
  const limit = sortCost(keys, members.size, skip + count)
  if (!isAll && orderCost(keys, members.size, spanSize, skip + count) > limit) return undefined
  const maxRows = isAll ? Number.POSITIVE_INFINITY : limit / orderCost(keys, 1, 1, 1)
  return orderScan({ order, span, members: isAll ? undefined : members, keys, skip, count, maxRows }, context)
}

/** Order by a sort key, if an index in memory keeps it. */
export function keptOrder({ attribute, relations, properties }: SortKey, table: TableSnapshot): RowOrder | undefined {
  if (attribute.kind !== 'storage' || relations.length > 0 || properties.length > 0) return undefined
  return table.index(attribute)?.order
}

/** Span of the rows that pass, if they are contiguous because the order is by the filtered attribute. */
function spanOf(operator: Operator, { attribute }: SortKey, order: RowOrder): Span | undefined {
  if ((operator.kind !== 'IndexScan' && operator.kind !== 'ColumnFilter') || operator.attribute !== attribute) {
    return undefined
  }
  const lookup = operator.kind === 'IndexScan' ? operator.lookup : exactLookup(operator)
  const range = lookup && rangeOf(lookup)
  return range && order.find(range)
}

function rangeOf(lookup: IndexLookup): IndexRange | undefined {
  switch (lookup.kind) {
    case 'range':
      return lookup.bounds
    case 'prefix':
      return { prefix: lookup.prefix }
    case 'values':
      return lookup.values.length === 1 ? { equal: lookup.values[0]! } : undefined
  }
}

function sortRows(
  { keys, skip, count }: SortedPage,
  { selection }: Rows,
  filter: Operator | undefined,
  context: QueryContext,
): Uint32Array {
  const end = skip + count
  const condition = nearestCondition(keys[0]!, filter)
  const isIndexed = condition?.access === 'index' && selection instanceof RowSet
  const nearest = isIndexed ? nearestByIndex(condition, selection, end, context) : undefined
  const byScore = keys.length === 1 && keys[0]!.relations.length === 0 ? keys[0]!.similarity : undefined
  const inOrder = (rowIds: ArrayLike<number>, bounds: Float64Array): Uint32Array =>
    orderByScore(rowIds, bounds, keys[0]!, byScore!, context).subarray(skip, end)
  if (byScore && nearest?.bounds) return inOrder(nearest.rowIds, nearest.bounds)
  const rows = nearest ? RowSet.fromIds(nearest.rowIds) : selection
  const isSketched = condition?.access === 'sketch'
  const few = rows instanceof RowSet ? candidates(keys[0]!, rows, end, isSketched, context) : rows
  const rowIds = few instanceof RowSet ? few.toIds() : few
  const bounds = byScore && few instanceof RowSet ? boundsOfFew(few, keys[0]!, byScore, context) : undefined
  if (bounds) return inOrder(rowIds, bounds)
  const order = orderOf(keys, rowIds, context)
  const positions = end < rowIds.length ? topPositions(rowIds.length, end, order) : sortPositions(rowIds.length, order)
  return positions.subarray(skip, end).map(position => rowIds[position]!)
}

/** Similarity condition whose scores the key sorts by, if it is evaluated by an access that may miss rows. */
export function nearestCondition(
  { similarity, relations }: SortKey,
  filter: Operator | undefined,
): VectorFilter | undefined {
  if (!filter || !similarity || relations.length > 0) return undefined
  const conditions = filter.kind === 'Intersect' ? filter.inputs : [filter]
  return conditions.find(
    (each): each is VectorFilter =>
      each.kind === 'VectorFilter' && each.similarity === similarity && !each.test && each.access !== 'scan',
  )
}

/** Rows that include the first `count` of the order. */
function candidates(key: SortKey, rows: RowSet, count: number, isSketched: boolean, context: QueryContext): RowSet {
  const { similarity, relations } = key
  if (!similarity || relations.length > 0) return topCandidates(key, rows, count, context)
  const sketchedCandidates = isSketched ? nearestBySketches(key, similarity, rows, count, context) : undefined
  return sketchedCandidates ?? nearestCandidates(key, similarity, rows, count, context)
}
