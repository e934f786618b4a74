import { defineErrors } from '../../base/errors.ts'
import { excerpt } from '../../base/text/excerpt.ts'

/** Errors of texts that cannot be parsed. Source: protocol notes, 5.9; statuses by the design decisions. */
export const ParseErrors = defineErrors('PARSE', {
  /** A comparator or a conjunction is missing or misspelled. */
  COMPARATOR_EXPECTED: {
    errCode: 1112,
    http: 400,
    message: (place: string, expected: string) => `cannot read the query ${place}: expected ${expected}`,
  },
  SYNTAX: {
    errCode: 1201,
    http: 400,
    message: (place: string, expected: string) => `cannot read the query ${place}: expected ${expected}`,
  },
  REGULAR_EXPRESSION: {
    errCode: 1112,
    http: 400,
    message: (comparator: string, character: number) =>
      `the comparator "${comparator}" at character ${character} would need regular expressions, which queries do not have; ` +
      'use = with the wildcard @, begin, or % for whole words',
  },
  FORMULA: {
    errCode: 1278,
    http: 400,
    message: (formula: string, character: number) =>
      `formulas are not allowed in a query: received "${formula}" at character ${character}; compare an attribute with a value`,
  },
  QUERY_TOO_LONG: {
    errCode: 1201,
    http: 400,
    message: (length: number, limit: number) =>
      `the text has ${length} characters, at most ${limit} are read (query.maxTextLength)`,
  },
  QUERY_TOO_DEEP: {
    errCode: 1201,
    http: 400,
    message: (limit: number) => `the query nests parentheses and "not" deeper than ${limit} levels (query.maxNesting)`,
  },
  TOO_MANY_CONDITIONS: {
    errCode: 1201,
    http: 400,
    message: (count: number, limit: number) =>
      `the query has ${count} conditions, at most ${limit} are allowed (query.maxConditions); a long list of values fits into one: name in :1`,
  },
  PATH_TOO_LONG: {
    errCode: 1201,
    http: 400,
    message: (limit: number) => `an attribute path has more than ${limit} steps (query.maxPathSteps)`,
  },
  ORDER_BY: {
    errCode: 1810,
    http: 400,
    message: (place: string, expected: string) => `cannot read the sort order ${place}: expected ${expected}`,
  },
  TOO_MANY_ORDER_TERMS: {
    errCode: 1810,
    http: 400,
    message: (count: number, limit: number) =>
      `the sort order has ${count} attributes, at most ${limit} are allowed (query.maxOrderTerms)`,
  },
  TOO_MANY_ITEMS: {
    errCode: 1201,
    http: 400,
    message: (limit: number) => `the list has more than ${limit} attributes (query.maxListItems)`,
  },
  /** Follows its cause: [1500, 1804]. */
  ATTRIBUTE_LIST: {
    errCode: 1804,
    http: 404,
    message: (list: string, dataClass: string) =>
      `cannot build the attribute list from "${excerpt(list)}" for ${dataClass}`,
  },
  /** Follows its cause: [1500, 1805]. */
  EXPAND_LIST: {
    errCode: 1805,
    http: 404,
    message: (list: string, dataClass: string) =>
      `cannot build the expand list from "${excerpt(list)}" for ${dataClass}`,
  },
  /** Followed by 1804 or 1805. */
  PATH_LIST: {
    errCode: 1201,
    http: 400,
    message: (place: string, expected: string) => `cannot read the attribute list ${place}: expected ${expected}`,
  },
  PARAMS: {
    errCode: 1806,
    http: 400,
    message: (received: string, problem: string) =>
      `cannot read the parameters "${received}": ${problem}; send a JSON array such as ["Smith",42]`,
  },
})
