import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { checkModel } from '../../engine/catalog/check-model.ts'
import { inspectStore, problemsOf } from '../../engine/storage/inspect-store.ts'

/**
 * `tesser check`: everything wrong with the model, with the store in itself, and with the two together. Changes nothing.
 * The configuration has been checked when it was loaded.
 * @returns a text for each problem, as it is found
 */
export async function* check(config: Config): AsyncGenerator<string> {
  const { data: path, protocol: wire, storage } = config
  const model = readJsonFile(config.model, 'model')
  const modelProblems = problemsOf(() => checkModel(model))
  for (const problem of modelProblems) yield `${config.model}: ${problem}`
  const fitting = modelProblems.length > 0 ? undefined : model
  for await (const { of, text } of inspectStore({ path, wire, ...storage, model: fitting })) {
    yield `${of === 'store' ? path : config.model}: ${text}`
  }
}
