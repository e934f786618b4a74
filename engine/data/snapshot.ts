import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { ByteSink, RowInserts, RowSlices, SegmentKernels } from './kernels.ts'
import type { VectorIndexes } from './vector-index.ts'
import type { RowView } from '../row-format/row-view.ts'

/**
 * The state of the store after one commit: all of it or none of it. Pinned when a query starts, released in `finally`,
 * never held across an `await`. Everything read through it is of that one state.
 */
export interface Snapshot {
  /** `__GlobalStamp` of the store: grows by one with every change of an entity. */
  readonly globalStamp: number
  /** Indexes of vectors, where the thread knows of them. They may miss rows: what they find is looked at. */
  vectorIndexes?: VectorIndexes | undefined
  table(dataClass: DataClass): TableSnapshot
  release(): void
}

/** One dataclass in a snapshot. Row ids are 32-bit, grow monotonically and are never used again. */
export interface TableSnapshot {
  readonly dataClass: DataClass
  /** Rows that exist and may be seen. */
  readonly live: RowSet
  /** Rows beyond {@link live} may exist that may not be seen. */
  readonly isRestricted?: boolean
  /** Every row id is below it. */
  readonly rowIdLimit: number
  /** The row, or undefined when it does not exist. Its bytes are valid until the next read. */
  row(rowId: number): RowView | undefined
  /** Rows that are going to be read next, {@link PREFETCHED} at most: faster than one by one from memory far away. */
  prefetch?(rowIds: Uint32Array): void
  /**
   * Copies what is sent of rows, as entities with commas between: `{`, slices of the row's text, `}`.
   * @param slices slots from the first of each pair up to the second, which is not among them; {@link ROW_HEAD} is the
   * start of the row. Ascending. {@link ROW_INSERT} and a number is what is inserted there
   * @returns number of rows copied: fewer where one has to be read by itself
   */
  copyEntities?(rowIds: Uint32Array, slices: RowSlices, inserts: RowInserts, sink: ByteSink): number
  /**
   * Row ids of the entities that the nth N→1 relation of rows leads to; {@link NO_ROW} for none, and for rows that do not
   * exist. @returns undefined when each row has to be read by itself
   */
  references?(rowIds: Uint32Array, reference: number): Uint32Array | undefined
  /** Values of one attribute, column-wise. A storage attribute of any type, or a N→1 relation (row ids of the related). */
  column(attribute: ColumnAttribute): Column
  /**
   * Rows that reading the whole column would have to decode first: 0 when it is in memory. For the planner, which needs no
   * more than that they are more than `limit`. Cost: O(min(segments, limit)).
   */
  rowsToDecode(attribute: ColumnAttribute, limit: number): number
  /** Undefined when the attribute has none. */
  index(attribute: StorageAttribute): SecondaryIndex | undefined
  /** Rows of this dataclass whose N→1 relation `relation` points to row `targetRowId` of its target, ascending. */
  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array
  /** Row whose primary key is `key` (compared by fold), or undefined. */
  findKey(key: Value): number | undefined
  binary(rowId: number, attribute: StorageAttribute): BinaryValue | undefined
}

export const PREFETCHED = 256

/** Stands for the slot before slot 0: `__KEY`, `__TIMESTAMP` and `__STAMP`. */
export const ROW_HEAD = 0xffffffff

/** Stands for something that is not a slot of the row. */
export const ROW_INSERT = 0xfffffffe

/** Rows per segment: row `id` is entry `id % SEGMENT_ROWS` of segment `floor(id / SEGMENT_ROWS)`. */
export const SEGMENT_ROWS = 4096
export const SEGMENT_BITS = Math.log2(SEGMENT_ROWS)
export const SEGMENT_WORDS = SEGMENT_ROWS / 32

/** Attribute that a column can hold: every part of a row with a value of its own. */
export type ColumnAttribute = StorageAttribute | RelatedEntityAttribute

/**
 * Immutable segments of one attribute's values. A segment that is not in memory is decoded from the rows, some 2 µs a row,
 * together with the same segment of the other columns opened in this snapshot: open all that a query needs, then read
 * segment by segment. For a few scattered rows {@link TableSnapshot.row} costs less.
 */
export interface Column {
  readonly attribute: ColumnAttribute
  segment(index: number): Segment
}

/**
 * `present` is a bitmap of the rows in the segment that exist and are not null; entries of other rows mean nothing.
 *
 * | attribute | segment |
 * |---|---|
 * | byte, word, long, number, float, long64 while all are safe integers | `number` |
 * | bool | `number`, 0 or 1 |
 * | date, duration | `number`, milliseconds |
 * | N→1 relation | `number`, row id of the related entity |
 * | long64 once a value was beyond ±(2^53 - 1) | `bigint` |
 * | string, uuid | `text`, folded; `pointers` when it comes from shared memory |
 * | object | `json`, parsed |
 * | vector | `vector` |
 * | image, blob | `presence` |
 */
export type Segment =
  | {
      readonly kind: 'number'
      readonly present: Uint32Array
      readonly values: Float64Array
      readonly page?: SharedPage | undefined
    }
  | { readonly kind: 'bigint'; readonly present: Uint32Array; readonly values: BigInt64Array }
  | { readonly kind: 'text'; readonly present: Uint32Array; readonly values: readonly (string | undefined)[] }
  | {
      readonly kind: 'pointers'
      readonly present: Uint32Array
      readonly values: Uint32Array
      readonly texts: TextPool
      readonly page?: SharedPage | undefined
    }
  /** Values of objects; {@link UNPARSED} for those that are only in their rows. */
  | { readonly kind: 'json'; readonly present: Uint32Array; readonly values: readonly unknown[] }
  | VectorSegment
  | { readonly kind: 'presence'; readonly present: Uint32Array }

/** Stands in a segment for an object that is too large to be kept, or to be parsed for a query that may not look at it. */
export const UNPARSED: object = Object.freeze({})

/**
 * Vectors wherever they lie in a memory: `floats` is all of it, and row `entry` has its vector at index
 * {@link vectorStart}`(starts[entry])`.
 */
export interface VectorSegment {
  readonly kind: 'vector'
  readonly present: Uint32Array
  readonly floats: Float32Array
  /** In bytes. */
  readonly starts: Uint32Array
  readonly page?: SharedPage | undefined
}

/** In front of the numbers of a vector: two words that are its owner's, one that is free, f32 length of the vector. */
export const VECTOR_HEADER_BYTES = 16
export const vectorStart = (start: number): number => (start + VECTOR_HEADER_BYTES) >>> 2

/**
 * A segment in shared memory, for the kernels of this thread. Rows that do not exist, or not yet, may have values there:
 * look at rows that do.
 */
interface SharedPage {
  readonly address: number
  readonly kernels: SegmentKernels
}

/**
 * Folded texts that are kept once each, wherever they occur: two pointers are equal when the texts are. Valid while the
 * snapshot is open.
 */
export interface TextPool {
  /** Pointer of a folded text; 0 when no row has it. */
  find(folded: string): number
  /** Cost: some 50 ns. Compare pointers where that does. */
  text(pointer: number): string
  /** Length of what a text is kept as. */
  byteLength(pointer: number): number
  /** A number that orders as the beginning of the text does; where two are equal, {@link compare} tells. Not negative. */
  head(pointer: number): number
  /** Order of the texts: less than 0, 0 or greater than 0. */
  compare(a: number, b: number): number
  /** Compares the text of a pointer with `folded`, like {@link compare}. */
  comparerTo(folded: string): (pointer: number) => number
  /** The bytes that a text (folded) is kept as. */
  encode(folded: string): Uint8Array
  /**
   * Whether the text of a pointer has these parts (folded) in this order: the first at its start, the last at its end. Not for parts
   * with the characters U+0000 to U+0002.
   */
  patternTest(parts: readonly string[]): (pointer: number) => boolean
}

/**
 * Ordered index of a scalar storage attribute. Text is ordered by its fold. Null is indexed too. Numbers compare exactly,
 * whatever the attribute's type: a bound of 1.5 on a long64 and one beyond 2^53 on a number are fine.
 */
export interface SecondaryIndex {
  /** Rows whose value equals `value` (text by fold; null finds nulls). Cost: O(log n + hits). */
  equal(value: Value): RowSet
  /** Rows with a value between the bounds; never null. A missing bound is open. Cost: O(log n + hits). */
  range(bounds: Bounds): RowSet
  /** Rows whose folded text starts with `prefix` (folded). */
  prefix(prefix: string): RowSet
  /** Number of hits of the same calls, exact or estimated, at most `limit`; for the planner. Cost: O(log n + min(hits, limit)). */
  estimate(what: IndexRange, limit: number): number
  /** The index by positions. Undefined when it is not in memory. */
  readonly order?: RowOrder
}

/** Rows that are next to each other in an index: of one value, between bounds, or texts that begin alike. */
export type IndexRange = { equal: Value } | Bounds | { prefix: string }

/** All rows of a dataclass in the order of an attribute's values, null first, those of one value in ascending order. */
export interface RowOrder {
  /** Number of rows. */
  readonly size: number
  /** Span of the rows of a range. Cost: O(log n). */
  find(range: IndexRange): Span
  /** Span of the rows that have the value of this one. Cost: O(log n). */
  same(rowId: number): Span
  /** Whether two rows have one value. */
  isSame(a: number, b: number): boolean
  /** The rows at positions `start` … `end - 1`. Cost: O(log n + rows). */
  rowIds(span: Span): Uint32Array
}

/** Positions from `start` up to `end`, which is not among them. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Bounds {
  lower?: { value: Value; inclusive: boolean }
  upper?: { value: Value; inclusive: boolean }
}
