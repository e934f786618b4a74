import { inspect } from 'node:util'
import type { Logger } from 'pino'
import { ProtocolError } from '../engine/index.ts'
import type { PluginOrigins } from './plugin-origins.ts'

/** A running server with plugin code in the kernel thread. */
interface Contained {
  readonly origins: PluginOrigins
  readonly log: Logger
}

const servers = new Set<Contained>()

/**
 * Keeps the process alive when plugin code fails outside of a request: a timer that throws, a rejection without a handler, an
 * `error` event without a listener. A fault of the kernel itself still ends the process, since its state is unknown then.
 * @returns a function that stops this, for when the server closes
 */
export function containFaults(origins: PluginOrigins, log: Logger): () => void {
  if (origins.names.length === 0) return () => {}
  const server = { origins, log }
  if (servers.size === 0) process.on('uncaughtException', onUncaught)
  servers.add(server)
  return () => {
    if (servers.delete(server) && servers.size === 0) process.off('uncaughtException', onUncaught)
  }
}

/** Third-party plugin that the stack trace of an error points to. */
export function pluginIn(error: unknown): string | undefined {
  for (const { origins } of servers) {
    const origin = origins.of(error)
    if (typeof origin === 'object') return origin.plugin
  }
  return undefined
}

/** Converts a thrown value to an error for the log. Reading a value that plugin code throws may throw again. */
function readable(fault: unknown): Error {
  try {
    if (!(fault instanceof Error)) return new Error(`${inspect(fault)} was thrown`)
    // Reads all properties that the log will read.
    void [fault.name, fault.message, fault.stack, fault.cause, ...Object.values(fault)]
    return fault
  } catch {
    return new Error('the thrown value cannot be inspected')
  }
}

/** Handles uncaught errors and rejections: Node.js raises rejections as uncaught exceptions. */
function onUncaught(fault: unknown): void {
  const candidates = [...servers].map(server => ({ ...server, origin: server.origins.of(fault) }))
  const error = readable(fault)
  const owner = candidates.find(({ origin }) => typeof origin === 'object')
  if (owner) {
    const { plugin } = owner.origin as { plugin: string }
    owner.log.error({ plugin, err: error }, `code of plugin ${plugin} failed outside of a request`)
    return
  }
  // A ProtocolError is a refusal by the engine: a plugin did not await its promise, and the trace only names the engine.
  const isKernels = !(error instanceof ProtocolError) && candidates.some(({ origin }) => origin === 'kernel')
  if (!isKernels) {
    const { log, origins } = candidates[0]!
    const text = 'something failed outside of a request; its trace does not name the plugin that it belongs to'
    log.error({ plugins: origins.names, err: error }, text)
    return
  }
  // Another listener, such as that of a test runner, decides.
  if (process.listenerCount('uncaughtException') > 1) return
  candidates[0]!.log.fatal({ err: error }, 'the kernel failed; the process ends')
  process.exit(1)
}
