import type { Cron } from 'croner'
import type { JobFunction } from '../../engine/index.ts'

/** A schedule of a job. */
export interface Schedule {
  /** Identifies the schedule in the store. */
  readonly name: string
  readonly jobFunction: JobFunction
  readonly pattern: string
  readonly timeZone: string | undefined
  /** The first scheduled time after a given one, in milliseconds since 1970; undefined if there is none. */
  next(after: number): number | undefined
}

/** The schedules of all jobs, by their names. Their patterns and zones have been checked with the declarations. */
export async function readSchedules(jobs: Iterable<JobFunction>): Promise<ReadonlyMap<string, Schedule>> {
  const declarations = [...jobs].flatMap(jobFunction =>
    jobFunction.schedules.map(schedule => ({ jobFunction, ...schedule })),
  )
  if (declarations.length === 0) return new Map()
  const { Cron } = await import('croner')
  return new Map(
    declarations.map(({ jobFunction, pattern, timeZone }) => {
      const name = `${jobFunction.job}/${pattern}/${timeZone ?? ''}`
      const cron = new Cron(pattern, { paused: true, ...(timeZone !== undefined && { timezone: timeZone }) })
      return [name, { name, jobFunction, pattern, timeZone, next: after => nextOf(cron, after) }]
    }),
  )
}

const nextOf = (cron: Cron, after: number): number | undefined => cron.nextRun(new Date(after))?.getTime()
