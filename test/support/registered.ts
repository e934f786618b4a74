import { readFileSync } from 'node:fs'
import { ModuleBundler } from '../../kernel/module-bundler.ts'
import { importPlugins } from '../../kernel/plugin-loader.ts'
import { Registry } from '../../kernel/registry.ts'
import type { Scope } from '../../kernel/api.ts'

/** Stands for everything that a plugin requests from a server while it registers. */
const ANYTHING: unknown = new Proxy(() => undefined, {
  get: (_, name) => (name === 'isEmpty' ? false : ANYTHING),
  apply: () => ANYTHING,
})

/** Registrations of the built-in plugins, as at the start of a server, but without a server. */
export async function registerBuiltIn() {
  const { plugins: specifiers } = JSON.parse(readFileSync('config/default.json', 'utf8'))
  const references = specifiers.map((specifier: string) => ({ specifier }))
  const plugins = await importPlugins(
    { plugins: references, folder: '.', readReference: () => ({ text: '' }) },
    new ModuleBundler(),
  )
  const registry = new Registry()
  /** Names of the plugins that read a parameter in their handlers. */
  const readers = new Map<string, string[]>()
  for (const { definition, options } of plugins) {
    const { name } = definition
    const surroundings = {
      engine: ANYTHING,
      sessions: ANYTHING,
      metrics: ANYTHING,
      identities: {},
      onReady: () => {},
      onClose: () => {},
    } as unknown as Scope
    const scope: Scope = { ...surroundings, ...registry.scopeFor(name) }
    const readsParameters: Scope['readsParameters'] = (...names) => {
      for (const each of names) readers.set(each, [...(readers.get(each) ?? []), name])
      scope.readsParameters(...names)
    }
    await definition.register?.({ ...scope, readsParameters }, options)
  }
  return { plugins, registry, readers }
}
