import type { Worker } from 'node:worker_threads'
import { ASKED, MEMORY } from './tasks.ts'

/** Maximum time of a measurement, in which garbage may be collected. */
const MEASURE_MS = 5_000
/** First delay of a termination: much longer than a measurement needs to return after it has stored its result. */
const KILL_MS = 20
const MAX_KILL_MS = 500

/**
 * Terminates a thread, but not during a measurement: V8 would forget the termination, or end the process if the thread waits in
 * `Atomics.wait`. Repeats the attempt at growing intervals, until the thread has exited.
 */
export function killThread(worker: Worker, progress: Int32Array): void {
  const startedAt = Date.now()
  let timer: NodeJS.Timeout
  // Each attempt adds a listener; Node.js warns of a leak above ten.
  worker.setMaxListeners(0)
  const tryIn = (pauseMs: number): void => {
    timer = setTimeout(() => {
      const isMeasured = Atomics.load(progress, MEMORY) !== ASKED
      if (isMeasured || Date.now() - startedAt > MEASURE_MS) void worker.terminate()
      tryIn(Math.min(2 * pauseMs, MAX_KILL_MS))
    }, pauseMs)
  }
  tryIn(KILL_MS)
  worker.once('exit', () => clearTimeout(timer))
}
