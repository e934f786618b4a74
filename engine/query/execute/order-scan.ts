import type { RowSet } from '../../row-set/row-set.ts'
import type { RowOrder, Span } from '../../data/snapshot.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { orderOf } from './sort-keys.ts'
import { topPositions } from './top-n.ts'

/** A page of the rows in a part of the order of an index. */
interface OrderScan {
  /** Order by the values of the first key. */
  readonly order: RowOrder
  /** The part to read. */
  readonly span: Span
  /** Requested rows in the span; undefined for all of them. */
  readonly members: RowSet | undefined
  readonly keys: readonly SortKey[]
  readonly skip: number
  readonly count: number
  /** Number of rows after which the scan is abandoned. */
  readonly maxRows: number
}

/** Number of rows in the first chunk that is read from an order. */
const MIN_CHUNK = 256
const MAX_CHUNK = 8192

/**
 * Walks along an order until the page is full. Without members, the rows before the page are skipped by position. If there are
 * further keys, rows with equal values of the first key are sorted by them.
 * Cost: O(rows visited), and O(log n) for each value in descending order.
 * @returns undefined when more than `maxRows` rows would be visited
 */
export function orderScan(scan: OrderScan, context: QueryContext): Uint32Array | undefined {
  const { order, members, keys, count } = scan
  let { span, skip } = scan
  if (!members) ({ span, skip } = skipAhead(scan))
  const matches = collect({ ...scan, span, skip }, context)
  if (!matches || keys.length === 1) return matches?.subarray(skip, skip + count)
  const rowIds = withLastGroup(order, span, matches, members)
  const end = Math.min(skip + count, rowIds.length)
  return topPositions(rowIds.length, end, orderOf(keys, rowIds, context))
    .subarray(skip)
    .map(position => rowIds[position]!)
}

/** The same page in a shorter span, after skipping whole values, or single rows if there is one ascending key. */
function skipAhead({ order, span, keys, skip }: OrderScan): { span: Span; skip: number } {
  const { start, end } = span
  if (skip >= end - start) return { span: { start: end, end }, skip: 0 }
  if (skip === 0) return { span, skip }
  if (keys[0]!.descending) {
    const group = groupAt(order, end - 1 - skip)
    const restEnd = Math.min(end, group.end)
    return { span: { start, end: restEnd }, skip: skip - (end - restEnd) }
  }
  if (keys.length === 1) return { span: { start: start + skip, end }, skip: 0 }
  const restStart = Math.max(start, groupAt(order, start + skip).start)
  return { span: { start: restStart, end }, skip: skip - (restStart - start) }
}

/** The first rows up to the end of the page. */
function collect(scan: OrderScan, { budget }: QueryContext): Uint32Array | undefined {
  const { order, span, members, keys, skip, count, maxRows } = scan
  const matches = new Uint32Array(
    Math.min(skip + count, members?.size ?? Number.POSITIVE_INFINITY, span.end - span.start),
  )
  let length = 0
  let examinedCount = 0
  if (matches.length === 0) return matches
  const chunk = Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, matches.length))
  for (const rowIds of keys[0]!.descending ? descendingRows(order, span, chunk) : ascendingRows(order, span, chunk)) {
    budget.examine(rowIds.length)
    for (let i = 0; i < rowIds.length && length < matches.length; i++) {
      if (!members || members.has(rowIds[i]!)) matches[length++] = rowIds[i]!
    }
    if (length === matches.length) return matches
    examinedCount += rowIds.length
    if (examinedCount > maxRows) return undefined
  }
  return matches.subarray(0, length)
}

function* ascendingRows(order: RowOrder, { start, end }: Span, chunk: number): Generator<Uint32Array> {
  for (let at = start; at < end; at += chunk) yield order.rowIds({ start: at, end: Math.min(end, at + chunk) })
}

/** Rows from the last value to the first; rows with equal values are in ascending order. */
function* descendingRows(order: RowOrder, { start, end }: Span, chunk: number): Generator<Uint32Array> {
  for (let high = end; high > start; ) {
    const low = Math.max(start, high - chunk)
    const rowIds = order.rowIds({ start: low, end: high })
    const turnedRows = new Uint32Array(rowIds.length)
    let length = 0
    let groupEnd = rowIds.length
    for (let i = rowIds.length - 1; i > 0; i--) {
      if (order.isSame(rowIds[i - 1]!, rowIds[i]!)) continue
      turnedRows.set(rowIds.subarray(i, groupEnd), length)
      length += groupEnd - i
      groupEnd = i
    }
    yield turnedRows.subarray(0, length)
    // The rows with the value of the first row may begin before it.
    const first = low === start ? start : Math.max(start, order.same(rowIds[0]!).start)
    yield* ascendingRows(order, { start: first, end: low + groupEnd }, chunk)
    high = first
  }
}

/** Extends rows by all members that have the value of the last row. */
function withLastGroup(order: RowOrder, span: Span, rowIds: Uint32Array, members: RowSet | undefined): Uint32Array {
  if (rowIds.length === 0) return rowIds
  const last = rowIds[rowIds.length - 1]!
  const group = order.same(last)
  let length = rowIds.length
  while (length > 0 && order.isSame(rowIds[length - 1]!, last)) length--
  const rest = order.rowIds({ start: Math.max(span.start, group.start), end: Math.min(span.end, group.end) })
  const all = members ? rest.filter(rowId => members.has(rowId)) : rest
  const result = new Uint32Array(length + all.length)
  result.set(rowIds.subarray(0, length))
  result.set(all, length)
  return result
}

const groupAt = (order: RowOrder, position: number): Span =>
  order.same(order.rowIds({ start: position, end: position + 1 })[0]!)
