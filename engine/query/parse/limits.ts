/** Bounds of what a client may write. A query within them is parsed in bounded time and on a bounded stack. */
export const limits = {
  /** UTF-16 code units of a query, a sort order or an attribute list. */
  textLength: 65_536,
  /** Parentheses and `not` inside each other. */
  nesting: 200,
  conditions: 2_000,
  pathSteps: 100,
  orderTerms: 100,
  /** Arrays and objects inside each other in `$params`. */
  paramsNesting: 64,
} as const
