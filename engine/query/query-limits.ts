/** What one query may cost. */
export interface QueryLimits {
  timeoutMs: number
  maxRowsExamined: number
  maxExpandDepth: number
  maxAnswerBytes: number
}
