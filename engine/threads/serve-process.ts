import { constants, setPriority } from 'node:os'
import type { FromProcess, Processes, ProcessEvents } from '../run-process.ts'

/** Minimum time between two reports of progress. */
const REPORT_MS = 250

/**
 * Does the one job that a process gets, and ends the process. It has a lower priority, and ends with its server. Messages are declared
 * in `engine/run-process.ts`.
 */
export function serveProcess<Name extends keyof Processes>(
  work: (
    job: Processes[Name]['job'],
    events: Omit<ProcessEvents<Processes[Name]['step']>, 'signal'>,
  ) => Promise<Processes[Name]['result']>,
): void {
  let reportedAt = 0
  const server = process.ppid
  const send = (message: FromProcess<Name>, onSent = (): void => {}): void => void process.send!(message, onSent)
  /** Sends the last message. */
  const end = (message: FromProcess<Name>): void => {
    process.off('disconnect', die)
    send(message, () => process.disconnect())
  }
  process.once('disconnect', die)
  process.once('message', async (job: Processes[Name]['job']) => {
    try {
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // The system does not allow a change of priority.
    }
    try {
      const result = await work(job, {
        onNote: (text, level) => send({ kind: 'note', text, level }),
        onProgress(step) {
          // Synchronous work delays the event.
          if (process.ppid !== server) die()
          const now = performance.now()
          if (now - reportedAt < REPORT_MS) return
          reportedAt = now
          send({ kind: 'step', step })
        },
      })
      end({ kind: 'done', result })
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      end({ kind: 'failed', name, message })
    }
  })
}

/**
 * Kills this process when the server has ended. A normal exit would wait for threads that copy, and a restarted server would wait for the
 * locks of this process.
 */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
