import type { VectorMetric } from '../catalog/attribute.ts'
import type { LeastSums, SketchQuestion } from '../vector/math/sketch.ts'
import type { CodedQuestion } from '../vector/math/vector-codes.ts'

/**
 * Loops over the segments of columns in shared memory, for one thread. The operand of a filter is in scratch memory: the filter is valid
 * until the next one is created or references are collected.
 */
export interface SegmentKernels {
  readonly vectors: VectorKernels
  /** Numbers from `lower` to `upper`, or outside of that range. */
  inRange(lower: number, upper: number, inside: boolean): SegmentFilter
  /** Pointers in a list, or not in it. @returns undefined if the list is too long */
  isOneOf(pointers: readonly number[], inside: boolean): SegmentFilter | undefined
  /**
   * Texts that contain these parts (as bytes) in this order, the first at the start, the last at the end; or texts that do
   * not. @returns undefined if there is no room for the parts
   */
  hasPattern(parts: readonly Uint8Array[], inside: boolean): SegmentFilter | undefined
  /** Row ids in a bitmap. @returns undefined if there is no room for the bitmap */
  isIn(bitmap: Uint32Array): SegmentFilter | undefined
  /** @param words length of the bitmap @returns undefined if there is no room for it */
  collector(words: number): ReferenceCollector | undefined
  summarise(page: number, rows: Uint32Array): NumberSummary
}

/** Loops over the vectors of several segments at once. They share the scratch memory of the other kernels. */
export interface VectorKernels {
  /** Scores vectors. @returns undefined if there is no room for the vector that they are compared with */
  scorer(question: VectorQuestion): VectorScorer | undefined
  /**
   * Scores vectors by their codes.
   * @param above true to find scores from the limit up, false from the limit down
   * @returns undefined if there is no room for the vector that they are compared with
   */
  codeScorer(question: CodedQuestion, metric: VectorMetric, above: boolean): CodeScorer | undefined
  /** @returns undefined if there is no room for the question */
  sketchScanner(question: SketchQuestion): SketchScanner | undefined
}

/**
 * Tests rows of a segment.
 * @param page address of the segment
 * @param candidates bitmap of the rows to test: `SEGMENT_WORDS` words
 * @returns bitmap of the rows that pass, of the same length: a view of the scratch memory that is valid until the next call
 */
export type SegmentFilter = (page: number, candidates: Uint32Array) => Uint32Array

/** Summary of some numbers of a segment: see {@link Kernels.aggregateF64}. */
export interface NumberSummary {
  readonly count: number
  /** Their sum as two doubles. */
  readonly high: number
  readonly low: number
  readonly min: number
  readonly max: number
}

/** Parts of rows that are copied. */
export interface RowSlices {
  /** Slots from the first of each pair up to the second; see `ROW_HEAD` and `ROW_INSERT`. */
  readonly slots: Uint32Array
  /** The highest slot at which a slice ends. */
  readonly lastSlot: number
  /** Number of pairs that stand for an insert. */
  readonly inserts: number
}

/** Bytes that are inserted between slices of rows. */
export interface RowInserts {
  readonly bytes: Uint8Array
  /** Start and end in `bytes` of each insert, row by row. */
  readonly ranges: Uint32Array
}

/** Target to which bytes are appended. */
export interface ByteSink {
  /** Number of bytes so far, the first of which is aligned. */
  readonly length: number
  copy(bytes: Uint8Array, start: number, end: number): void
}

/** Collects the row ids to which rows refer. */
export interface ReferenceCollector {
  add(page: number, rows: Uint32Array): void
  bitmap(): Uint32Array
}

/** Operand of a comparison with vectors. */
export interface VectorQuestion {
  readonly vector: Float32Array
  readonly metric: VectorMetric
  readonly scale: number
  readonly tolerance: number
}

/**
 * @param pages addresses of at most {@link MAX_PAGES} segments @param rows at most {@link SEGMENT_ROWS} rows of all segments, or rows of
 * one segment
 * @returns two numbers for each of the rows that has a vector: a view that is valid until the next call
 */
export type VectorScorer = (pages: readonly number[], rows: Uint32Array) => Float32Array

/** Rows of a segment, ascending, with the minimum and maximum possible score of each. */
export interface Scored {
  readonly entries: Uint32Array
  readonly bounds: Float32Array | Float64Array
}

/**
 * Returns the rows whose score may reach the limit, as views that are valid until the next call.
 * @param pages addresses of at most {@link MAX_PAGES} segments @param rows at most {@link SEGMENT_ROWS} rows of all segments, or rows of
 * one segment
 * @returns rows of the second segment follow the rows of the first, numbered from {@link SEGMENT_ROWS} on
 */
export type CodeScorer = (pages: readonly number[], rows: Uint32Array, limit: number) => Scored
export const MAX_PAGES = 32
/** Maximum number of segments for which the sums of all rows fit. */
export const MAX_SUMMED_PAGES = 6

/** Compares sketches. Returns views that are valid until the next call. */
export interface SketchScanner {
  /** True if a segment has sketches. */
  has(page: number): boolean
  /** Rows whose sums are at least `least`. */
  near(page: number, rows: Uint32Array, least: LeastSums): Uint32Array
  /**
   * Row and sum, alternating, of each row whose whole sum is at least `least`.
   * @param pages addresses of at most {@link MAX_SUMMED_PAGES} segments @param rows rows of all these segments
   * @returns rows of the second segment follow the rows of the first, numbered from {@link SEGMENT_ROWS} on
   */
  sums(pages: readonly number[], rows: Uint32Array, least: number): Uint32Array
  /** Bounds of the lengths of the vectors of a segment. */
  lengths(page: number): { readonly shortest: number; readonly longest: number }
}
