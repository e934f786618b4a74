import { readFileSync } from 'node:fs'
import { loadModel } from '../../../engine/catalog/load-model.ts'
import { ClassRegistry } from '../../../engine/author/declare/class-registry.ts'
import { describePlugins } from '../../../kernel/describe-plugins.ts'
import { ModuleBundler } from '../../../kernel/module-bundler.ts'
import { importPlugins } from '../../../kernel/plugin-loader.ts'

/** Registrations of the built-in plugins, without a server. */
export async function registerBuiltIn() {
  const { plugins: specifiers } = JSON.parse(readFileSync('config/default.json', 'utf8'))
  const references = specifiers.map((specifier: string) => ({ specifier }))
  const plugins = await importPlugins(
    { plugins: references, folder: '.', readReference: () => ({ text: '' }) },
    new ModuleBundler(),
  )
  const catalog = loadModel({ name: 'empty', dataClasses: {} })
  const { registry, problems } = await describePlugins(plugins, { catalog, classes: new ClassRegistry() })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return { plugins, registry }
}
