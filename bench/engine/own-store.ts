import { TEXT_LIMITS } from '../../engine/query/parse/limits.ts'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, openEngine } from '../../engine/index.ts'

/** An empty store for one case, on the disk of the checkout: the folder for temporary files may be in memory. */
export async function openOwnStore(
  model: unknown,
  memoryBytes = 0,
): Promise<{ engine: Engine; close(): Promise<void> }> {
  mkdirSync('.tesser', { recursive: true })
  const folder = mkdtempSync(join('.tesser', 'bench-store-'))
  const engine = await openEngine({
    path: folder,
    model,
    wire: { dateOnlyFormat: 'iso' },
    allowLoss: false,
    mapSizeBytes: 2 ** 34,
    cacheBytes: 2 ** 20,
    memoryBytes,
    limits: {
      ...TEXT_LIMITS,
      timeoutMs: 10_000,
      exportTimeoutMs: 10_000,
      maxRowsExamined: 1e8,
      maxExpandDepth: 1,
      maxAnswerBytes: 2 ** 26,
    },
    writeQueueBytes: 2 ** 28,
  })
  return {
    engine,
    close: async () => {
      await engine.close()
      rmSync(folder, { recursive: true })
    },
  }
}
