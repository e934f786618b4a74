import type { Config } from '../../config/load-config.ts'

/**
 * Address of a running server, without `/rest` and without a slash at the end.
 * @param address by default the server that the configuration serves on this machine
 * @throws {Error} the given address is none
 */
export function serverAddress(address: string | undefined, { server }: Config): string {
  if (address !== undefined && !URL.canParse(address)) {
    throw new Error(`--url: ${JSON.stringify(address)} is not an address such as http://127.0.0.1:8080`)
  }
  const { port, tls, basePath } = server
  const ownAddress = `${tls ? 'https' : 'http'}://${reachable(server.host)}:${port}${basePath}`
  return (address ?? ownAddress).replace(/\/+$/, '').replace(/\/(?:rest|mcp)$/, '')
}

/** Host in a URL that reaches the address on which a server listens. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
