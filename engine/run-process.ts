import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { outputUrl } from './base/output-root.ts'
import type { Note, StoreLocation } from './data/store-options.ts'
import type { BesideOptions } from './storage/migration/beside/migrate-beside.ts'
import type { MigrationStep } from './base/progress.ts'
import type { BackupPolicy, BackupStep, MadeBackup } from './storage/backup/make-backup.ts'
import type { BackupPlace } from './storage/backup/open-storage.ts'

/** A backup job. */
interface BackupJob extends StoreLocation, BackupPolicy {
  readonly place: BackupPlace
}

/** Work that is done in a separate process: by the name of its file in `engine/threads`, its job, its steps and its result. */
export interface Processes {
  readonly backup: { readonly job: BackupJob; readonly step: BackupStep; readonly result: MadeBackup }
  readonly migration: { readonly job: BesideOptions; readonly step: MigrationStep; readonly result: boolean }
}

/** Messages from such a process. */
export type FromProcess<Name extends keyof Processes> =
  | { kind: 'note'; text: string; level: 'warn' | undefined }
  | { kind: 'step'; step: Processes[Name]['step'] }
  | { kind: 'done'; result: Processes[Name]['result'] }
  | { kind: 'failed'; name: string; message: string }

export interface ProcessEvents<Step> {
  readonly onNote: Note
  readonly onProgress: (step: Step) => void
  /** Ends the process. */
  readonly signal: AbortSignal
}

/**
 * Does a job in a separate process with a lower priority, whose end does not affect this one: a damaged page of a store ends the process
 * that reads it, not only the thread.
 * @throws errors of the job, by name and message; errors of the system
 */
export function runProcess<Name extends keyof Processes>(
  name: Name,
  job: Processes[Name]['job'],
  { onNote, onProgress, signal }: ProcessEvents<Processes[Name]['step']>,
): Promise<Processes[Name]['result']> {
  return new Promise((resolve, reject) => {
    const process = fork(fileURLToPath(outputUrl(`engine/threads/${name}-process.js`)), { execArgv: [], signal })
    let outcome: { result: Processes[Name]['result'] } | { error: Error } | undefined
    process.on('message', (message: FromProcess<Name>) => {
      if (message.kind === 'note') onNote(message.text, message.level)
      else if (message.kind === 'step') onProgress(message.step)
      else if (message.kind === 'done') outcome = message
      else outcome = { error: Object.assign(new Error(message.message), { name: message.name }) }
    })
    process.on('error', error => {
      outcome ??= { error: signal.aborted ? new Error(`the ${name} was stopped before it was complete`) : error }
    })
    process.on('close', (code, killedBy) => {
      outcome ??= { error: new Error(`the process of the ${name} ended before it was complete: ${killedBy ?? code}`) }
      if ('result' in outcome) resolve(outcome.result)
      else reject(outcome.error)
    })
    process.send(job)
  })
}
