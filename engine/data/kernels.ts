import type { VectorMetric } from '../catalog/attribute.ts'
import type { LeastSums, SketchQuestion } from '../vector/math/sketch.ts'
import type { CodedQuestion } from '../vector/math/vector-codes.ts'

/**
 * Loops over the segments of columns in shared memory, for one thread. What a filter compares with is in scratch memory: it
 * is valid until the next one is made, and until references are collected.
 */
export interface SegmentKernels {
  readonly vectors: VectorKernels
  /** Numbers from `lower` to `upper`, or those outside. */
  inRange(lower: number, upper: number, inside: boolean): SegmentFilter
  /** Pointers that are in a list, or those that are not. @returns undefined for a list that is too long */
  isOneOf(pointers: readonly number[], inside: boolean): SegmentFilter | undefined
  /**
   * Texts that have some parts, each as its bytes, in this order: the first at the start, the last at the end; or those
   * that have not. @returns undefined when there is no room for the parts
   */
  hasPattern(parts: readonly Uint8Array[], inside: boolean): SegmentFilter | undefined
  /** Row ids that are in a bitmap. @returns undefined when there is no room for the bitmap */
  isIn(bitmap: Uint32Array): SegmentFilter | undefined
  /** @param words length of the bitmap @returns undefined when there is no room for it */
  collector(words: number): ReferenceCollector | undefined
  summarise(page: number, rows: Uint32Array): NumberSummary
}

/** Loops over the vectors of many segments at a time. They share the scratch memory of all others. */
export interface VectorKernels {
  /** Scores vectors. @returns undefined when there is no room for the vector that they are compared with */
  scorer(question: VectorQuestion): VectorScorer | undefined
  /**
   * Scores vectors by their codes.
   * @param above whether scores up from the limit are wanted, or down from it
   * @returns undefined when there is no room for the vector that they are compared with
   */
  codeScorer(question: CodedQuestion, metric: VectorMetric, above: boolean): CodeScorer | undefined
  /** @returns undefined when there is no room for the question */
  sketchScanner(question: SketchQuestion): SketchScanner | undefined
}

/**
 * Rows of a segment that pass.
 * @param page address of the segment
 * @param candidates the rows to look at: `SEGMENT_WORDS` words
 * @returns as many, a view of the scratch memory that is valid until the next call
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

/** Which parts of rows are copied. */
export interface RowSlices {
  /** Slots from the first of each pair up to the second; see `ROW_HEAD` and `ROW_INSERT`. */
  readonly slots: Uint32Array
  /** The greatest slot that is the end of a slice. */
  readonly lastSlot: number
  /** Pairs that stand for an insert. */
  readonly inserts: number
}

/** Bytes that are inserted between slices of rows. */
export interface RowInserts {
  readonly bytes: Uint8Array
  /** Ranges of the inserts of each row in the bytes, one after the other: start and end. */
  readonly ranges: Uint32Array
}

/** Place in which bytes are written, one behind the other. */
export interface ByteSink {
  /** Bytes so far, the first of which is aligned. */
  readonly length: number
  copy(bytes: Uint8Array, start: number, end: number): void
}

/** Collects the row ids that are values of rows. */
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
 * @param pages of {@link MAX_PAGES} segments at most @param rows of all of them, {@link SEGMENT_ROWS} at most, or of one
 * @returns of each of the rows that has a vector two numbers: a view that is valid until the next call
 */
export type VectorScorer = (pages: readonly number[], rows: Uint32Array) => Float32Array

/** Rows of a segment, ascending, and of each the least and the greatest that its score can be. */
export interface Scored {
  readonly entries: Uint32Array
  readonly bounds: Float32Array | Float64Array
}

/**
 * Rows whose score may be as good as the limit, as views that are valid until the next call.
 * @param pages of {@link MAX_PAGES} segments at most @param rows of all of them, {@link SEGMENT_ROWS} at most, or of one
 * @returns rows of the second segment follow those of the first, from {@link SEGMENT_ROWS} on
 */
export type CodeScorer = (pages: readonly number[], rows: Uint32Array, limit: number) => Scored
export const MAX_PAGES = 32
/** As many as there is room for the sums of all of their rows. */
export const MAX_SUMMED_PAGES = 6

/** Compares sketches. What it returns are views that are valid until the next call. */
export interface SketchScanner {
  /** Whether a segment has sketches. */
  has(page: number): boolean
  /** Rows whose sums are at least so much. */
  near(page: number, rows: Uint32Array, least: LeastSums): Uint32Array
  /**
   * The row and the sum of each row whose whole sum is at least so much, one after the other.
   * @param pages of {@link MAX_SUMMED_PAGES} segments at most @param rows of all of them
   * @returns rows of the second segment follow those of the first, from {@link SEGMENT_ROWS} on
   */
  sums(pages: readonly number[], rows: Uint32Array, least: number): Uint32Array
  /** How long the shortest and the longest vector of a segment may be. */
  lengths(page: number): { readonly shortest: number; readonly longest: number }
}
