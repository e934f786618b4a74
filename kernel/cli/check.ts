import type { Config } from '../../config/load-config.ts'
import { inspectEngine } from '../../engine/index.ts'
import { readRoles, rolesFile } from '../auth/roles-file.ts'
import { readParts } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'

/**
 * `tesser check`: everything wrong with the model, with the store in itself, and with the two, the roles and the classes of
 * plugins together. Changes nothing. The configuration has been checked when it was loaded.
 * @returns a text for each problem, as it is found
 * @throws {ConfigError} a file cannot be read; {@link PluginError}; {@link Error} of classes that cannot be used
 */
export async function* check(config: Config): AsyncGenerator<string> {
  const bundler = new ModuleBundler()
  try {
    const { engine } = await readParts(config, bundler)
    const places = { model: config.model, store: config.data, roles: rolesFile(config) }
    for await (const { of, text } of inspectEngine(engine, readRoles(config))) yield `${places[of]}: ${text}`
  } finally {
    bundler.close()
  }
}
