import { bytes, integer, number } from '../option.ts'

/** Options for queries, their limits and their threads. */
export const queryOptions = {
  'query.timeoutMs': integer({ default: 30_000, min: 1, doc: 'Maximum time that a query runs.' }),
  'query.exportTimeoutMs': integer({
    default: 600_000,
    min: 1,
    doc: 'Maximum time that an export (`$format=csv`, `$format=ndjson`) takes.',
  }),
  'query.maxRowsExamined': integer({
    default: 50_000_000,
    min: 1,
    doc: 'Maximum number of rows that a query examines.',
  }),
  'query.maxExpandDepth': integer({
    default: 8,
    min: 1,
    doc: 'Maximum number of relations that one path of `$expand` or `$attributes` follows.',
  }),
  'query.maxAnswerBytes': bytes({
    default: '256 MiB',
    min: 1024,
    doc: 'Maximum size of an answer; for exports, see `storage.exportBytes`.',
  }),
  'query.maxTextLength': integer({
    default: 65_536,
    min: 100,
    max: 1_000_000,
    doc: 'Maximum length of a filter, a sort order or an attribute list, in UTF-16 code units.',
  }),
  'query.maxConditions': integer({ default: 2_000, min: 1, doc: 'Maximum number of conditions in a filter.' }),
  'query.maxNesting': integer({
    default: 200,
    min: 1,
    max: 250,
    doc: 'Maximum nesting of parentheses and `not` in a filter.',
  }),
  'query.maxPathSteps': integer({ default: 100, min: 1, max: 1000, doc: 'Maximum number of steps in a path.' }),
  'query.maxOrderTerms': integer({ default: 100, min: 1, doc: 'Maximum number of attributes in a sort order.' }),
  'query.maxListItems': integer({
    default: 1_000,
    min: 1,
    doc: 'Maximum number of elements in an attribute list, `$attributes` or `$expand`.',
  }),
  'query.maxParams': integer({
    default: 100_000,
    min: 1,
    doc: 'Maximum number of values in `$params`, nested values included.',
  }),
  'query.maxParamsDepth': integer({
    default: 64,
    min: 2,
    max: 500,
    doc: 'Maximum nesting of arrays and objects in `$params`.',
  }),
  'query.maxPatternLength': integer({
    default: 1_000,
    min: 1,
    doc: 'Maximum length of the text between two wildcards of a value, in UTF-16 code units.',
  }),
  'query.maxPatternParts': integer({
    default: 1_000,
    min: 2,
    doc: 'Maximum number of parts between wildcards, and of words after `%`, in all values of a condition together.',
  }),

  'pool.threads': integer({
    default: 0,
    min: 0,
    doc: 'Number of threads for queries that are too expensive for the main thread; 0: one less than the number of processor cores, at least two.',
  }),
  'pool.queueLimit': integer({
    default: 256,
    min: 0,
    doc: 'Maximum number of queries that wait for a thread of the pool; beyond it the server answers 503.',
  }),
  'pool.inlineCostMs': number({
    default: 0.2,
    min: 0,
    doc: 'Expected cost in milliseconds up to which a query runs on the main thread. 0: no query runs there, and the threads of the pool also read the bodies of all saves.',
  }),
  'pool.heapBytes': bytes({
    default: '1 GiB',
    min: 2 ** 25,
    doc: 'Heap of each thread of the pool; a thread that needs more is ended and replaced.',
  }),
  'pool.overrunMs': integer({
    default: 5_000,
    min: 100,
    doc: 'Time that a query has to stop after `query.timeoutMs`, or after its client disconnects. After that, its thread is ended and replaced.',
  }),

  'vector.indexMinRows': integer({
    default: 20_000,
    min: 0,
    doc: 'Minimum number of entities for which a vector index is built; with fewer, a scan is just as fast.',
  }),
  'vector.recall': number({
    default: 0.995,
    min: 0,
    doc: 'Minimum recall of the 100 nearest vectors that a vector index must reach in a trial to be used; with a value above 1, no index is used.',
  }),
} as const
