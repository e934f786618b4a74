import { join } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { compactStore } from '../../engine/index.ts'
import { describeSize } from './describe-size.ts'
import { withProgress } from './progress.ts'

/** `tesser compact`. @returns the outcome, for the operator */
export async function compact({ data, storage }: Config): Promise<string> {
  const { before, after } = await withProgress(onProgress =>
    compactStore({
      path: data,
      mapSizeBytes: storage.mapSizeBytes,
      lock: { kind: storage.lock, waitMs: storage.lockWaitMs },
      onNote: text => void process.stderr.write(`${text}\n`),
      onProgress,
    }),
  )
  const file = join(data, 'data.mdb')
  if (after === before) return `${file} has ${describeSize(before)} and cannot be made smaller`
  return `${file} had ${describeSize(before)} and has ${describeSize(after)} now`
}
