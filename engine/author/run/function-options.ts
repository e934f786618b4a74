import type { FunctionThreadOptions } from './tasks.ts'

/** Options of the threads that run plugin code, and of their queues. */
export interface FunctionPoolOptions extends Omit<FunctionThreadOptions, 'progress' | 'port'> {
  /** 0: one less than the number of cores, at least two. */
  readonly threads: number
  /** Maximum number of calls that wait for a thread; further ones are refused with 503. */
  readonly queueLimit: number
  /** Maximum number of calls of asynchronous functions that have not ended; further ones are refused with 503. */
  readonly asyncLimit: number
  /** Deadline of a function that declares none: time for which code may run. */
  readonly deadlineMs: number
  /** Deadline of an asynchronous function that declares none: time until its answer. */
  readonly asyncDeadlineMs: number
  /** Maximum time for loading all modules; a module that takes longer is assumed never to finish. */
  readonly loadMs: number
  /** Number of threads in a row that a function has to end before it is refused. */
  readonly breakerLimit: number
  readonly breakerPauseMs: number
}
