import { join } from 'node:path'
import { openTemporaryFolder } from '../../base/temporary-folder.ts'
import type { Note } from '../../data/store-options.ts'
import { inspectStore } from '../inspect/inspect-store.ts'
import type { BackupStorage } from './backup-storage.ts'
import type { BackupStep } from './make-backup.ts'
import { type Restored, restoreBackup } from './restore-backup.ts'

interface VerifyOptions {
  readonly storage: BackupStorage
  readonly backup?: string | undefined
  readonly mapSizeBytes: number
  /** Folder for the store that is restored; one for temporary files by default. */
  readonly folder?: string | undefined
  readonly onNote?: Note
  readonly onProgress?: (step: BackupStep) => void
}

/** Restores a backup for a moment, and checks the store. @returns the problems of the store @throws {BackupError} */
export async function verifyBackup(options: VerifyOptions): Promise<{ restored: Restored; problems: string[] }> {
  const folder = openTemporaryFolder('tesser-verify-', options.folder)
  try {
    const path = join(folder.path, 'store')
    const { mapSizeBytes, onProgress } = options
    const restoration = await restoreBackup({ ...options, path })
    const problems: string[] = []
    const storeProblems = inspectStore({
      path,
      mapSizeBytes,
      model: undefined,
      wire: { dateOnlyFormat: 'iso' },
      allowLoss: false,
      mustExist: true,
      onCheckProgress: ({ what, done, total }) => onProgress?.({ what: `checking ${what}`, done, total }),
    })
    for await (const { text } of storeProblems) problems.push(text)
    return { restored: restoration, problems }
  } finally {
    folder.close()
  }
}
