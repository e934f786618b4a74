import type { EngineOptions } from './engine-options.ts'
import { runProcess } from './run-process.ts'
import { type Backup, Backups } from './storage/backup/backups.ts'
import type { BackupPolicy, BackupStep, MadeBackup } from './storage/backup/make-backup.ts'
import { type BackupPlace, openStorage } from './storage/backup/open-storage.ts'

/** Backups of an open store, each made by a separate process. Documented in `PluginEngine`. */
export class BackupRuns {
  private readonly closing = new AbortController()
  private readonly runs = new Set<Promise<unknown>>()

  constructor(private readonly options: EngineOptions) {}

  async make(place: BackupPlace, policy: BackupPolicy, onProgress: (step: BackupStep) => void): Promise<MadeBackup> {
    const { path, mapSizeBytes, besides, onNote = () => {} } = this.options
    const job = { path, mapSizeBytes, place, ...(besides && { besides }), ...policy }
    const run = runProcess('backup', job, { onNote, onProgress, signal: this.closing.signal })
    this.runs.add(run)
    try {
      return await run
    } finally {
      this.runs.delete(run)
    }
  }

  list(place: BackupPlace, onDamaged: (problem: string) => void): Promise<Backup[]> {
    return new Backups(openStorage(place)).list(onDamaged)
  }

  /** Aborts the running backups, and resolves when their processes have ended. */
  async close(): Promise<void> {
    this.closing.abort()
    await Promise.allSettled(this.runs)
  }
}
