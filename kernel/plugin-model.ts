import { type Plugin, PluginError } from './plugin-loader.ts'

/**
 * Content of the model file with the dataclasses that plugins add.
 * @throws {PluginError} naming the plugins that declare the same dataclass
 */
export function withPluginModels(model: unknown, plugins: readonly Plugin[]): unknown {
  const ownClasses = (model as { dataClasses?: unknown } | null)?.dataClasses
  // The check of the model file reports errors in the file itself.
  if (typeof ownClasses !== 'object' || ownClasses === null || Array.isArray(ownClasses)) return model
  const owners = new Map(Object.keys(ownClasses).map(name => [name, 'the model file']))
  const dataClasses: Record<string, unknown> = { ...ownClasses }
  const problems: string[] = []
  for (const { definition } of plugins) {
    for (const [name, dataClass] of Object.entries(definition.model?.dataClasses ?? {})) {
      const owner = owners.get(name)
      if (owner) problems.push(`plugin ${definition.name} adds the dataclass ${name}, which ${owner} has too`)
      owners.set(name, `plugin ${definition.name}`)
      dataClasses[name] = dataClass
    }
  }
  if (problems.length > 0) throw new PluginError(problems)
  return { ...(model as object), dataClasses }
}
