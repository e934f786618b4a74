/** Takes the store of a folder, prints `held`, and keeps the store until the process is killed. */
import { openOwnStore } from '../../../../engine/storage/own-store.ts'
import type { LockKind } from '../../../../engine/data/store-options.ts'

const [path, kind, renewMs] = process.argv.slice(2) as [string, LockKind, string]
const store = await openOwnStore({
  path,
  mapSizeBytes: 2 ** 28,
  token: `child ${process.pid}`,
  lock: { kind, waitMs: 0, renewMs: Number(renewMs) },
})
store.keep(() => process.exit(3))
process.stdout.write('held\n')
setInterval(() => {}, 1000)
