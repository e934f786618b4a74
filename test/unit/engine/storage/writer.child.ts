/**
 * Thread that commits one insert whenever the first number in shared memory is incremented, and then increments the second.
 * Not by messages, since the event loop of the reading thread does not run meanwhile.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createRowStore } from '../../../support/engine/write-rows.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'

const { path, commits } = workerData as { path: string; commits: Int32Array }
const rows = createRowStore(path, testModel)

parentPort!.postMessage('ready')
for (let made = 0; ; made++) {
  Atomics.wait(commits, 0, made)
  if (Atomics.load(commits, 0) < 0) break
  rows.commit(write => write.insert('Company', { code: `${made + 1}`, name: `${made + 1}` }))
  Atomics.add(commits, 1, 1)
  Atomics.notify(commits, 1)
}
await rows.environment.close()
