import type { Logger } from 'pino'
import type { Engine } from '../engine/index.ts'
import type { Lifecycle } from './lifecycle.ts'
import { type Plugin, PluginError } from './plugin-loader.ts'
import { Registry } from './registry.ts'

export interface RegisteredPlugins {
  readonly registry: Registry
  readonly names: readonly string[]
  /** Runs what the plugins gave to `scope.onReady`. */
  ready(): Promise<void>
  /** Runs what the plugins gave to `scope.onClose`, the last loaded first. */
  close(): Promise<void>
}

/**
 * Lets plugins register what they do, in their order.
 * @throws {PluginError}
 */
export async function registerPlugins(
  plugins: readonly Plugin[],
  { engine, lifecycle, log }: { engine: Engine; lifecycle: Lifecycle; log: Logger },
): Promise<RegisteredPlugins> {
  const registry = new Registry()
  const onReady: (() => void | Promise<void>)[] = []
  const onClose: (() => void | Promise<void>)[] = []
  for (const { specifier, definition, options } of plugins) {
    const { name } = definition
    const scope = {
      plugin: name,
      engine,
      lifecycle,
      log: log.child({ plugin: name }),
      onReady: (callback: () => void | Promise<void>) => void onReady.push(callback),
      onClose: (callback: () => void | Promise<void>) => void onClose.push(callback),
      ...registry.scopeFor(name),
    }
    try {
      await definition.register?.(scope, options)
    } catch (error) {
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
    async close() {
      for (const callback of onClose.reverse()) await callback()
    },
  }
}
