import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { checkModel } from '../../engine/catalog/check-model.ts'
import type { WireOptions } from '../../engine/catalog/dataclass.ts'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { assignNumbers, type TableNumbers } from '../../engine/catalog/table-numbers.ts'
import { checkStore } from '../../engine/storage/check-store.ts'
import { type Environment, openEnvironment } from '../../engine/storage/environment.ts'
import { loadLayouts } from '../../engine/storage/layouts.ts'
import { findLosses } from '../../engine/storage/migration-losses.ts'
import { planMigration } from '../../engine/storage/migration-plan.ts'
import { rowLayout } from '../../engine/storage/row-layout.ts'

/**
 * `tesser check`: everything wrong with the model, with the store in itself, and with the two together. Changes nothing.
 * The configuration has been checked when it was loaded.
 * @returns a text for each problem, as it is found
 */
export async function* check(config: Config): AsyncGenerator<string> {
  const model = readJsonFile(config.model, 'model')
  const modelProblems = problemsOf(() => checkModel(model))
  for (const problem of modelProblems) yield `${config.model}: ${problem}`
  // A store that has never been opened is made when the server starts.
  if (!existsSync(join(config.data, 'data.mdb'))) return
  const environment = openEnvironment({ path: config.data, mapSizeBytes: config.storage.mapSizeBytes })
  try {
    yield* storeProblems(environment, modelProblems.length > 0 ? undefined : model, config)
  } finally {
    await environment.close()
  }
}

function* storeProblems(environment: Environment, model: unknown, config: Config): Generator<string> {
  const { meta } = environment
  if (meta.get('format') === undefined) return
  if (meta.get('migration') !== undefined) {
    yield `${config.data}: a change of the model was interrupted; the next start finishes it`
    return
  }
  const numbers = meta.get('numbers') as TableNumbers
  const catalog = loadModel(meta.get('model'), numbers)
  const layouts = loadLayouts(environment, catalog, meta.get('wire') as WireOptions)
  if (model !== undefined) {
    const numberProblems = problemsOf(() => assignNumbers(checkModel(model), numbers))
    for (const problem of numberProblems) yield `${config.model}: ${problem}`
    if (numberProblems.length === 0) {
      const next = loadModel(model, numbers)
      // Versions only tell layouts of one dataclass apart; what would change does not depend on them.
      const nextLayouts = new Map(
        next.dataClasses.map(dataClass => [dataClass, rowLayout(dataClass, 1, config.protocol)]),
      )
      const plan = planMigration({ catalog, layouts }, { catalog: next, layouts: nextLayouts })
      const { impossible, losses } = findLosses(environment, plan)
      for (const problem of impossible) yield `${config.model} does not fit the store: ${problem}`
      if (!config.storage.allowLoss) for (const loss of losses) yield `${config.model} would lose data: ${loss}`
    }
  }
  for (const problem of checkStore(environment, catalog, layouts)) yield `${config.data}: ${problem}`
}

/** Sentences of an error that carries a list of them. */
function problemsOf(work: () => void): readonly string[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}
