import { readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../base/sync-folder.ts'

/** Files that are synced at once. */
const AT_ONCE = 16

/** Makes all files in a folder durable. */
export async function syncAll(folder: string): Promise<void> {
  const entries = readdirSync(folder, { withFileTypes: true })
  const work = entries.values()
  const syncSome = async (): Promise<void> => {
    for (const entry of work) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        await syncAll(path)
        continue
      }
      const file = await open(path, 'r+')
      try {
        await file.sync()
      } finally {
        await file.close()
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, syncSome))
  syncFolder(folder)
}
