/** Entry point of the process in which a server makes a backup. A damaged page crashes only this process, not the server. */
import { makeBackup } from '../storage/backup/make-backup.ts'
import { openStorage } from '../storage/backup/open-storage.ts'
import { serveProcess } from './serve-process.ts'

serveProcess<'backup'>(({ place, ...options }, events) =>
  makeBackup({ ...options, ...events, storage: openStorage(place, options.path) }),
)
