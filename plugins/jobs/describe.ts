import type { Job, JobFunction, JobState } from '../../engine/index.ts'
import type { JobRunner } from './job-runner.ts'
import type { Schedule } from './schedules.ts'

/** Meaning of the time of a job in each state. */
const TIMES: Readonly<Record<JobState, string>> = {
  waiting: 'due',
  ready: 'due',
  running: 'begun',
  done: 'ended',
  failed: 'ended',
  cancelled: 'ended',
}

const iso = (time: number): string => new Date(time).toISOString()

/** A job as clients see it. @param progress JSON that the job has reported */
export function describeJob(job: Job, progress: string | undefined): object {
  const { id, name, state, args, key, priority, enqueued, time, attempts, error } = job
  return {
    id,
    job: name,
    state,
    args: JSON.parse(args) as unknown,
    ...(key !== undefined && { key }),
    priority,
    enqueued: iso(enqueued),
    [TIMES[state]]: iso(time),
    attempts,
    ...(error !== undefined && { error }),
    ...(progress !== undefined && { progress: JSON.parse(progress) as unknown }),
  }
}

/** A function of jobs as clients see it. */
export function describeFunction(
  { job, attempts, backoffSeconds, concurrency, deadlineSeconds, place }: JobFunction,
  schedules: Iterable<Schedule>,
  runner: JobRunner | undefined,
): object {
  const ownSchedules = [...schedules].filter(({ jobFunction }) => jobFunction.job === job)
  return {
    job,
    plugin: place.plugin,
    attempts,
    backoffSeconds,
    concurrency,
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
    ...(ownSchedules.length > 0 && {
      schedules: ownSchedules.map(schedule => {
        const next = runner?.nextOf(schedule)
        const { pattern, timeZone } = schedule
        return { pattern, ...(timeZone !== undefined && { timeZone }), ...(next !== undefined && { next: iso(next) }) }
      }),
    }),
  }
}
