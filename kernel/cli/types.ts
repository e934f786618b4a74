import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { writeTypes } from '../../engine/language/write-types.ts'

/**
 * `tesser types`: writes what TypeScript has to know of the model, for the authors of classes.
 * @param file `-`: the standard output
 * @throws {ModelError}
 */
export function types(config: Config, file: string): void {
  const text = writeTypes(loadModel(readJsonFile(config.model, 'model')), basename(config.model))
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}
