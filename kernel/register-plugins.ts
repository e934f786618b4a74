import type { Logger } from 'pino'
import type { Engine } from '../engine/index.ts'
import type { Lifecycle } from './lifecycle.ts'
import { type Plugin, PluginError } from './plugin-loader.ts'
import { Registry } from './registry.ts'
import type { Visitors } from './session/visitors.ts'

export interface RegisteredPlugins {
  readonly registry: Registry
  readonly names: readonly string[]
  /** Runs what the plugins gave to `scope.onReady`. */
  ready(): Promise<void>
  /** Runs what the plugins gave to `scope.onClose`, the last loaded first. */
  close(): Promise<void>
}

/** What plugins get to work with. */
export interface PluginSurroundings {
  readonly engine: Engine
  readonly visitors: Visitors
  readonly lifecycle: Lifecycle
  readonly log: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Lets plugins register what they do, in their order. When one cannot, those before it are closed.
 * @throws {PluginError}
 */
export async function registerPlugins(
  plugins: readonly Plugin[],
  { engine, visitors, lifecycle, log, now }: PluginSurroundings,
): Promise<RegisteredPlugins> {
  const registry = new Registry()
  const onReady: (() => void | Promise<void>)[] = []
  const onClose: (() => void | Promise<void>)[] = []
  const close = async () => {
    for (const callback of onClose.reverse()) await callback()
  }
  for (const { specifier, definition, options } of plugins) {
    const { name } = definition
    const scope = {
      plugin: name,
      engine,
      sessions: visitors.sessions,
      identities: visitors.identities,
      lifecycle,
      now,
      log: log.child({ plugin: name }),
      onReady: (callback: () => void | Promise<void>) => void onReady.push(callback),
      onClose: (callback: () => void | Promise<void>) => void onClose.push(callback),
      ...registry.scopeFor(name),
    }
    try {
      await definition.register?.(scope, options)
    } catch (error) {
      await close()
      const where = specifier === name ? '' : ` (${specifier})`
      throw new PluginError([`plugin ${name}${where} failed to register: ${(error as Error)?.message ?? error}`], error)
    }
  }
  return {
    registry,
    names: plugins.map(({ definition }) => definition.name),
    async ready() {
      for (const callback of onReady) await callback()
    },
    close,
  }
}
