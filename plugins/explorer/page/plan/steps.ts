/** Steps of `__queryPath` as they are drawn. */

export interface TraceStep {
  readonly description?: string
  readonly time?: number
  readonly recordsfounds?: number
  readonly steps?: readonly TraceStep[]
}

export interface Step {
  readonly description: string
  /** Milliseconds with all below it; undefined where it is hidden. */
  readonly time: number | undefined
  /** Milliseconds without what is below it. */
  readonly own: number | undefined
  readonly rows: number | undefined
  readonly steps: readonly Step[]
}

/** The same tree; what has no description of its own gives its place to its steps. */
export function stepsOf(steps: readonly TraceStep[]): Step[] {
  return steps.flatMap(({ description, time, recordsfounds, steps = [] }) => {
    const below = stepsOf(steps)
    if (description === undefined) return below
    const rest = time === undefined ? undefined : time - below.reduce((sum, each) => sum + (each.time ?? 0), 0)
    // Clocks are rounded, so that parts may be more than the whole.
    const own = rest === undefined ? undefined : Math.max(0, rest)
    return [{ description, time, own, rows: recordsfounds, steps: below }]
  })
}

/** Whether some steps say neither time nor rows, because they read what the user may not see. */
export const isHidden = (steps: readonly Step[]): boolean =>
  steps.some(({ time, steps }) => time === undefined || isHidden(steps))

/** Weight of a share of the time: `high` from a half on, `medium` from a tenth on. */
export const costOf = (share: number): 'high' | 'medium' | 'low' =>
  share >= 0.5 ? 'high' : share >= 0.1 ? 'medium' : 'low'
