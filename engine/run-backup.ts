import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { outputUrl } from './base/output-root.ts'
import type { Note, StoreLocation } from './data/store-options.ts'
import type { BackupPolicy, BackupStep, MadeBackup } from './storage/backup/make-backup.ts'
import { BackupError } from './storage/backup/manifest.ts'
import type { BackupPlace } from './storage/backup/open-storage.ts'

/** A backup to be made. */
export interface BackupJob extends StoreLocation, BackupPolicy {
  readonly place: BackupPlace
}

/** Messages of the process that makes it. */
export type FromBackup =
  | { kind: 'note'; text: string; level: 'warn' | undefined }
  | { kind: 'step'; step: BackupStep }
  | { kind: 'made'; made: MadeBackup }
  | { kind: 'failed'; name: string; message: string }

interface BackupEvents {
  readonly onNote: Note
  readonly onProgress: (step: BackupStep) => void
  /** Ends the process. */
  readonly signal: AbortSignal
}

/** Makes a backup in a process of its own, see `engine/threads/backup-process.ts`. @throws {BackupError} and errors of the system */
export function runBackup(job: BackupJob, { onNote, onProgress, signal }: BackupEvents): Promise<MadeBackup> {
  return new Promise((resolve, reject) => {
    const process = fork(fileURLToPath(outputUrl('engine/threads/backup-process.js')), { execArgv: [], signal })
    let outcome: { made: MadeBackup } | { error: Error } | undefined
    process.on('message', (message: FromBackup) => {
      if (message.kind === 'note') onNote(message.text, message.level)
      else if (message.kind === 'step') onProgress(message.step)
      else if (message.kind === 'made') outcome = message
      else outcome = { error: Object.assign(new BackupError(message.message), { name: message.name }) }
    })
    process.on('error', error => {
      outcome ??= {
        error: signal.aborted ? new BackupError('the server stopped before the backup was complete') : error,
      }
    })
    process.on('close', (code, killedBy) => {
      outcome ??= {
        error: new BackupError(`the process of the backup ended before it was complete: ${killedBy ?? code}`),
      }
      if ('made' in outcome) resolve(outcome.made)
      else reject(outcome.error)
    })
    process.send(job)
  })
}
