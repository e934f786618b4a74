import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkModel } from '../catalog/check-model.ts'
import type { WireOptions } from '../catalog/dataclass.ts'
import { loadModel } from '../catalog/load-model.ts'
import { assignNumbers, type TableNumbers } from '../catalog/table-numbers.ts'
import { checkStore } from './check-store.ts'
import { type Environment, type EnvironmentOptions, FORMAT_VERSION, openEnvironment } from '../storage/environment.ts'
import { loadLayouts } from '../storage/layouts.ts'
import { findLosses } from '../migration/find-losses.ts'
import { planMigration } from '../migration/plan-migration.ts'
import { rowLayout } from '../storage/row-layout.ts'

export interface InspectOptions extends EnvironmentOptions {
  /** Content of the model file that the store is to fit; undefined: that of the store alone counts. */
  model: unknown
  wire: WireOptions
  /** What the model would lose is no problem. */
  allowLoss: boolean
}

export interface StoreProblem {
  /** Where it is: the store itself, or a model that it does not fit. */
  of: 'store' | 'model'
  text: string
}

/** Everything wrong with a store in itself and with the model together. Changes nothing, nor makes a store. */
export async function* inspectStore(options: InspectOptions): AsyncGenerator<StoreProblem> {
  if (!existsSync(join(options.path, 'data.mdb'))) return
  const environment = openEnvironment(options)
  try {
    yield* problemsOfStore(environment, options)
  } finally {
    await environment.close()
  }
}

function* problemsOfStore(environment: Environment, options: InspectOptions): Generator<StoreProblem> {
  const { meta } = environment
  const format = meta.get('format') as number | undefined
  if (format === undefined) return
  if (format !== FORMAT_VERSION) {
    yield { of: 'store', text: `it has format ${format}, this version reads format ${FORMAT_VERSION}` }
    return
  }
  if (meta.get('migration') !== undefined) {
    yield { of: 'store', text: 'a change of the model was interrupted; the next start finishes it' }
    return
  }
  const numbers = meta.get('numbers') as TableNumbers
  const catalog = loadModel(meta.get('model'), numbers)
  const layouts = loadLayouts(environment, catalog, meta.get('wire') as WireOptions)
  const { model, wire, allowLoss } = options
  if (model !== undefined) {
    const numberProblems = problemsOf(() => assignNumbers(checkModel(model), numbers))
    for (const text of numberProblems) yield { of: 'model', text }
    if (numberProblems.length === 0) {
      const next = loadModel(model, numbers)
      // Versions only tell layouts of one dataclass apart; what would change does not depend on them.
      const nextLayouts = new Map(next.dataClasses.map(dataClass => [dataClass, rowLayout(dataClass, 1, wire)]))
      const plan = planMigration({ catalog, layouts }, { catalog: next, layouts: nextLayouts })
      const { impossible, losses } = findLosses(environment, plan)
      for (const problem of impossible) yield { of: 'model', text: `does not fit the store: ${problem}` }
      if (!allowLoss) for (const loss of losses) yield { of: 'model', text: `would lose data: ${loss}` }
    }
  }
  for (const text of checkStore(environment, catalog, layouts)) yield { of: 'store', text }
}

/** Sentences of an error that carries a list of them. */
export function problemsOf(work: () => void): readonly string[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}
