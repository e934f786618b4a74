import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import { readsSegments } from '../execute/cell-reader.ts'
import type { ColumnAttribute, TableSnapshot } from '../../storage/snapshot.ts'

/**
 * What pieces of work take, in microseconds, measured on the machine of the design decisions with 200,000 rows. They
 * decide where a query runs, so that what counts is whether a sum of them is nearer to 0.02 or to 2 milliseconds.
 */
export const MICROSECONDS = {
  /** Taking a request apart, opening what it needs, the frame of its answer. */
  request: 10,
  /** An entity by its key. */
  key: 2,
  /** An entry of an ordered index, or of the rows that refer to one. */
  indexHit: 0.2,
  /** The same of an index in memory. */
  hitInMemory: 0.02,
  /** Comparing one value of a column with a number; other tests are multiples of it. */
  value: 0.003,
  /** Comparing one number of a vector. */
  dimension: 0.00006,
  /** The same of a sketch, and for each of the nearest that are wanted those that are scored for it. */
  sketchedDimension: 0.000014,
  sketchedNearest: 3,
  /** The same of one that an index has found. */
  indexedVector: 0.3,
  /** Getting at a value of a column. */
  cell: 0.002,
  /** A value of a row that is not read through its column. */
  rowValue: 1,
  /** Decoding a row into columns that are not in memory. */
  decode: 1,
  /** One step of a set operation: 32 rows. */
  word: 0.001,
  /** A row of an answer, copied as it is stored. */
  row: 0.7,
  /** The same of a row in memory. */
  rowInMemory: 0.3,
  /** The same when it is indented. */
  prettyRow: 2,
  /** A related row in an answer, on top of writing it: found, kept, and repeated where it is referred to. */
  relatedRow: 0.3,
  /** A row on the way along an order that is kept. Descending, values are compared to find where each ends. */
  orderStep: { ascending: 0.006, descending: 0.06 },
  /** A row that a top-n looks at, by what is compared. */
  topRow: { number: 0.015, text: 0.035 },
  /** A comparison of a sort: there are log2(n) a row. */
  sortStep: 0.03,
  /** A value that code computes. */
  code: 10,
  /** A value that is summed up, by what it is. */
  aggregate: { number: 0.002, other: 0.05 },
  /** A value that is looked up among those that were there before. */
  distinct: 0.1,
} as const

/**
 * Further than this nobody counts: the query goes to the pool anyway. Rows to decode are looked up segment by segment.
 */
const DECODE_LIMIT = 10_000

/** Of reading an attribute of this many rows, as `cellReader` does it: from its column, or from the rows themselves. */
export function costOfReading(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
  rows: number,
): number {
  if (rows === 0) return 0
  if (attribute.kind === 'calculated') return rows * MICROSECONDS.code
  const decoded = table.rowsToDecode(attribute, DECODE_LIMIT)
  if (decoded > 0 && !readsSegments(table, rows)) return rows * MICROSECONDS.rowValue
  return decoded * MICROSECONDS.decode + rows * MICROSECONDS.cell
}
