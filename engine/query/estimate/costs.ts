import type { ValueTest } from '../bind/predicate.ts'

/**
 * Durations of pieces of work, in microseconds, on which all estimates are based. Measured on the machine of the design
 * decisions with 200,000 rows. They decide the order of conditions, the choice between an index and a column, and where a query
 * runs; so they only need to distinguish sums of about 0.02 from sums of about 2 milliseconds.
 */
export const MICROSECONDS = {
  /** Parsing a request, opening what it needs, the frame of its answer. */
  request: 10,
  /** Parsing a character of a filter or a sort order: nested parentheses take longest. */
  character: 20,
  /** Parsing a character of `$params`, and processing its values. */
  paramsCharacter: 0.3,
  /** Finding an entity by its key. */
  key: 2,
  /** An entry of an ordered index, or of the index of rows that refer to a row. */
  indexHit: 0.2,
  /** An entry of an index in memory: 17 to 19 ns among 60,000 rows on 2026-11-23. */
  hitInMemory: 0.02,
  /**
   * Testing one value of a column in JavaScript, by the kind of the test; a kernel takes 0.7 ns with {@link cell}. Texts are
   * compared by their pointers, except for ranges.
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
  /** Testing one text for a range, which has to read the text. */
  textRange: 0.048,
  /** Testing one value for null, 32 rows at a time. */
  nullTest: 0.0003,
  /** Testing one JSON value. */
  jsonTest: 0.06,
  /** Following a reference of a row and testing if its target is among the rows found. */
  join: 0.006,
  /** Comparing one number of a vector. */
  dimension: 0.00006,
  /** Comparing one dimension of a sketch; and scoring vectors, for each of the nearest rows that are wanted. */
  sketchedDimension: 0.000014,
  sketchedNearest: 3,
  /** Comparing a vector that an index has found. */
  indexedVector: 0.3,
  /** Reading a value of a column. */
  cell: 0.002,
  /** Reading a value from its row and not through its column. */
  rowValue: 1,
  /** Decoding a row into columns that are not in memory. */
  decode: 1,
  /** One step of a set operation: 32 rows. */
  word: 0.001,
  /** Copying a row to an answer as stored. */
  row: 0.7,
  /** Copying a row in memory to an answer. */
  rowInMemory: 0.3,
  /** Writing a row that is indented or becomes a line. */
  rewrittenRow: 2,
  /** A related row in an answer, in addition to writing it: finding it, keeping it, and repeating it for each reference. */
  relatedRow: 0.3,
  /** A step along the order of an index. In descending order, values are compared to find where each value ends. */
  orderStep: { ascending: 0.006, descending: 0.06 },
  /** A row that a top-n examines, by the kind of the compared values. */
  topRow: { number: 0.015, text: 0.035 },
  /** A comparison of a sort, of which there are log2(n) a row. */
  sortStep: 0.03,
  /** A value computed by plugin code. */
  code: 10,
  /** Aggregating a value, by its kind. */
  aggregate: { number: 0.002, other: 0.05 },
  /** Looking up a value among the distinct values so far. */
  distinct: 0.1,
} as const

/**
 * Number of values of a column that cost as much as one index hit: each hit reads and decodes a key, while a column is an array.
 * So an index pays off only for few hits. Measured: 0.17 to 0.5 µs a hit, 3 to 10 ns a value.
 */
export const VALUES_PER_INDEX_HIT = 32
/** Same number for an index in memory and values tested by loops in JavaScript. Measured: 17 to 19 ns a hit. */
export const VALUES_PER_HIT_IN_MEMORY = 16

/** Searches for all vectors above a threshold end after this multiple of the candidates of the first search. */
export const SEARCHES_ABOVE = 4
