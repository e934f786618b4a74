import { QueryErrors } from '../query-errors.ts'

export interface BudgetLimits {
  timeoutMs?: number
  /** A row counts once for every operator that looks at it. */
  maxRowsExamined?: number
}

/** What one query may cost. Made when it starts and asked before every batch, so that a query stops within one batch. */
export class QueryBudget {
  private rowsExamined = 0
  private readonly deadlineAt: number

  constructor(
    private readonly limits: BudgetLimits = {},
    private readonly now: () => number = Date.now,
  ) {
    this.deadlineAt = now() + (limits.timeoutMs ?? Number.POSITIVE_INFINITY)
  }

  /**
   * To be called before `rows` rows are looked at.
   * @throws {QueryErrors.TOO_MANY_ROWS} 413
   * @throws {QueryErrors.TIMEOUT} 503
   */
  examine(rows: number): void {
    this.rowsExamined += rows
    const { maxRowsExamined, timeoutMs } = this.limits
    if (maxRowsExamined !== undefined && this.rowsExamined > maxRowsExamined) {
      throw QueryErrors.TOO_MANY_ROWS(maxRowsExamined)
    }
    if (timeoutMs !== undefined && this.now() > this.deadlineAt) throw QueryErrors.TIMEOUT(timeoutMs)
  }
}
