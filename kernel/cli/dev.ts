import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { watch } from 'chokidar'
import type { Config } from '../../config/load-config.ts'
import { describeClasses, loadModel, writeTypes } from '../../engine/index.ts'
import { createLogger } from '../log.ts'
import { readParts, type Server, type ServerParts, startServer } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { announce } from './announce.ts'
import { TypeChecker } from './check-types.ts'
import { preparation } from './demo.ts'
import { logOwnConsole } from './log-console.ts'
import { stopSignal, unlessStopped } from './start.ts'

/** Time during which changes are gathered, since an editor may save several files. */
const GATHERING_MS = 50

/**
 * `tesser dev`: serves, and restarts when the config file, the model or a file of a plugin changes. If the new version is unusable, the old
 * one continues. Errors of the TypeScript compiler are logged and do not stop the server.
 * @param readConfig called again at every change
 * @returns when a signal has arrived and everything is closed
 */
export async function dev(readConfig: () => Config, print: (text: string) => void): Promise<void> {
  const stop = stopSignal()
  const bundler = new ModuleBundler(true)
  let parts = await readParts(readConfig(), bundler)
  const log = createLogger(parts.config)
  logOwnConsole(log)
  const open = async (): Promise<Server> => {
    rewriteTypes(parts)
    const prepare = preparation(parts.config, log)
    return startServer(atPort(parts, parts.config.server.port), log, { prepare })
  }
  let server = await unlessStopped(open(), stop)
  // Clients expect the next server on the port of this one, whichever port was requested.
  const { port } = server

  const files = (): string[] => {
    const { file, model } = parts.config
    return [...(file ? [file] : []), model, ...bundler.sources]
  }
  const watcher = watch(files(), { ignoreInitial: true })
  await once(watcher, 'ready')
  announce(parts.config, server, { log, print, hint: 'It restarts when config, model or plugins change.' })
  const types = new TypeChecker(text => log.error(text))
  reportFaults()

  const changedPaths = new Set<string>()
  let work: Promise<void> | undefined
  watcher.on('all', (_, path) => {
    changedPaths.add(path)
    work ??= reloadAll().finally(() => (work = undefined))
  })

  await stop
  types.stop()
  // First, because adding files reopens a watcher.
  await work
  await watcher.close()
  await server.close()
  bundler.close()

  async function reloadAll(): Promise<void> {
    while (changedPaths.size > 0) {
      await new Promise(resolve => setTimeout(resolve, GATHERING_MS))
      const names = [...changedPaths].map(path => relative(process.cwd(), path)).join(', ')
      changedPaths.clear()
      const startedAt = performance.now()
      try {
        await reload()
        log.info(`${names} changed: restarted in ${Math.round(performance.now() - startedAt)} ms`)
        reportFaults()
      } catch (error) {
        const outcome = error instanceof NothingServed ? 'and nothing is served until the next change' : GOES_ON
        log.error(`${names} changed, ${outcome}: ${messageOf(error)}`)
      }
      watcher.add(files())
    }
  }

  /** Logs warnings and starts the check of types, neither of which stops the server. */
  function reportFaults(): void {
    for (const warning of bundler.warnings) log.warn(warning)
    bundler.warnings.clear()
    types.start(parts.config.folder)
  }

  /** Starts the new version. @throws {Error} the reason why the old version continues */
  async function reload(): Promise<void> {
    const next = await readParts(readConfig(), bundler)
    await describeClasses(next.engine)
    rewriteTypes(next)
    await server.close()
    try {
      log.level = next.config.log.level
      server = await startServer(atPort(next, port), log)
      parts = next
    } catch (error) {
      // The store may have been migrated to a model that the old version does not have.
      server = await startServer(atPort(parts, port), log).catch(again => {
        throw new NothingServed(`${messageOf(error)}\nThe old version cannot continue: ${messageOf(again)}`)
      })
      throw error
    }
  }
}

const GOES_ON = 'but the old version continues'

/** Error: neither the new version nor the old one can be started. */
class NothingServed extends Error {}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Updates the file of `tesser types` in the folder of the config, if there is one: editors read it. */
function rewriteTypes({ config, engine }: ServerParts): void {
  const file = join(config.folder, 'tesser-model.d.ts')
  if (!existsSync(file)) return
  const text = writeTypes(loadModel(engine.model), basename(config.model))
  // Written only if changed: otherwise compilers that watch the file would restart.
  if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}

/** Uses node:http, because the uWebSockets.js builds cannot reopen a port for a minute after they had connections. */
const atPort = ({ config, ...rest }: ServerParts, port: number): ServerParts => ({
  ...rest,
  config: { ...config, server: { ...config.server, port, transport: 'node-http' } },
})
