/**
 * Result of parsing a query text: plain data, independent of the catalog. Names are as written; values are not converted yet,
 * because the reading of `20` or `2020-01-31` depends on the attribute's type.
 */

/** Offsets into the query text, in UTF-16 code units. */
export interface Span {
  start: number
  end: number
}

export interface QuerySyntax {
  condition: Expression | undefined
  /** Sort order after `order by` at the end of the text. */
  orderBy: OrderTerm[]
}

export interface OrderTerm {
  path: PathSyntax
  descending: boolean
}

/**
 * `and`, `or` and `except` associate to the left and have no precedence: `a or b and c` is `(a or b) and c`.
 * A `group` is kept, because conditions on one relation path share the related entity only within one run of AND
 * outside parentheses.
 */
export type Expression =
  | { kind: 'and' | 'or' | 'except'; left: Expression; right: Expression; span: Span }
  | { kind: 'not'; operand: Expression; span: Span }
  | { kind: 'group'; inner: Expression; span: Span }
  | { kind: 'comparison'; path: PathSyntax | PlaceholderSyntax; comparator: Comparator; value: ValueSyntax; span: Span }
  /** A boolean attribute alone, without a comparator: `woman and age > 30`. */
  | { kind: 'truth'; path: PathSyntax | PlaceholderSyntax; span: Span }

/** All spellings of protocol notes 2.3, normalized. `is…` differs from `equal…` only in that `@` is not a wildcard. */
export type Comparator =
  | 'equal' // = == like eq
  | 'notEqual' // != # = not …
  | 'is' // === is eqeq
  | 'isNot' // !== ## isnot, is not …
  | 'less'
  | 'lessOrEqual'
  | 'greater'
  | 'greaterOrEqual'
  | 'begin'
  | 'in'
  | 'keyword' // % %%

/** Canonical spelling of each comparator. */
export const SPELLING: Record<Comparator, string> = {
  equal: '=',
  notEqual: '!=',
  is: '===',
  isNot: '!==',
  less: '<',
  lessOrEqual: '<=',
  greater: '>',
  greaterOrEqual: '>=',
  begin: 'begin',
  in: 'in',
  keyword: '%',
}

export interface PathSyntax {
  kind: 'path'
  steps: PathStep[]
  span: Span
}

/** `roles{2}` has class index 2, `coll[]` has element `any`, `coll[a]` has the link letter `a` (lower case). */
export interface PathStep {
  name: string
  classIndex: number | undefined
  element: { kind: 'any' } | { kind: 'link'; letter: string } | undefined
}

/** `:1` is `['1']`, `:extraInfo.name` is `['extraInfo', 'name']`. */
export interface PlaceholderSyntax {
  kind: 'placeholder'
  path: string[]
  span: Span
}

export type ValueSyntax =
  | { kind: 'null'; span: Span }
  /** A word. `quoted` matters for object attributes: an unquoted number is a number, a quoted one is text. */
  | { kind: 'literal'; text: string; quoted: boolean; span: Span }
  | { kind: 'list'; items: { text: string; quoted: boolean }[]; span: Span }
  | PlaceholderSyntax
