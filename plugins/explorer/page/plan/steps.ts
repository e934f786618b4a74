/** Steps of `__queryPlan` and `__queryPath` in the form in which they are drawn. */

export interface TraceStep {
  readonly description?: string
  readonly time?: number
  readonly recordsfounds?: number
  readonly steps?: readonly TraceStep[]
}

/** A condition or a join, or several below the word that connects them: `And`. */
export interface PlannedStep {
  readonly item?: string
  readonly subquery?: readonly PlannedStep[]
  readonly [word: string]: string | readonly PlannedStep[] | undefined
}

export interface Step {
  readonly description: string
  /** Milliseconds including all nested steps; undefined if hidden. */
  readonly time: number | undefined
  /** Milliseconds without nested steps. */
  readonly own: number | undefined
  readonly rows: number | undefined
  /** True if the step was planned but not executed: the steps before it had already decided. */
  readonly isSkipped?: boolean
  readonly steps: readonly Step[]
}

/** Converts a trace to steps; a node without a description is replaced by its nested steps. */
export function stepsOf(steps: readonly TraceStep[]): Step[] {
  return steps.flatMap(({ description, time, recordsfounds, steps = [] }) => {
    const below = stepsOf(steps)
    if (description === undefined) return below
    const remainder = time === undefined ? undefined : time - below.reduce((sum, each) => sum + (each.time ?? 0), 0)
    // Times are rounded, so that parts may add up to more than the whole.
    const own = remainder === undefined ? undefined : Math.max(0, remainder)
    return [{ description, time, own, rows: recordsfounds, steps: below }]
  })
}

/** Adds planned but not executed steps. Both trees have the same order, and the executed steps are a part of the plan. */
export function withPlanned(steps: readonly Step[], plan: readonly PlannedStep[]): Step[] {
  let remainingSteps = steps
  const all = plan.flatMap(({ item, subquery, ...others }): Step[] => {
    const [[word, below] = ['', []]] = Object.entries(others) as [string, PlannedStep[]][]
    const description = item ?? word.toUpperCase()
    const planned = subquery ?? below
    const at = remainingSteps.findIndex(each => each.description === description)
    if (at < 0) {
      const nothing = { time: undefined, own: undefined, rows: undefined, isSkipped: true }
      return [{ description, ...nothing, steps: withPlanned([], planned) }]
    }
    const step = remainingSteps[at]!
    const before = remainingSteps.slice(0, at)
    remainingSteps = remainingSteps.slice(at + 1)
    return [...before, { ...step, steps: withPlanned(step.steps, planned) }]
  })
  return [...all, ...remainingSteps]
}

/** Returns true if some steps have neither time nor rows, because they read data that the user may not see. */
export const isHidden = (steps: readonly Step[]): boolean =>
  steps.some(({ time, isSkipped, steps }) => !isSkipped && (time === undefined || isHidden(steps)))

/** Weight of a fraction of the time: `high` from one half, `medium` from one tenth. */
export const costOf = (share: number): 'high' | 'medium' | 'low' =>
  share >= 0.5 ? 'high' : share >= 0.1 ? 'medium' : 'low'
