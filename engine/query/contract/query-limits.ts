import type { TextLimits } from '../parse/limits.ts'

/** Limits on the cost of one query. */
export interface QueryLimits extends TextLimits {
  timeoutMs: number
  /** `timeoutMs` of an export. */
  exportTimeoutMs: number
  maxRowsExamined: number
  maxExpandDepth: number
  maxAnswerBytes: number
}
