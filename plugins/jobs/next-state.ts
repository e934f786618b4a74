import type { Job, JobFunction } from '../../engine/index.ts'
import { ProtocolError } from '../../kernel/api.ts'

/** Longest pause between two attempts. */
const MAX_BACKOFF_MS = 3_600_000
const MAX_ERROR = 2_000
/** Number of times that a job is run again because the server has ended while it ran; it may be the reason. */
const MAX_INTERRUPTIONS = 5

/** Errors for which a job is not to blame: its call did not begin, or another one has ended its thread. */
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

/** Stored before the job is called: one that ends the process would otherwise be called at each start. */
export const toRunning = (job: Job, now: number): Job => ({
  ...job,
  state: 'running',
  time: now,
  attempts: job.attempts + 1,
})

export const toDone = ({ error: _, ...job }: Job, now: number): Job => ({ ...job, state: 'done', time: now })

export const toCancelled = (job: Job, now: number): Job => ({ ...job, state: 'cancelled', time: now })

/** Ready to run, as if it was new. */
export const toReady = ({ error: _, interruptions: __, ...job }: Job, now: number): Job => ({
  ...job,
  state: 'ready',
  time: now,
  attempts: 0,
})

/** An attempt that was no fault of the job does not count. */
export const toWaiting = (job: Job, time: number): Job => ({
  ...job,
  state: 'waiting',
  time,
  attempts: Math.max(0, job.attempts - 1),
})

/** The state after an attempt that failed: the next attempt after a pause, which grows and varies, or the end. */
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

/** Administrators see more than clients: the message of what the code has thrown. */
function messageOf(fault: unknown): string {
  const { message, cause } = fault as Partial<Error>
  const { name, message: reason } = (cause ?? {}) as Partial<Error>
  return reason === undefined ? String(message ?? fault) : `${name}: ${reason}`
}

/** The state of a job that was running when the server ended: such an attempt does not count, but they have a bound of their own. */
export function afterInterruption(job: Job, now: number): Job {
  const interruptions = (job.interruptions ?? 0) + 1
  if (interruptions > MAX_INTERRUPTIONS) {
    const error = `the server ended ${interruptions} times while the job ran`
    return { ...job, state: 'failed', time: now, interruptions, error }
  }
  return { ...toWaiting(job, now + 1000 * 2 ** (interruptions - 1) - 1000), interruptions }
}
