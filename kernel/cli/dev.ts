import { once } from 'node:events'
import { relative } from 'node:path'
import { watch } from 'chokidar'
import type { Config } from '../../config/load-config.ts'
import { describeClasses } from '../../engine/index.ts'
import { readParts, type ServerParts, startServer } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { loadDemo } from './demo.ts'
import { greeting, stopSignal } from './start.ts'

/** Time in which changes that belong together come, as when an editor saves several files. */
const GATHERING_MS = 50

/**
 * `tesser dev`: serves, and does so anew when the config file, the model or a file of a plugin changes. With something that
 * cannot be used the old version goes on.
 * @param readConfig called again at every change
 * @returns when a signal has come and everything is closed
 */
export async function dev(readConfig: () => Config, print: (line: string) => void): Promise<void> {
  const stop = stopSignal()
  const bundler = new ModuleBundler(true)
  let parts = await readParts(readConfig(), bundler)
  if (parts.config.demo) await loadDemo(parts.config, print)
  let server = await startServer(atPort(parts, parts.config.server.port))
  // Whatever was asked for: clients expect the next one where this one is.
  const { port } = server

  const files = (): string[] => {
    const { file, model } = parts.config
    return [...(file ? [file] : []), model, ...bundler.sources]
  }
  const watcher = watch(files(), { ignoreInitial: true })
  await once(watcher, 'ready')
  print(`${greeting(parts.config, server)}\nA change of config, model or plugins starts it anew.`)

  const changed = new Set<string>()
  let work: Promise<void> | undefined
  watcher.on('all', (_, path) => {
    changed.add(path)
    work ??= reloadAll().finally(() => (work = undefined))
  })

  await stop
  // First: to add files opens a watcher again.
  await work
  await watcher.close()
  await server.close()
  bundler.close()

  async function reloadAll(): Promise<void> {
    while (changed.size > 0) {
      await new Promise(resolve => setTimeout(resolve, GATHERING_MS))
      const names = [...changed].map(path => relative(process.cwd(), path)).join(', ')
      changed.clear()
      const startedAt = performance.now()
      try {
        await reload()
        print(`${names} changed: started anew in ${Math.round(performance.now() - startedAt)} ms`)
      } catch (error) {
        print(`${names} changed, but the old version goes on: ${(error as Error).message}`)
      }
      watcher.add(files())
    }
  }

  /** @throws {Error} why the server is as it was */
  async function reload(): Promise<void> {
    const next = await readParts(readConfig(), bundler)
    await describeClasses(next.engine)
    await server.close()
    try {
      server = await startServer(atPort(next, port))
      parts = next
    } catch (error) {
      server = await startServer(atPort(parts, port))
      throw error
    }
  }
}

/** By node:http, because the uWebSockets.js builds cannot open a port again for a minute after they had connections. */
const atPort = ({ config, ...rest }: ServerParts, port: number): ServerParts => ({
  ...rest,
  config: { ...config, server: { ...config.server, port, transport: 'node-http' } },
})
