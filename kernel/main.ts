import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { readJsonFile } from '../config/read-json-file.ts'
import { type Engine, type EngineOptions, openEngine } from '../engine/index.ts'
import { openRoles } from './auth/roles-file.ts'
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

/*
 * V8 learns which objects live long and makes them where they are collected seldom. It learns it at the start, when all
 * do, and is wrong for those of requests: dead ones there kept what they referred to alive until the next full collection,
 * and copying that was a fifth of the time of a request for one entity (33 µs with it, 27 without).
 */
setFlagsFromString('--no-allocation-site-pretenuring')

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

/** What a server is made of, read from files and checked as far as can be done without the store. */
export interface ServerParts {
  readonly config: Config
  readonly plugins: readonly Plugin[]
  readonly engine: EngineOptions
}

/** @throws {ModelError} {@link PluginError} {@link ConfigError} each with what would help */
export async function readParts(config: Config, bundler: ModuleBundler): Promise<ServerParts> {
  const plugins = await importPlugins(config.plugins, config.folder, bundler)
  return { config, plugins, engine: engineOptions(config, plugins) }
}

/** A server from what the configuration names. @throws what {@link readParts} and {@link startServer} throw */
export async function createServer(config: Config, log?: Logger, options?: { now?: () => number }): Promise<Server> {
  const bundler = new ModuleBundler()
  try {
    const server = await startServer(await readParts(config, bundler), log, options)
    return { ...server, close: () => server.close().finally(() => bundler.close()) }
  } catch (error) {
    bundler.close()
    throw error
  }
}

/**
 * Puts the parts together: store, plugins, router, HTTP edge. The port opens last, when everything has been checked.
 * @throws {ModelError} {@link PluginError} {@link RolesError} and errors of the store or the address, each with what would help
 */
export async function startServer(
  { config, plugins: imported, engine: options }: ServerParts,
  log: Logger = createLogger(config),
  { now = Date.now }: { now?: () => number } = {},
): Promise<Server> {
  const opened: { close(): Promise<void> }[] = []
  /** In the order in which things have to be closed: the last one opened first. */
  const closeAll = async (): Promise<void> => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  try {
    const engine = await openEngine({
      ...options,
      now,
      onNote: text => log.info(text),
      onInternalError: text => log.error(text),
      onProgress: (...progress) => log.info({ progress }, 'bringing the store to the model'),
    })
    opened.push(engine)
    opened.push(openRoles(config, engine, log))
    const visitors = await openVisitors(config, engine, log, now)
    opened.push(visitors)
    const lifecycle: Lifecycle = { state: 'starting' }
    const plugins = await registerPlugins(imported, { engine, visitors, lifecycle, log, now })
    opened.push(plugins)
    const { start, name, passedOver } = selectTransport(config.server.transport, config.server.headerBytes)
    for (const reason of passedOver) log.debug(reason)
    const { host, port, tls, headerBytes, bodyBytes, requestTimeoutMs, idleTimeoutMs, refuseChunked, graceMs } =
      config.server
    const transport = await start(
      {
        host,
        port,
        tls,
        limits: { headerBytes, bodyBytes, requestTimeoutMs, idleTimeoutMs, refuseChunked },
        onHandlerError: error => log.error({ err: error }, 'an answer failed'),
        onWaiting: text => log.warn(text),
      },
      createHandler(new Router(plugins.registry, engine, visitors.sessions), visitors, plugins.registry, config, log),
    )
    opened.push({ close: () => transport.close(graceMs) })
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
        lifecycle.state = 'stopping'
        closing ??= closeAll()
        return closing
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/**
 * The part of the config that the engine needs; also for commands that work on the store without serving it.
 * @param plugins add dataclasses and code
 */
export function engineOptions(config: Config, plugins: readonly Plugin[] = []): EngineOptions {
  const { storage, protocol, query, pool, vector, entitySet, upload } = config
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
    vectorIndex: { minRows: vector.indexMinRows, recall: vector.recall },
    entitySets: { ...entitySet, setsPerCreator: config.quota.entitySetsPerSession },
    uploads: upload,
    binaryCacheBytes: storage.binaryCacheBytes,
    writeQueueBytes: config.write.queueBytes,
  }
}

const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)
