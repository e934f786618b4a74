import { suggestion } from '../../base/suggestion.ts'

/** How a function with `@job` is run. */
export interface JobOptions {
  /** Number of times that it is tried before it counts as failed; 10 by default. */
  readonly attempts?: number
  /** Pause after the first failed attempt; each later pause is twice as long, up to an hour. 2 by default. */
  readonly backoffSeconds?: number
  /** Number of jobs of this function that run at a time; 8 by default. */
  readonly concurrency?: number
  /** Maximum time of an attempt; 300 by default for a function that waits, otherwise as for other functions. */
  readonly deadlineSeconds?: number
}

export interface ScheduleOptions {
  /** Name of the time zone of the pattern, such as `Europe/Rome`; by default the time zone of the server. */
  readonly timeZone?: string
}

export const JOB_OPTIONS: readonly (keyof JobOptions)[] = [
  ...(['attempts', 'backoffSeconds', 'concurrency', 'deadlineSeconds'] as const),
]
export const SCHEDULE_OPTIONS: readonly (keyof ScheduleOptions)[] = ['timeZone']

/** The problems of the values of options. */
export function jobProblems(options: JobOptions): string[] {
  const integerOptions = ['attempts', 'concurrency'] as const
  const problems = integerOptions.flatMap(name => {
    const value = options[name]
    return value === undefined || (Number.isSafeInteger(value) && value > 0)
      ? []
      : [`${name} is ${String(value)}; an integer above 0 is expected`]
  })
  for (const name of ['backoffSeconds', 'deadlineSeconds'] as const) {
    const value = options[name]
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value > 0))
      problems.push(`${name} is ${String(value)}; a number of seconds above 0 is expected`)
  }
  return problems
}

/** @throws {TypeError} for an unknown option: a typing error would otherwise go unnoticed */
export function checkOptions<T extends object>(options: T, optionNames: readonly string[]): T {
  for (const name of Object.keys(options)) {
    if (optionNames.includes(name)) continue
    const hint = suggestion(name, optionNames) || `; it has ${optionNames.join(', ')}`
    throw new TypeError(`the decorator has no option "${name}"${hint}`)
  }
  return options
}
