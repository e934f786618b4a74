import type { ValueTest } from '../bind/predicate.ts'

/**
 * Times of pieces of work, in microseconds: the numbers behind every estimate. Measured on the machine of the design
 * decisions with 200,000 rows. They decide about the order of conditions, between an index and a column, and where a query
 * runs, so that what counts is whether a sum of them is nearer to 0.02 or to 2 milliseconds.
 */
export const MICROSECONDS = {
  /** Taking a request apart, opening what it needs, the frame of its answer. */
  request: 10,
  /** A character of a filter or a sort order, in the grammar: parentheses inside each other take most. */
  character: 20,
  /** The same of `$params`, with what becomes of its values. */
  paramsCharacter: 0.3,
  /** An entity by its key. */
  key: 2,
  /** An entry of an ordered index, or of the rows that refer to one. */
  indexHit: 0.2,
  /** The same of an index in memory: 17 to 19 ns among 60,000 rows on 2026-11-23. */
  hitInMemory: 0.02,
  /**
   * Testing one value of a column in JavaScript, by the kind of the test; a kernel takes 0.7 ns with {@link cell}. Texts
   * are known by their places, except for their order.
   */
  test: {
    any: 0.0003,
    equal: 0.003,
    in: 0.009,
    range: 0.003,
    pattern: 0.012,
    keyword: 0.12,
    anyOf: 0.03,
  } satisfies Record<ValueTest['kind'], number>,
  /** The same of a range of texts, which have to be looked at. */
  textRange: 0.048,
  /** The same of null, for 32 rows at a time. */
  nullTest: 0.0003,
  /** The same of a JSON value. */
  jsonTest: 0.06,
  /** The step from a row to the one that it refers to, and whether that is among those that were found. */
  join: 0.006,
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
  /** The same when it is indented, or becomes a line. */
  rewrittenRow: 2,
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
 * An index hit costs about as much as this many values of a column: a key is read and decoded for each, while a column
 * is an array. So an index pays off only for few hits. Measured: 0.17 to 0.5 µs a hit, 3 to 10 ns a value.
 */
export const VALUES_PER_INDEX_HIT = 32
/** The same of an index in memory, of values that loops in JavaScript test. Measured: 17 to 19 ns a hit. */
export const VALUES_PER_HIT_IN_MEMORY = 16

/** Factor on the candidates of the first search, after which searches for all vectors above a threshold end. */
export const SEARCHES_ABOVE = 4
