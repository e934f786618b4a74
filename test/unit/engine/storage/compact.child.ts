/** Compacts the store of a folder, and kills itself `delayMs` milliseconds after a step has begun. */
import { compactStore } from '../../../../engine/storage/compact-store.ts'

const [path, step, delayMs] = process.argv.slice(2) as [string, string, string]
await compactStore({
  path,
  mapSizeBytes: 2 ** 28,
  lock: { waitMs: 0 },
  onProgress({ what, done }) {
    if (`${what} ${done}` !== step) return
    const end = (): void => void process.kill(process.pid, 'SIGKILL')
    if (delayMs === '0') end()
    else setTimeout(end, Number(delayMs))
  },
})
