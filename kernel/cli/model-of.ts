import { type Config, withoutReferences } from '../../config/load-config.ts'
import { type Catalog, type ClassRegistry, describeModel } from '../../engine/index.ts'
import { readParts } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import type { Plugin } from '../plugin-loader.ts'

interface DescribedModel {
  readonly catalog: Catalog
  readonly classes: ClassRegistry
  readonly plugins: readonly Plugin[]
}

/**
 * Model of a configuration including the additions of plugins, and their functions; needs neither a store nor secrets.
 * @throws {ModelError} {@link PluginError} {@link DeclarationError}
 */
export async function modelOf(config: Config): Promise<DescribedModel> {
  const bundler = new ModuleBundler()
  try {
    const { engine, plugins } = await readParts(withoutReferences(config), bundler)
    return { ...(await describeModel(engine)), plugins }
  } finally {
    bundler.close()
  }
}
