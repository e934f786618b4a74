import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/load-config.ts'
import { readJsonFile } from '../config/read-json-file.ts'
import { addSecrets } from '../engine/base/known-secrets.ts'
import {
  ByteBudget,
  type Engine,
  type EngineOptions,
  isStoreLocked,
  type JsonBounds,
  openEngine,
} from '../engine/index.ts'
import { besidesOf, keptLog } from './backup-files.ts'
import { exposureWarnings } from './auth/exposed-files.ts'
import { openServerWarning } from './auth/open-server.ts'
import { openRoles } from './auth/roles-file.ts'
import { checkPluginGrants } from './auth/unknown-grants.ts'
import { openConnections } from './connections.ts'
import { CertificateRenewal } from './certificate-renewal.ts'
import { containFaults } from './contain-faults.ts'
import { createLogger } from './log.ts'
import type { Lifecycle } from './base/lifecycle.ts'
import { AccessLog } from './metrics/access-log.ts'
import { MetricSources } from './metrics/metrics.ts'
import { requestMeter } from './metrics/request-meter.ts'
import { RequestCounts } from './metrics/request-counts.ts'
import { serverMetrics } from './metrics/server-metrics.ts'
import { MigrationLog } from './migration-log.ts'
import { ModuleBundler } from './module-bundler.ts'
import { importPlugins, type Plugin } from './plugin-loader.ts'
import { withPluginModels } from './plugin-model.ts'
import { PluginOrigins } from './plugin-origins.ts'
import { registerPlugins } from './register-plugins.ts'
import { Router } from './router.ts'
import type { RequestContext } from './request.ts'
import { RequestHandlers } from './server.ts'
import { openVisitors } from './session/open-visitors.ts'
import type { Visitors } from './session/visitors.ts'
import { PagePolicy } from './session/page-policy.ts'
import { connectionBound } from './transport/connection-limit.ts'
import { addressesOf, requireFree } from './transport/free-address.ts'
import { reachableHost } from './transport/reachable-host.ts'
import { selectTransport } from './transport/select.ts'
import type { TransportLimits, TransportName } from './transport/transport.ts'
import { TrustedProxies } from './transport/trusted-proxies.ts'

/*
 * V8 learns which allocation sites make long-lived objects and allocates those in the old generation. It learns at the start, when
 * all objects live long, and is wrong about those of requests: dead ones in the old generation kept what they referred to alive until
 * the next full collection, and copying that was a fifth of the time of a request for one entity (33 µs with it, 27 without).
 */
setFlagsFromString('--no-allocation-site-pretenuring')

/** Time within which clients that send requests back to back send the next one. */
const QUIET_MS = 500

export interface Server {
  /** `http://127.0.0.1:8080`, without a slash at the end. */
  readonly url: string
  readonly port: number
  readonly transport: TransportName
  readonly engine: Engine
  /** Names of the loaded plugins in their order. */
  readonly plugins: readonly string[]
  /** Reads the TLS files again, if there are any. An unusable pair is logged, and the certificate stays. */
  renewCertificate(): Promise<void>
  /**
   * Closes without failing a request: clients and load balancers have `server.drainMs` to notice that `/health/ready` answers 503,
   * and requests in flight when the port closes are answered.
   */
  stop(): Promise<void>
  /** Stops accepting, finishes requests in flight, then closes plugins and store. Safe to call twice. */
  close(): Promise<void>
}

/** Parts of a server, read from files and checked as far as can be done without the store. */
export interface ServerParts {
  readonly config: Config
  readonly plugins: readonly Plugin[]
  readonly engine: EngineOptions
}

/** @throws {ModelError} {@link PluginError} {@link ConfigError} each with a remedy */
export async function readParts(config: Config, bundler: ModuleBundler): Promise<ServerParts> {
  checkNetwork(config)
  addSecrets([config.server.tls?.passphrase ?? ''])
  const plugins = await importPlugins(config, bundler)
  return { config, plugins, engine: engineOptions(config, plugins) }
}

/** @throws {ConfigError} with all problems of hosts, origins and proxies */
function checkNetwork({ server }: Config): void {
  const problems = [() => new PagePolicy(server), () => new TrustedProxies(server.trustedProxies)].flatMap(make => {
    try {
      make()
      return []
    } catch (error) {
      if (error instanceof ConfigError) return error.problems
      throw error
    }
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

interface StartOptions {
  /** Clock for lifetimes. */
  now?: () => number
  /** Starts all threads once the server is ready. Otherwise they start on demand. */
  warmUp?: boolean
  /** Called before the store is opened, when the addresses are known to be free. */
  prepare?: () => Promise<void>
}

/** Starts a server from a configuration. @throws the errors of {@link readParts} and {@link startServer} */
export async function createServer(config: Config, log?: Logger, options?: StartOptions): Promise<Server> {
  const bundler = new ModuleBundler()
  try {
    const server = await startServer(await readParts(config, bundler), log, options)
    const removeBundles = (): void => bundler.close()
    return {
      ...server,
      stop: () => server.stop().finally(removeBundles),
      close: () => server.close().finally(removeBundles),
    }
  } catch (error) {
    bundler.close()
    throw error
  }
}

/**
 * Assembles a server from its parts: store, plugins, router, HTTP edge. A taken port is an error before the store is opened; the port opens
 * last, when everything has been checked, so that no request meets a half-loaded server.
 * @throws {ModelError} {@link PluginError} {@link RolesError} and errors of the store or the address, each with a remedy
 */
export async function startServer(
  { config, plugins: importedPlugins, engine: options }: ServerParts,
  log: Logger = createLogger(config),
  { now = Date.now, warmUp = false, prepare }: StartOptions = {},
): Promise<Server> {
  const resources: { close(): void | Promise<void> }[] = []
  /** Closes everything, last opened first. */
  const closeAll = async (): Promise<void> => {
    for (const each of resources.splice(0).reverse()) await each.close()
  }
  try {
    for (const address of addressesOf(config)) await requireFree(address, () => isStoreLocked(config.data))
    await prepare?.()
    const engine = await openEngine({ ...options, now, ...engineEvents(log) })
    resources.push(engine)
    resources.push(openRoles(config, engine, log))
    checkPluginGrants(config, engine)
    const visitors = await openVisitors(config, engine, log, now)
    resources.push(visitors)
    const lifecycle: Lifecycle = { state: 'starting' }
    const origins = new PluginOrigins(importedPlugins)
    resources.push({ close: containFaults(origins, log) })
    const { metrics, requests } = metricsOf(config, importedPlugins, engine, log)
    const context = requestContext(config, engine, visitors)
    const plugins = await registerPlugins(importedPlugins, {
      engine,
      visitors,
      lifecycle,
      log,
      now,
      basePath: config.server.basePath,
      configFolder: config.pathsFolder,
      metrics,
      dispatch: (inner, request) => handlers.dispatch(inner, request),
      argumentBytes: context.limits.argumentBytes,
    })
    resources.push(plugins)
    const { registry } = plugins
    const router = new Router(registry, context)
    const accessLog = config.server.accessLog ? new AccessLog(log) : undefined
    const handlers = new RequestHandlers({ router, visitors, registry, origins, config, log, accessLog })
    const bound = connectionBound(config.server.maxConnections, [config.pool.threads, config.functions.threads])
    const choice = selectTransport(config.server.transport, config.server.headerBytes, bound)
    const transport = await choice.start(
      {
        ...edgeOptions(config, log),
        limits: { ...edgeLimits(config), maxConnections: bound.maxConnections },
        memory: options.buffers,
        meter: requestMeter(requests, log, engine, config.log, accessLog),
      },
      handlers.handle,
    )
    let quietMs = 0
    resources.push({ close: () => transport.close(config.server.graceMs, quietMs) })
    engine.loopDelay.start()
    const { tls, drainMs } = config.server
    const renewal = tls && new CertificateRenewal(transport, tls, log)
    if (renewal) resources.push(renewal)
    metrics.add(undefined, () => serverMetrics(transport, visitors.sessions, lifecycle))
    await plugins.ready()
    lifecycle.state = 'ready'
    const openWarning = openServerWarning(config, engine.permissions.hasRoles)
    const fileWarnings = exposureWarnings(
      config,
      importedPlugins.flatMap(({ secretFiles }) => secretFiles),
    )
    for (const warning of [...choice.warnings, ...transport.warnings, ...fileWarnings]) log.warn(warning)
    if (openWarning) log.warn(openWarning)
    const url = `${tls ? 'https' : 'http'}://${reachableHost(config.server.host)}:${transport.port}`
    log.debug({ plugins: plugins.names }, 'plugins are registered')
    // A query that needs another thread waits for it; all other requests are answered meanwhile.
    if (warmUp) engine.warmUp()

    let closing: Promise<void> | undefined
    const close = (): Promise<void> => {
      if (closing) return closing
      lifecycle.state = 'stopping'
      log.info('stopping')
      closing = closeAll().then(() => log.info('stopped'))
      return closing
    }
    return {
      url,
      port: transport.port,
      transport: choice.name,
      engine,
      plugins: plugins.names,
      renewCertificate: async () => renewal?.renew(),
      async stop() {
        lifecycle.state = 'stopping'
        if (drainMs > 0) {
          log.info('draining')
          await delay(drainMs)
        }
        quietMs = QUIET_MS
        await close()
      },
      close,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Event handlers that log lines about the engine. */
function engineEvents(log: Logger): Partial<EngineOptions> {
  const migrationLog = new MigrationLog(log)
  return {
    onNote: (text, level) => log[level ?? 'info'](text),
    onInternalError: text => log.error(text),
    onCodeLog: ({ level, text, place, error, trace, job }) =>
      log[level](
        { ...place, trace, job: job?.id, attempt: job?.attempt, ...(error && { err: withoutClass(error) }) },
        text,
      ),
    onProgress: step => migrationLog.show(step),
  }
}

/** @returns `requests`: undefined if requests are not counted */
function metricsOf(config: Config, plugins: readonly Plugin[], engine: Engine, log: Logger) {
  const metrics = new MetricSources(log)
  const names = plugins.map(({ definition }) => definition.name)
  const requests = config.metrics.enabled ? new RequestCounts(names) : undefined
  if (requests) metrics.add(undefined, () => requests.read())
  metrics.add(undefined, () => engine.metrics.read())
  return { metrics, requests }
}

function requestContext({ server, functions, auth }: Config, engine: Engine, visitors: Visitors): RequestContext {
  const { commandBodyBytes, jsonDepth, jsonValues, basePath } = server
  const argumentBytes = Math.min(functions.argumentBytes, Math.floor(functions.memoryBytes / 8))
  return {
    engine,
    sessions: visitors.sessions,
    pages: visitors.pages,
    limits: { commandBodyBytes, argumentBytes, json: { depth: jsonDepth, values: jsonValues } },
    basePath,
    guestsAdministrate: auth.guestsAdministrate,
  }
}

function edgeOptions({ server: { host, port, tls, trustedProxies } }: Config, log: Logger) {
  return {
    host,
    port,
    tls,
    trustedProxies: new TrustedProxies(trustedProxies),
    onHandlerError: (error: unknown, plugin: string | undefined) =>
      log.error({ plugin, err: error }, 'an answer failed'),
    onWaiting: (text: string) => log.warn(text),
    onWarning: (text: string) => log.warn(text),
  }
}

function edgeLimits({ server }: Config): Omit<TransportLimits, 'maxConnections'> {
  const { headerBytes, bodyBytes, bufferBytes, requestTimeoutMs, idleTimeoutMs, refuseChunked } = server
  const { answerTimeoutMs, minAnswerRate } = server
  return {
    headerBytes,
    // A larger body would never fit into the buffers.
    bodyBytes: Math.min(bodyBytes, bufferBytes),
    requestTimeoutMs,
    idleTimeoutMs,
    refuseChunked,
    answerTimeoutMs,
    minAnswerRate,
  }
}

/** An error as plain data, so that pino logs the name of the error as its type, and not the name of its class. */
const withoutClass = <T extends object>(error: T): T => Object.assign(Object.create(null), error) as T

/**
 * Options of the engine from the config; also for commands that work on the store without serving it.
 * @param plugins add dataclasses and code
 * @param model content of the model file; by default of the one in the config
 */
export function engineOptions(
  config: Config,
  plugins: readonly Plugin[] = [],
  model: unknown = readJsonFile(config.model, 'model'),
): EngineOptions {
  const { storage, protocol, query, pool, vector, entitySet, upload } = config
  const { deadlineSeconds, asyncDeadlineSeconds, loadSeconds, breakerPauseSeconds, ...functions } = config.functions
  const { queueBytes: writeQueueBytes, ...write } = config.write
  const { basePath } = config.server
  return {
    path: config.data,
    unfinished: UNFINISHED_COPY,
    model: withPluginModels(model, plugins),
    readModel: () => withPluginModels(readJsonFile(config.model, 'model'), plugins),
    functions: {
      ...functions,
      modules: plugins.flatMap(({ classes }) => classes),
      deadlineMs: deadlineSeconds * 1000,
      asyncDeadlineMs: asyncDeadlineSeconds * 1000,
      loadMs: loadSeconds * 1000,
      breakerPauseMs: breakerPauseSeconds * 1000,
      argumentBounds: argumentBounds(config),
    },
    tasks: plugins.flatMap(({ tasks }) => tasks),
    wire: basePath === '' ? protocol : { ...protocol, basePath },
    allowLoss: storage.allowLoss,
    lock: { kind: storage.lock, waitMs: storage.lockWaitMs },
    log: keptLog(config, plugins),
    besides: besidesOf(config),
    mapSizeBytes: storage.mapSizeBytes,
    cacheBytes: storage.cacheBytes,
    memoryBytes: storage.memoryBytes,
    imageMinutes: storage.imageMinutes,
    imageChanges: storage.imageChanges,
    connections: openConnections(config),
    sharedConnection: config.nodes.connection,
    limits: query,
    buffers: ByteBudget.of(config.server.bufferBytes),
    spoolBytes: storage.spoolBytes,
    exportBytes: storage.exportBytes,
    pool,
    vectorIndex: { minRows: vector.indexMinRows, recall: vector.recall },
    entitySets: { ...entitySet, setsPerCreator: config.quota.entitySetsPerSession },
    uploads: upload,
    binaryCacheBytes: storage.binaryCacheBytes,
    writeQueueBytes,
    write: { ...write, json: { depth: config.server.jsonDepth, values: config.server.jsonValues } },
  }
}

/** Files of `tesser clone`: of a server, and of a database. */
export const CLONE_FILES = { server: 'clone.json', database: 'clone.ndjson' } as const

const UNFINISHED_COPY = {
  names: Object.values(CLONE_FILES),
  reason: 'is an unfinished copy; continue with tesser clone … --resume, or remove the folder',
}

/** Bounds of arguments: objects take at least 64 bytes of memory, and arguments may fill a quarter of it. */
function argumentBounds({ server, functions }: Config): JsonBounds {
  return { depth: server.jsonDepth, values: Math.min(server.jsonValues, Math.floor(functions.memoryBytes / 256)) }
}
