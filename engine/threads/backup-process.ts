/**
 * Entry point of the process in which a server makes a backup. A process of its own has a lower priority, and neither its end nor a
 * damaged page that it copies affects the server. It ends with the server. Messages are declared in `engine/run-backup.ts`.
 */
import { constants, setPriority } from 'node:os'
import type { BackupJob, FromBackup } from '../run-backup.ts'
import { makeBackup } from '../storage/backup/make-backup.ts'
import { openStorage } from '../storage/backup/open-storage.ts'

/** Minimum time between two reports of progress. */
const REPORT_MS = 250
let reportedAt = 0

const send = (message: FromBackup, onSent = (): void => {}): void => void process.send!(message, onSent)

/** The last message. */
function end(message: FromBackup): void {
  process.off('disconnect', die)
  send(message, () => process.disconnect())
}

/** The server has ended. An exit would wait for the thread that copies, and a start for its lock. */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

process.once('disconnect', die)
process.once('message', async ({ place, ...options }: BackupJob) => {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The system does not allow it.
  }
  try {
    const made = await makeBackup({
      ...options,
      storage: openStorage(place, options.path),
      onNote: (text, level) => send({ kind: 'note', text, level }),
      onProgress(step) {
        const now = performance.now()
        if (now - reportedAt < REPORT_MS) return
        reportedAt = now
        send({ kind: 'step', step })
      },
    })
    end({ kind: 'made', made })
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    end({ kind: 'failed', name, message })
  }
})
