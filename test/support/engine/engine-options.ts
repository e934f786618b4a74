import { TEXT_LIMITS } from '../../../engine/query/parse/limits.ts'
import type { EngineOptions } from '../../../engine/index.ts'

/** Limits that no test reaches without setting them. */
export const LIMITS = {
  ...TEXT_LIMITS,
  timeoutMs: 60_000,
  exportTimeoutMs: 600_000,
  maxRowsExamined: 1e9,
  maxExpandDepth: 10,
  maxAnswerBytes: 1e9,
}

/** All options that an engine requires; without shared memory, unless the test asks for it. */
export const engineOptions = (own: Pick<EngineOptions, 'path' | 'model'> & Partial<EngineOptions>): EngineOptions => ({
  wire: { dateOnlyFormat: 'iso' },
  allowLoss: false,
  mapSizeBytes: 2 ** 30,
  cacheBytes: 2 ** 26,
  limits: LIMITS,
  writeQueueBytes: 2 ** 28,
  ...own,
})
