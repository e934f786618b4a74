import { type Catalog, type ClassRegistry, messageWithPlace } from '../engine/index.ts'
import type { Scope } from './api.ts'
import type { Plugin } from './plugin-loader.ts'
import { Registry } from './registry.ts'

interface DescribedPlugins {
  readonly registry: Registry
  /** Faults of plugins, including those that prevent a complete description. */
  readonly problems: readonly string[]
}

/**
 * Registers plugins without a server and a store, for documents about what they add. They get the real catalog and classes; everything else
 * in their scope is empty, and their callbacks are never called.
 */
export async function describePlugins(
  plugins: readonly Plugin[],
  { catalog, classes }: { readonly catalog: Catalog; readonly classes: ClassRegistry },
): Promise<DescribedPlugins> {
  const registry = new Registry()
  const problems: string[] = []
  const engine = withMembers({ catalog, classes })
  const names = plugins.map(({ definition }) => definition.name)
  for (const { definition, options, entry } of plugins) {
    const { name } = definition
    const scope = withMembers({
      ...registry.scopeFor(name, entry === undefined),
      plugin: name,
      plugins: names,
      now: Date.now,
      engine,
      basePath: '',
    }) as Scope
    try {
      await definition.register?.(scope, options)
    } catch (error) {
      problems.push(`plugin ${name} is described in part, since it failed to register: ${messageWithPlace(error)}`)
    }
  }
  // A plugin that failed to register may have the operations.
  if (problems.length === 0) problems.push(...registry.unknownOperations.map(({ message }) => message))
  return { registry, problems }
}

/** Stands for any value: each of its members is this value again, a call returns it, and it has no elements. */
const EMPTY: object = new Proxy(nothing, {
  apply: () => EMPTY,
  construct: () => EMPTY,
  // Values that one plugin sets are invisible to other plugins.
  set: () => true,
  preventExtensions: () => false,
  get: (_, name) => {
    if (name === 'then') return undefined
    if (name === Symbol.toPrimitive) return () => ''
    return name === Symbol.iterator || name === Symbol.asyncIterator ? noElements : EMPTY
  },
})

/** Can be constructed, and its prototype may be another one: plugins extend classes of their scope. */
function nothing() {}

function* noElements() {}

/** An object with these members; all others are {@link EMPTY}. */
const withMembers = (members: object): object =>
  new Proxy(members, { get: (target, name) => Reflect.get(target, name) ?? (name === 'then' ? undefined : EMPTY) })
