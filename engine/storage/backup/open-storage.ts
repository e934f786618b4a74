import type { BackupStorage } from './backup-storage.ts'
import { FolderStorage } from './folder-storage.ts'

/** A place for backups, as plain data. */
export interface BackupPlace {
  readonly folder: string
}

export const openStorage = ({ folder }: BackupPlace): BackupStorage => new FolderStorage(folder)
