import type { ConnectionBound } from './connection-limit.ts'
import { startNodeHttp } from './node-http.ts'
import type { StartTransport, TransportName } from './transport.ts'
import { startUws } from './uws.ts'
import { loadUws } from './uws-module.ts'

/** The selected transport, and why the ones before it do not serve. */
interface TransportSelection {
  name: TransportName
  start: StartTransport
  /** One sentence per transport that was tried and did not load, for the log at start. */
  passedOver: readonly string[]
  /** Options that the named transport cannot fulfil. */
  warnings: readonly string[]
}

const PREFERENCE: readonly TransportName[] = ['uws', 'uws-node20', 'node-http']

/**
 * The fastest transport that loads on this machine, or the named one. Source: design, section 7.
 * @param bound a required one is held by all transports but `uws-node20`
 * @param headerBytes limit of a request head; the current uWebSockets.js takes it when it is loaded, and only then
 * @throws {Error} when a transport is named and does not load, with the reason
 */
export function selectTransport(
  preferred: TransportName | 'auto',
  headerBytes: number,
  bound?: ConnectionBound,
): TransportSelection {
  const passedOver: string[] = []
  const warnings: string[] = []
  for (const name of preferred === 'auto' ? PREFERENCE : [preferred]) {
    if (name === 'uws-node20' && bound?.isRequired) {
      const problem = `transport uws-node20 cannot limit connections, here to ${bound.maxConnections}`
      if (preferred === 'auto') {
        passedOver.push(`${problem} (server.maxConnections, or half of ulimit -n)`)
        continue
      }
      warnings.push(
        `${problem}, and keeps a core busy while the system lets the process open no more files; use another one`,
      )
    }
    try {
      const start = name === 'node-http' ? startNodeHttp : startUws(name, loadUws(name, headerBytes))
      return { name, start, passedOver, warnings }
    } catch (cause) {
      const problem = `transport ${name} does not load: ${lastLine(cause)}`
      if (preferred !== 'auto') {
        throw new Error(`${problem}; "auto" takes the fastest of ${PREFERENCE.join(', ')} that does`, { cause })
      }
      passedOver.push(problem)
    }
  }
  throw new Error(`no transport loads: ${passedOver.join('; ')}`)
}

/** Loader errors name the cause last, after advice or before a stack of requiring files. */
function lastLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const lines = message.split('\nRequire stack:')[0]!.trim().split('\n')
  return lines.at(-1)!
}
