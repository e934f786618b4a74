import type { Test } from 'tap'
import { type Engine, type EngineOptions, openEngine } from '../../../engine/index.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { engineOptions } from './engine-options.ts'

/** An engine with its threads, over a folder of its own unless `path` names one. It closes with the test. */
export async function openTestEngine(
  t: Test,
  options: Pick<EngineOptions, 'model'> & Partial<EngineOptions>,
): Promise<Engine> {
  const engine = await openEngine(engineOptions({ path: options.path ?? temporaryFolder(t), ...options }))
  t.teardown(() => engine.close())
  return engine
}
