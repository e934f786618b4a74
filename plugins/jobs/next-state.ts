import type { Job, JobFunction } from '../../engine/index.ts'
import { ProtocolError } from '../../kernel/api.ts'

/** Longest pause between two attempts. */
const MAX_BACKOFF_MS = 3_600_000
const MAX_ERROR = 2_000
/** Number of times that a job is run again because the server ended while it ran; the job may be the cause. */
const MAX_INTERRUPTIONS = 5

/** Errors that are not the job's fault: its call did not begin, or another job has ended its thread. */
const NOT_TO_BLAME: ReadonlySet<string> = new Set(
  ['BUSY', 'BUSY_WAITING', 'NOT_BEGUN', 'REFUSED', 'CLOSED', 'CALLER_GONE', 'INTERRUPTED'].map(
    name => `FUNCTIONS.${name}`,
  ),
)

interface Environment {
  /** Milliseconds since 1970. */
  readonly now: number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * State before the call of a job. The attempt is counted before the call, because a job that ends the process would otherwise be called at
 * each start.
 */
export const toRunning = (job: Job, now: number): Job => ({
  ...job,
  state: 'running',
  time: now,
  attempts: job.attempts + 1,
})

export const toDone = ({ error: _, ...job }: Job, now: number): Job => ({ ...job, state: 'done', time: now })

export const toCancelled = (job: Job, now: number): Job => ({ ...job, state: 'cancelled', time: now })

/** State of a job that is ready to run, as if it were new. */
export const toReady = ({ error: _, interruptions: __, ...job }: Job, now: number): Job => ({
  ...job,
  state: 'ready',
  time: now,
  attempts: 0,
})

/** State of a job that waits again. The attempt is not counted, since the job was not at fault. */
export const toWaiting = (job: Job, time: number): Job => ({
  ...job,
  state: 'waiting',
  time,
  attempts: Math.max(0, job.attempts - 1),
})

/** The state after a failed attempt: waiting for the next attempt after a pause, which grows and varies, or failed. */
export function afterFailure(
  job: Job,
  fault: unknown,
  { attempts, backoffSeconds }: Pick<JobFunction, 'attempts' | 'backoffSeconds'>,
  { now, random }: Environment,
): Job {
  if (fault instanceof ProtocolError && NOT_TO_BLAME.has(fault.name))
    return toWaiting(job, now + 1000 * (fault.retryAfterSeconds ?? 1))
  const error = messageOf(fault).slice(0, MAX_ERROR)
  if (job.attempts >= attempts) return { ...job, state: 'failed', time: now, error }
  const pauseMs = Math.min(MAX_BACKOFF_MS, 1000 * backoffSeconds * 2 ** (job.attempts - 1))
  return { ...job, state: 'waiting', time: now + Math.round(pauseMs * (0.5 + random() / 2)), error }
}

/** Message for administrators, who see more than clients: the message of the error that the code has thrown. */
function messageOf(fault: unknown): string {
  const { message, cause } = fault as Partial<Error>
  const { name, message: reason } = (cause ?? {}) as Partial<Error>
  return reason === undefined ? String(message ?? fault) : `${name}: ${reason}`
}

/** The state of a job that was running when the server ended. Such attempts are not counted as failures, but have a limit of their own. */
export function afterInterruption(job: Job, now: number): Job {
  const interruptions = (job.interruptions ?? 0) + 1
  if (interruptions > MAX_INTERRUPTIONS) {
    const error = `the server ended ${interruptions} times while the job ran`
    return { ...job, state: 'failed', time: now, interruptions, error }
  }
  return { ...toWaiting(job, now + 1000 * 2 ** (interruptions - 1) - 1000), interruptions }
}
