import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { ByteSink, RowInserts, RowSlices, SegmentKernels } from './kernels.ts'
import type { VectorIndexes } from './vector-index.ts'
import type { RowView } from '../row-format/row-view.ts'

/**
 * The state of the store after one commit: everything read through it belongs to that state. Pinned when a query starts,
 * released in `finally`, never held across an `await`.
 */
export interface Snapshot {
  /** `__GlobalStamp` of the store: increases by one with every change of an entity. */
  readonly globalStamp: number
  /** Indexes of vectors, in threads that know them. They may miss rows, and their hits are only candidates. */
  vectorIndexes?: VectorIndexes | undefined
  table(dataClass: DataClass): TableSnapshot
  release(): void
}

/** One dataclass in a snapshot. Row ids are 32-bit, grow monotonically and are never used again. */
export interface TableSnapshot {
  readonly dataClass: DataClass
  /** Rows that exist and may be seen. */
  readonly live: RowSet
  /**
   * True if rows can only be read one by one or by {@link fetch}, because they are not in the store: there are no {@link live} rows,
   * columns or indexes, and a row that has been read may not exist.
   */
  readonly rowsOnly?: boolean
  /** True if hidden rows may exist besides {@link live}. */
  readonly isRestricted?: boolean
  /** Exclusive upper bound of the row ids. */
  readonly rowIdLimit: number
  /** The row, or undefined when it does not exist. Its bytes are valid until the next read. */
  row(rowId: number): RowView | undefined
  /** Fetches rows that will be read, in one round trip. Only set if each read would be a round trip to a database. @throws {Suspended} */
  fetch?(rowIds: Iterable<number>): void
  /** Fetches rows that {@link referencing} will be asked for. Otherwise like {@link fetch}. */
  fetchReferencing?(relation: RelatedEntityAttribute, targetRowIds: Iterable<number>): void
  /**
   * Fetches the row to which a relation of this dataclass points, together with the targets of other rows that have been read. Otherwise
   * like {@link fetch}.
   */
  fetchReference?(relation: RelatedEntityAttribute, targetRowId: number): void
  /** Row id of a key, which may not exist. Only set if checking its existence would be a round trip to a database. */
  rowIdOf?(key: Value): number
  /** Loads rows that will be read next, at most {@link PREFETCHED}: faster than one cache miss after the other. */
  prefetch?(rowIds: Uint32Array): void
  /**
   * Copies rows as entities, separated by commas: `{`, slices of the row's text, `}`.
   * @param slices ascending pairs of slots, from the first up to but not including the second; {@link ROW_HEAD} is the start
   * of the row. A pair of {@link ROW_INSERT} and a number stands for an insert
   * @returns number of rows copied; fewer than given if the next row has to be read separately
   */
  copyEntities?(rowIds: Uint32Array, slices: RowSlices, inserts: RowInserts, sink: ByteSink): number
  /**
   * Row ids of the entities to which the nth N→1 relation of rows points; {@link NO_ROW} if there is none, and for rows that do not exist.
   * @returns undefined when each row has to be read separately
   */
  references?(rowIds: Uint32Array, reference: number): Uint32Array | undefined
  /** Values of one attribute by column: a storage attribute of any type, or a N→1 relation (row ids of the related entities). */
  column(attribute: ColumnAttribute): Column
  /**
   * Number of rows to decode before the whole column can be read: 0 when it is in memory. For the planner; not exact above
   * `limit`. Cost: O(min(segments, limit)).
   */
  rowsToDecode(attribute: ColumnAttribute, limit: number): number
  /** The index of an attribute, or undefined when it has none. */
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

/** Stands for an insert in place of a slot of the row. */
export const ROW_INSERT = 0xfffffffe

/** Rows per segment: row `id` is entry `id % SEGMENT_ROWS` of segment `floor(id / SEGMENT_ROWS)`. */
export const SEGMENT_ROWS = 4096
export const SEGMENT_BITS = Math.log2(SEGMENT_ROWS)
export const SEGMENT_WORDS = SEGMENT_ROWS / 32

/** Attribute that can have a column: any part of a row that has its own value. */
export type ColumnAttribute = StorageAttribute | RelatedEntityAttribute

/**
 * Immutable segments of one attribute's values. A segment that is not in memory is decoded from the rows, some 2 µs a row,
 * together with the same segment of the other columns opened in this snapshot. So open all columns that a query needs, then
 * read segment by segment. For a few scattered rows {@link TableSnapshot.row} costs less.
 */
export interface Column {
  readonly attribute: ColumnAttribute
  segment(index: number): Segment
}

/**
 * `presence` is a bitmap of the rows in the segment that exist and are not null; entries of other rows are undefined.
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
      readonly presence: Uint32Array
      readonly values: Float64Array
      readonly page?: SharedPage | undefined
    }
  | { readonly kind: 'bigint'; readonly presence: Uint32Array; readonly values: BigInt64Array }
  | { readonly kind: 'text'; readonly presence: Uint32Array; readonly values: readonly (string | undefined)[] }
  | {
      readonly kind: 'pointers'
      readonly presence: Uint32Array
      readonly values: Uint32Array
      readonly texts: TextPool
      readonly page?: SharedPage | undefined
    }
  /** Values of objects; {@link UNPARSED} for objects that are only in their rows. */
  | { readonly kind: 'json'; readonly presence: Uint32Array; readonly values: readonly unknown[] }
  | VectorSegment
  | { readonly kind: 'presence'; readonly presence: Uint32Array }

/** Placeholder in a segment for an object that is too large to keep, or to parse for a query that may not need it. */
export const UNPARSED: object = Object.freeze({})

/**
 * Vectors at arbitrary positions in a memory: `floats` is the whole memory, and the vector of row `entry` begins at index
 * {@link vectorStart}`(starts[entry])`.
 */
export interface VectorSegment {
  readonly kind: 'vector'
  readonly presence: Uint32Array
  readonly floats: Float32Array
  /** In bytes. */
  readonly starts: Uint32Array
  readonly page?: SharedPage | undefined
}

/** Header in front of the numbers of a vector: two words of its owner, one unused word, f32 length of the vector. */
export const VECTOR_HEADER_BYTES = 16
export const vectorStart = (start: number): number => (start + VECTOR_HEADER_BYTES) >>> 2

/**
 * A segment in shared memory, for the kernels of this thread. It may also hold values of rows that do not exist, or not yet:
 * read existing rows only.
 */
interface SharedPage {
  readonly address: number
  readonly kernels: SegmentKernels
}

/**
 * Folded texts, each stored once: two pointers are equal if and only if the texts are. Valid while the snapshot is open.
 */
export interface TextPool {
  /** Pointer of a folded text; 0 when no row has it. */
  find(foldedText: string): number
  /** Cost: some 50 ns. Compare pointers where that is enough. */
  text(pointer: number): string
  /** Length of a text as stored. */
  byteLength(pointer: number): number
  /** A non-negative number that sorts like the beginning of the text; for equal numbers use {@link compare}. */
  head(pointer: number): number
  /** Order of the texts: less than 0, 0 or greater than 0. */
  compare(a: number, b: number): number
  /** Compares the text of a pointer with `foldedText`, like {@link compare}. */
  comparerTo(foldedText: string): (pointer: number) => number
  /** The bytes in which a folded text is stored. */
  encode(foldedText: string): Uint8Array
  /**
   * Returns a test: true if the text of a pointer contains these folded parts in this order, the first at its start, the last
   * at its end. Not for parts with the characters U+0000 to U+0002.
   */
  patternTest(parts: readonly string[]): (pointer: number) => boolean
}

/**
 * Ordered index of a scalar storage attribute. Text is ordered by its fold. Null is indexed too. Numbers compare exactly,
 * whatever the attribute's type: a bound may be 1.5 on a long64, or beyond 2^53 on a number.
 */
export interface SecondaryIndex {
  /** Rows whose value equals `value` (text by fold; null finds nulls). Cost: O(log n + hits). */
  equal(value: Value): RowSet
  /** Rows with a value between the bounds; never null. A missing bound is open. Cost: O(log n + hits). */
  range(bounds: Bounds): RowSet
  /** Rows whose folded text starts with `prefix` (folded). */
  prefix(prefix: string): RowSet
  /** Number of hits of the calls above, exact or estimated, at most `limit`; for the planner. Cost: O(log n + min(hits, limit)). */
  estimate(what: IndexRange, limit: number): number
  /** Access to the index by position. Undefined when it is not in memory. */
  readonly order?: RowOrder
}

/** Contiguous range of an index: rows with one value, between bounds, or with a common prefix. */
export type IndexRange = { equal: Value } | Bounds | { prefix: string }

/** All rows of a dataclass in the order of an attribute's values, null first; rows with equal values by ascending row id. */
export interface RowOrder {
  /** Number of rows. */
  readonly size: number
  /** Span of the rows of a range. Cost: O(log n). */
  find(range: IndexRange): Span
  /** Span of the rows that have the same value as this row. Cost: O(log n). */
  same(rowId: number): Span
  /** True if two rows have the same value. */
  isSame(a: number, b: number): boolean
  /** The rows at positions `start` … `end - 1`. Cost: O(log n + rows). */
  rowIds(span: Span): Uint32Array
}

/** Positions from `start` up to, but not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Bounds {
  lower?: { value: Value; inclusive: boolean }
  upper?: { value: Value; inclusive: boolean }
}
