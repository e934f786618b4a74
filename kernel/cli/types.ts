import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Config, withoutReferences } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { loadModel, writeTypes } from '../../engine/index.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { importPlugins } from '../plugin-loader.ts'
import { withPluginModels } from '../plugin-model.ts'

/**
 * `tesser types`: writes the types of the model and of the additions of plugins, for the authors of classes.
 * @param file path of the file; `-` for the standard output
 * @throws {ModelError} {@link PluginError}
 */
export async function types(config: Config, file: string): Promise<void> {
  const bundler = new ModuleBundler()
  const plugins = await importPlugins(withoutReferences(config), bundler).finally(() => bundler.close())
  const model = withPluginModels(readJsonFile(config.model, 'model'), plugins)
  const text = writeTypes(loadModel(model), basename(config.model))
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}
