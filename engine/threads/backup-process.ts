/**
 * Entry point of the process in which a server makes a backup. A process of its own has a lower priority, and neither its end nor a
 * damaged page that it copies affects the server. It ends with the server. Messages are declared in `engine/run-backup.ts`.
 */
import { constants, setPriority } from 'node:os'
import type { BackupJob, FromBackup } from '../run-backup.ts'
import { makeBackup } from '../storage/backup/make-backup.ts'
import { openStorage } from '../storage/backup/open-storage.ts'

const send = (message: FromBackup): void => void process.send!(message)

process.once('disconnect', () => process.exit(1))
process.once('message', async ({ place, ...options }: BackupJob) => {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The system does not allow it.
  }
  try {
    const made = await makeBackup({
      ...options,
      storage: openStorage(place),
      onNote: (text, level) => send({ kind: 'note', text, level }),
      onProgress: step => send({ kind: 'step', step }),
    })
    send({ kind: 'made', made })
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    send({ kind: 'failed', name, message })
  }
  process.disconnect()
})
