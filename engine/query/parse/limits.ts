/**
 * Limits on texts of clients, checked before anything that takes more than linear time. Options of the server:
 * `query.maxTextLength` and so on.
 */
export interface TextLimits {
  /** UTF-16 code units of a query, a sort order or an attribute list. */
  readonly maxTextLength: number
  /** Nesting of parentheses and `not`. */
  readonly maxNesting: number
  readonly maxConditions: number
  readonly maxPathSteps: number
  readonly maxOrderTerms: number
  /** Elements of an attribute list, of `$attributes` and of `$expand`. */
  readonly maxListItems: number
  /** Values in `$params`, including nested ones. */
  readonly maxParams: number
  /** Nesting of arrays and objects in `$params`. */
  readonly maxParamsDepth: number
  /** UTF-16 code units of a value with wildcards. */
  readonly maxPatternLength: number
  /** Parts between wildcards, and words of `%`, in all values of a condition. */
  readonly maxPatternParts: number
}

export const TEXT_LIMITS: TextLimits = {
  maxTextLength: 65_536,
  maxNesting: 200,
  maxConditions: 2_000,
  maxPathSteps: 100,
  maxOrderTerms: 100,
  maxListItems: 1_000,
  maxParams: 100_000,
  maxParamsDepth: 64,
  maxPatternLength: 1_000,
  maxPatternParts: 1_000,
}
