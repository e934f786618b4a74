import { QueryErrors } from '../contract/query-errors.ts'

export interface BudgetLimits {
  timeoutMs?: number
  /** A row counts once for every operator that examines it. */
  maxRowsExamined?: number
  /** Maximum effort, as reported to {@link QueryBudget.look} and `parse`. Beyond it the time is over, regardless of the clock. */
  maxEffort?: number | undefined
  /** Deadline in milliseconds since 1970; by default `timeoutMs` from now. */
  deadlineAt?: number
  /** Returns true if no caller is waiting for the answer. */
  isCancelled?: () => boolean
  /** Counter of the rows of several queries together. */
  counter?: RowCounter
}

export interface RowCounter {
  examined: number
  /** Rows of the page. */
  sent?: number
}

/** Limits of one query. Created when it starts and asked before every batch, so that a query stops within one batch. */
export class QueryBudget {
  private rowsExamined = 0
  private steps = 0
  private effort = 0
  private asksAt = EFFORT_BETWEEN
  private readonly deadlineAt: number

  constructor(
    private readonly limits: BudgetLimits = {},
    private readonly now: () => number = Date.now,
  ) {
    this.deadlineAt = limits.deadlineAt ?? now() + (limits.timeoutMs ?? Number.POSITIVE_INFINITY)
  }

  /** True if the time of the query is over. */
  get isOver(): boolean {
    const { maxEffort } = this.limits
    return (maxEffort !== undefined && this.effort > maxEffort) || this.now() > this.deadlineAt
  }

  /**
   * To be called before `rows` rows are examined.
   * @throws {QueryErrors.TOO_MANY_ROWS} 413
   * @throws {QueryErrors.TIMEOUT} 503
   * @throws {QueryErrors.CANCELLED} which no client sees
   */
  examine(rows: number): void {
    this.rowsExamined += rows
    const { maxRowsExamined, timeoutMs, isCancelled, counter } = this.limits
    if (counter) counter.examined += rows
    if (isCancelled?.()) throw QueryErrors.CANCELLED()
    if (maxRowsExamined !== undefined && this.rowsExamined > maxRowsExamined) {
      throw QueryErrors.TOO_MANY_ROWS(maxRowsExamined)
    }
    if (timeoutMs !== undefined && this.isOver) throw QueryErrors.TIMEOUT(timeoutMs)
  }

  /** To be called with the number of rows in the answer. */
  sends(rows: number): void {
    const { counter } = this.limits
    if (counter) counter.sent = (counter.sent ?? 0) + rows
  }

  /** To be called with a number of characters before they are visited. Checks the limits every millisecond or two of such work. */
  look(characters: number): void {
    this.effort += characters
    if (this.effort < this.asksAt) return
    this.asksAt = this.effort + EFFORT_BETWEEN
    this.examine(0)
  }

  /** To be called before JSON is parsed. An object with many names takes 0.1 µs a byte, most others a tenth of that. */
  parse(bytes: number): void {
    this.look(EFFORT_OF_JSON * bytes)
  }

  /** To be called at every step of a loop that examines no further rows, such as a sort. Checks the limits from time to time. */
  step(): void {
    if (++this.steps % STEPS_BETWEEN === 0) this.examine(0)
  }
}

/** Number of steps between checks, which take some 0.1 ms of comparisons, or some milliseconds of writing rows. */
const STEPS_BETWEEN = 4096
const EFFORT_BETWEEN = 1_000_000
const EFFORT_OF_JSON = 32
