import { defineErrors, errorsWith } from '../../base/errors.ts'
import { excerpt } from '../../base/text/excerpt.ts'

/** Errors of texts that cannot be parsed. Source: protocol notes, 5.9; statuses by the design decisions. */
export const ParseErrors = defineErrors('PARSE', {
  ...errorsWith({ errCode: 1112, http: 400 })({
    /** A comparator or a conjunction is missing or misspelled. */
    COMPARATOR_EXPECTED: (place: string, expected: string) => `cannot read the query ${place}: expected ${expected}`,
    REGULAR_EXPRESSION: (comparator: string, character: number) =>
      `the comparator "${comparator}" at character ${character} would need regular expressions, which queries do not have; ` +
      'use = with the wildcard @, begin, or % for whole words',
  }),
  ...errorsWith({ errCode: 1201, http: 400 })({
    SYNTAX: (place: string, expected: string) => `cannot read the query ${place}: expected ${expected}`,
    QUERY_TOO_LONG: (length: number, limit: number) =>
      `the text has ${length} characters, at most ${limit} are read (query.maxTextLength)`,
    QUERY_TOO_DEEP: (limit: number) =>
      `the query nests parentheses and "not" deeper than ${limit} levels (query.maxNesting)`,
    TOO_MANY_CONDITIONS: (count: number, limit: number) =>
      `the query has ${count} conditions, at most ${limit} are allowed (query.maxConditions); a long list of values fits into one: name in :1`,
    PATH_TOO_LONG: (limit: number) => `an attribute path has more than ${limit} steps (query.maxPathSteps)`,
    TOO_MANY_ITEMS: (limit: number) => `the list has more than ${limit} attributes (query.maxListItems)`,
  }),
  ...errorsWith({ errCode: 1278, http: 400 })({
    FORMULA: (formula: string, character: number) =>
      `formulas are not allowed in a query: received "${formula}" at character ${character}; compare an attribute with a value`,
  }),
  ...errorsWith({ errCode: 1810, http: 400 })({
    ORDER_BY: (place: string, expected: string) => `cannot read the sort order ${place}: expected ${expected}`,
    TOO_MANY_ORDER_TERMS: (count: number, limit: number) =>
      `the sort order has ${count} attributes, at most ${limit} are allowed (query.maxOrderTerms)`,
  }),
  ...errorsWith({ errCode: 1804, http: 404 })({
    /** Follows its cause: [1500, 1804]. */
    ATTRIBUTE_LIST: (list: string, dataClass: string) =>
      `cannot build the attribute list from "${excerpt(list)}" for ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1805, http: 404 })({
    /** Follows its cause: [1500, 1805]. */
    EXPAND_LIST: (list: string, dataClass: string) =>
      `cannot build the expand list from "${excerpt(list)}" for ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1201, http: 400 })({
    /** Followed by 1804 or 1805. */
    PATH_LIST: (place: string, expected: string) => `cannot read the attribute list ${place}: expected ${expected}`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    PARAMS: (received: string, problem: string) =>
      `cannot read the parameters "${received}": ${problem}; send a JSON array such as ["Smith",42]`,
  }),
})
