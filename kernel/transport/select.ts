import type { ConnectionBound } from './connection-limit.ts'
import { startNodeHttp } from './node-http.ts'
import type { StartTransport, TransportName } from './transport.ts'
import { startUws } from './uws.ts'
import { loadUws } from './uws-module.ts'

/** Selected transport, and reasons why preferred ones are unusable. */
interface TransportSelection {
  name: TransportName
  start: StartTransport
  /** One sentence per transport that was passed over, for the log at start. */
  passedOver: readonly string[]
  /** Shortcomings of the transport, each with a remedy. */
  warnings: readonly string[]
}

const PREFERENCE: readonly TransportName[] = ['uws', 'uws-node20', 'node-http']

/**
 * Selects the fastest transport that loads on this machine, or the named one. Source: design, section 7.
 * @param bound connection limit; if it is required, all transports but `uws-node20` enforce it
 * @param headerBytes limit of a request head; the current uWebSockets.js reads it only while it is loaded
 * @throws {Error} if a named transport does not load, with the reason
 */
export function selectTransport(
  preferredName: TransportName | 'auto',
  headerBytes: number,
  bound?: ConnectionBound,
): TransportSelection {
  const passedOver: string[] = []
  const warnings: string[] = []
  for (const name of preferredName === 'auto' ? PREFERENCE : [preferredName]) {
    if (name === 'uws-node20' && bound?.isRequired) {
      const problem = `transport uws-node20 cannot limit connections, here to ${bound.maxConnections}`
      if (preferredName === 'auto') {
        passedOver.push(`${problem} (server.maxConnections, or half of ulimit -n, which can be raised)`)
        continue
      }
      warnings.push(
        `${problem}, and keeps a core busy while the system lets the process open no more files; set server.transport to node-http`,
      )
    }
    try {
      const start = name === 'node-http' ? startNodeHttp : startUws(name, loadUws(name, headerBytes))
      if (preferredName === 'auto' && passedOver.length > 0) warnings.push(fallbackWarning(name, passedOver))
      return { name, start, passedOver, warnings }
    } catch (cause) {
      const problem = `transport ${name} does not load: ${lastLine(cause)}`
      if (preferredName !== 'auto') {
        throw new Error(`${problem}; "auto" takes the fastest of ${PREFERENCE.join(', ')} that does`, { cause })
      }
      passedOver.push(problem)
    }
  }
  throw new Error(`no transport loads: ${passedOver.join('; ')}`)
}

/** Disadvantages of the transports that `auto` takes if a better one does not load. */
const DISADVANTAGES: Readonly<Record<Exclude<TransportName, 'uws'>, string>> = {
  'uws-node20': 'closes a connection without an answer if a request head of more than 4 KB arrives in pieces',
  'node-http': 'reads about 40 % as many entities per second as uws',
}

/** @param reasons why the transports before `name` are not used, at least one */
const fallbackWarning = (name: TransportName, reasons: readonly string[]): string =>
  `${name} ${DISADVANTAGES[name as 'node-http']}. It serves because ${reasons.join('; ')}. ${REMEDY}; to keep ${name} without this warning, name it in server.transport`

const REMEDY =
  'uws loads in Node.js 20 to 25 with glibc 2.38 or later (Debian 13, Ubuntu 24.04), on macOS and on Windows'

/** Line of a loader error that names the cause: the last line, not counting a stack of requiring files. */
function lastLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const lines = message.split('\nRequire stack:')[0]!.trim().split('\n')
  return lines.at(-1)!.replace(/^Error: | \(required by .*\)$/g, '')
}
