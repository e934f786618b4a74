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
 * in their scope is empty, and their callbacks are never called. A loop that waits for data ends with an error.
 * @param surroundings `configFolder`: folder at which relative paths in options start
 */
export async function describePlugins(
  plugins: readonly Plugin[],
  { catalog, classes, configFolder = '.', seconds = SECONDS }: Surroundings,
): Promise<DescribedPlugins> {
  const registry = new Registry()
  const problems: string[] = []
  const names = plugins.map(({ definition }) => definition.name)
  for (const { definition, options, entry } of plugins) {
    const { name } = definition
    const empty = emptyValue()
    const scope = withMembers(empty, {
      ...registry.scopeFor(name, entry === undefined),
      plugin: name,
      plugins: names,
      now: Date.now,
      engine: withMembers(empty, { catalog, classes }),
      basePath: '',
      configFolder,
    }) as Scope
    try {
      await within(seconds, async () => definition.register?.(scope, options))
    } catch (error) {
      problems.push(`plugin ${name} is described in part, since it failed to register: ${messageWithPlace(error)}`)
    }
  }
  // A plugin that failed to register may have the operations.
  if (problems.length === 0) problems.push(...registry.unknownOperations.map(({ message }) => message))
  return { registry, problems }
}

interface Surroundings {
  readonly catalog: Catalog
  readonly classes: ClassRegistry
  readonly configFolder?: string
  /** Time for each plugin. */
  readonly seconds?: number
}

const SECONDS = 30

/** @throws {Error} the work takes longer */
async function within<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    const error = new Error(`register() has not ended within ${seconds} s; wait for data in onReady()`)
    timer = setTimeout(() => reject(error), seconds * 1000)
  })
  try {
    return await Promise.race([work(), deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Number of times that a plugin may use the empty value: a loop that waits for data would never end. */
const MAX_USES = 100_000

/**
 * Returns a value that stands for any other: each of its members is this value again, a call returns it, and it has no elements.
 * @throws {Error} from the value, after {@link MAX_USES}
 */
function emptyValue(): object {
  let uses = 0
  const use = <T>(value: T): T => {
    if (++uses > MAX_USES)
      throw new Error('register() uses the data of the server in an endless loop; there is none yet, wait in onReady()')
    return value
  }
  const empty: object = new Proxy(nothing, {
    apply: () => use(empty),
    construct: () => use(empty),
    // Values that one plugin sets are invisible to other plugins.
    set: () => use(true),
    preventExtensions: () => false,
    get: (_, name) => {
      if (name === 'then') return use(undefined)
      if (name === Symbol.toPrimitive) return use(() => '')
      return use(name === Symbol.iterator || name === Symbol.asyncIterator ? noElements : empty)
    },
  })
  return empty
}

/** Can be constructed, and its prototype may be another one: plugins extend classes of their scope. */
function nothing() {}

function* noElements() {}

/** An object with these members; all others are `empty`. */
const withMembers = (empty: object, members: object): object =>
  new Proxy(members, {
    get: (target, name) => Reflect.get(target, name) ?? (name === 'then' ? undefined : Reflect.get(empty, name)),
  })
