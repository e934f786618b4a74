import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { readJsonFile } from '../config/read-json-file.ts'
import { type Engine, type EngineOptions, openEngine } from '../engine/index.ts'
import { createLogger } from './log.ts'
import type { Lifecycle } from './lifecycle.ts'
import { ModuleBundler } from './module-bundler.ts'
import { importPlugins, type Plugin } from './plugin-loader.ts'
import { withPluginModels } from './plugin-model.ts'
import { registerPlugins } from './register-plugins.ts'
import { Router } from './router.ts'
import { createHandler } from './server.ts'
import { openVisitors } from './session/open-visitors.ts'
import { selectTransport } from './transport/select.ts'
import type { TransportName } from './transport/transport.ts'

export interface Server {
  /** `http://127.0.0.1:8080`, without a slash at the end. */
  readonly url: string
  readonly port: number
  readonly transport: TransportName
  readonly engine: Engine
  /** Names of the loaded plugins in their order. */
  readonly plugins: readonly string[]
  /** Stops accepting, finishes what is in flight, then closes plugins and store. Safe to call twice. */
  close(): Promise<void>
}

/**
 * Puts the parts together: store, plugins, router, HTTP edge. The port opens last, when everything has been checked.
 * @throws {ModelError} {@link PluginError} and errors of the store or the address, each with what would help
 */
export async function createServer(
  config: Config,
  log: Logger = createLogger(config),
  { now = Date.now }: { now?: () => number } = {},
): Promise<Server> {
  const bundler = new ModuleBundler()
  const imported = await importPlugins(config.plugins, config.folder, bundler)
  const engine = await openEngine({
    ...engineOptions(config, imported),
    now,
    onNote: text => log.info(text),
    onInternalError: text => log.error(text),
    onProgress: (...progress) => log.info({ progress }, 'bringing the store to the model'),
  })
  const lifecycle: Lifecycle = { state: 'starting' }
  try {
    const visitors = await openVisitors(config, engine, log, now)
    const plugins = await registerPlugins(imported, { engine, visitors, lifecycle, log, now })
    const { start, name, passedOver } = selectTransport(config.server.transport, config.server.headerBytes)
    for (const reason of passedOver) log.debug(reason)
    const { host, port, tls, headerBytes, bodyBytes, requestTimeoutMs, idleTimeoutMs, refuseChunked } = config.server
    const transport = await start(
      {
        host,
        port,
        tls,
        limits: { headerBytes, bodyBytes, requestTimeoutMs, idleTimeoutMs, refuseChunked },
        onHandlerError: error => log.error({ err: error }, 'an answer failed'),
      },
      createHandler(new Router(plugins.registry, engine), visitors, plugins.registry, config, log),
    )
    lifecycle.state = 'ready'
    await plugins.ready()
    for (const warning of transport.warnings) log.warn(warning)
    const url = `${config.server.tls ? 'https' : 'http'}://${hostInUrl(host)}:${transport.port}`
    log.info({ url, transport: name, plugins: plugins.names }, 'listening')

    let closing: Promise<void> | undefined
    return {
      url,
      port: transport.port,
      transport: name,
      engine,
      plugins: plugins.names,
      close() {
        closing ??= (async () => {
          lifecycle.state = 'stopping'
          await transport.close(config.server.graceMs)
          await plugins.close()
          await visitors.close()
          await engine.close()
          bundler.close()
        })()
        return closing
      },
    }
  } catch (error) {
    await engine.close()
    bundler.close()
    throw error
  }
}

/**
 * The part of the config that the engine needs; also for commands that work on the store without serving it.
 * @param plugins add dataclasses and code
 */
export function engineOptions(config: Config, plugins: readonly Plugin[] = []): EngineOptions {
  const { storage, protocol, query, pool, entitySet } = config
  const { deadlineSeconds, breakerPauseSeconds, ...functions } = config.functions
  return {
    path: config.data,
    model: withPluginModels(readJsonFile(config.model, 'model'), plugins),
    functions: {
      ...functions,
      modules: plugins.flatMap(({ classes }) => classes),
      deadlineMs: deadlineSeconds * 1000,
      breakerPauseMs: breakerPauseSeconds * 1000,
    },
    wire: protocol,
    allowLoss: storage.allowLoss,
    mapSizeBytes: storage.mapSizeBytes,
    cacheBytes: storage.cacheBytes,
    memoryBytes: storage.memoryBytes,
    imageMinutes: storage.imageMinutes,
    imageChanges: storage.imageChanges,
    limits: query,
    pool,
    entitySets: { ...entitySet, setsPerCreator: config.quota.entitySetsPerSession },
    writeQueueBytes: config.write.queueBytes,
  }
}

const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)
