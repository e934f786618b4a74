import type { Logger } from 'pino'
import { type Engine, messageWithPlace, pluginEngine } from '../engine/index.ts'
import type { Lifecycle } from './base/lifecycle.ts'
import type { MetricSources, ReadMetrics } from './metrics/metrics.ts'
import { type Plugin, PluginError } from './plugin-loader.ts'
import { pluginCalls } from './plugin-calls.ts'
import { Registry } from './registry.ts'
import type { RequestHandlers } from './server.ts'
import type { Visitors } from './session/visitors.ts'

interface RegisteredPlugins {
  readonly registry: Registry
  readonly names: readonly string[]
  /** Runs the callbacks that the plugins passed to `scope.onReady`. */
  ready(): Promise<void>
  /** Runs the callbacks that the plugins passed to `scope.onClose`, the last loaded first. */
  close(): Promise<void>
}

interface Callback {
  readonly plugin: string
  readonly run: () => void | Promise<void>
}

/** Environment of plugins. */
interface PluginContext {
  readonly engine: Engine
  readonly visitors: Visitors
  readonly lifecycle: Lifecycle
  readonly log: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly basePath: string
  readonly configFolder: string
  readonly metrics: MetricSources
  readonly dispatch: RequestHandlers['dispatch']
  /** Maximum bytes of JSON in the arguments of a function. */
  readonly argumentBytes: number
}

/**
 * Registers plugins in their order. When one fails, the plugins before it are closed.
 * @throws {PluginError}
 */
export async function registerPlugins(
  plugins: readonly Plugin[],
  { engine, visitors, lifecycle, log, now, basePath, configFolder, metrics, dispatch, argumentBytes }: PluginContext,
): Promise<RegisteredPlugins> {
  const registry = new Registry()
  const onReady: Callback[] = []
  const onClose: Callback[] = []
  // A plugin that fails must not prevent the other plugins or the store from being closed.
  const close = async () => {
    for (const { plugin, run } of onClose.reverse()) {
      try {
        await run()
      } catch (error) {
        log.error({ plugin, err: error }, `plugin ${plugin} failed to close`)
      }
    }
  }
  const ownEngine = pluginEngine(engine)
  const names = plugins.map(({ definition }) => definition.name)
  for (const { specifier, definition, options, granted, entry } of plugins) {
    const { name } = definition
    const scope = {
      plugin: name,
      plugins: names,
      engine: ownEngine,
      sessions: visitors.sessions,
      identities: visitors.identities,
      logins: visitors.logins,
      quota: visitors.quota,
      lifecycle,
      now,
      basePath,
      configFolder,
      metrics: { add: (read: ReadMetrics) => metrics.add(name, read), read: () => metrics.read() },
      dispatch,
      call: pluginCalls({ engine, argumentBytes }, name, granted),
      log: log.child({ plugin: name }),
      onReady: (callback: () => void | Promise<void>) => void onReady.push({ plugin: name, run: callback }),
      onClose: (callback: () => void | Promise<void>) => void onClose.push({ plugin: name, run: callback }),
      ...registry.scopeFor(name, entry === undefined),
    }
    try {
      await definition.register?.(scope, options)
    } catch (error) {
      await close()
      const where = specifier === name ? '' : ` (${specifier})`
      throw new PluginError([`plugin ${name}${where} failed to register: ${messageWithPlace(error)}`], error)
    }
  }
  registry.complete()
  for (const { plugin, message } of registry.unknownOperations) log.warn({ plugin }, message)
  return {
    registry,
    names,
    async ready() {
      for (const { plugin, run } of onReady) {
        try {
          await run()
        } catch (error) {
          throw new PluginError([`plugin ${plugin} failed when the port was open: ${messageWithPlace(error)}`], error)
        }
      }
    },
    close,
  }
}
