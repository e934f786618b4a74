import type { Config } from '../../config/load-config.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { reachableHost } from '../transport/reachable-host.ts'

/**
 * Address of a running server, see {@link givenAddress}.
 * @param address value of `--url`; by default the server that the configuration serves on this machine
 * @throws {InputError}
 */
export function serverAddress(address: string | undefined, { server }: Config): string {
  if (address !== undefined) return givenAddress(address)
  const { port, tls, basePath } = server
  return `${tls ? 'https' : 'http'}://${reachableHost(server.host)}:${port}${basePath}`
}

/**
 * Address that a user gave, in any form that leads to the server: with or without `/rest`, `/mcp` or slashes at the end.
 * @param option begins the message of an error
 * @returns the address without these
 * @throws {InputError} the text is not the address of a server, or contains a password
 */
export function givenAddress(text: string, option = '--url: '): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw new InputError(`${option}${JSON.stringify(text)} is not an address such as http://127.0.0.1:8080`)
  // Not repeated: the message may be logged.
  if (address.username || address.password)
    throw new InputError(`${option}the address has a user or a password; give them as options, which --help lists`)
  return `${address.origin}${address.pathname}`.replace(/\/+$/, '').replace(/\/+(?:rest|mcp)$/, '')
}
