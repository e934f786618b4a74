import { inspect } from 'node:util'
import type { Logger } from 'pino'
import { ProtocolError } from '../engine/index.ts'
import type { PluginOrigins } from './plugin-origins.ts'

/** A running server whose plugins have code on the kernel's side. */
interface Contained {
  readonly origins: PluginOrigins
  readonly log: Logger
}

const servers = new Set<Contained>()

/**
 * Keeps the process alive when code of a plugin fails outside of a request: a timer that throws, a rejection without a handler, an
 * `error` event without a listener. A fault of the kernel itself ends the process as before, for nothing says what state it is in.
 * @returns ends that, when the server is closed
 */
export function containFaults(origins: PluginOrigins, log: Logger): () => void {
  if (origins.names.length === 0) return () => {}
  const contained = { origins, log }
  if (servers.size === 0) process.on('uncaughtException', onUncaught)
  servers.add(contained)
  return () => {
    if (servers.delete(contained) && servers.size === 0) process.off('uncaughtException', onUncaught)
  }
}

/** Third-party plugin that a trace leads to. */
export function pluginIn(error: unknown): string | undefined {
  for (const { origins } of servers) {
    const origin = origins.of(error)
    if (typeof origin === 'object') return origin.plugin
  }
  return undefined
}

/** An error for the log. Code may throw what throws again when it is looked at. */
function readable(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(`${inspect(thrown)} was thrown`)
    // All that the log reads of it.
    void [thrown.name, thrown.message, thrown.stack, thrown.cause, ...Object.values(thrown)]
    return thrown
  } catch {
    return new Error('what was thrown cannot be looked at')
  }
}

/** Rejections come here too, as Node.js raises them. */
function onUncaught(thrown: unknown): void {
  const found = [...servers].map(server => ({ ...server, origin: server.origins.of(thrown) }))
  const error = readable(thrown)
  const owner = found.find(({ origin }) => typeof origin === 'object')
  if (owner) {
    const { plugin } = owner.origin as { plugin: string }
    owner.log.error({ plugin, err: error }, `code of plugin ${plugin} failed outside of a request`)
    return
  }
  // The engine refuses with a ProtocolError: a plugin has not waited for its promise, whose trace names the engine alone.
  const isKernels = !(error instanceof ProtocolError) && found.some(({ origin }) => origin === 'kernel')
  if (!isKernels) {
    const { log, origins } = found[0]!
    const text = 'something failed outside of a request; its trace does not name the plugin that it belongs to'
    log.error({ plugins: origins.names, err: error }, text)
    return
  }
  // A test runner, for example: then it is for that to decide.
  if (process.listenerCount('uncaughtException') > 1) return
  found[0]!.log.fatal({ err: error }, 'the kernel failed; the process ends')
  process.exit(1)
}
