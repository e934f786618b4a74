import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { type AddressOptions, cannotListen } from './cannot-listen.ts'
import { isWildcard } from './reachable-host.ts'

interface Listeners {
  readonly server: AddressOptions
  readonly metrics: AddressOptions & { readonly enabled: boolean }
  readonly disablePlugins: readonly string[]
}

/** Addresses on which a server with this configuration listens. */
export function addressesOf({ server, metrics, disablePlugins }: Listeners): AddressOptions[] {
  const hasOwnPort = metrics.enabled && metrics.port > 0 && !disablePlugins.includes('metrics')
  const { host, port } = metrics
  return [
    { host: server.host, port: server.port },
    ...(hasOwnPort ? [{ host, port, section: 'metrics' as const }] : []),
  ]
}

/**
 * Checks that a server can listen on an address, by listening for a moment, before anything is loaded for it.
 * @param isAwaited true if the start waits for another process anyway, which may have the address until it ends
 * @throws {Error} with the reason and what to change
 */
export async function requireFree(address: AddressOptions, isAwaited = () => false): Promise<void> {
  const error = await listenError(address)
  if (error && !(error.code === 'EADDRINUSE' && isAwaited())) throw cannotListen(address, error)
}

/**
 * Error of Node.js when it listens on an address; also for the builds of uWebSockets.js, which give no reason. Undefined when only closed
 * connections occupy the port.
 */
export async function listenError({ host, port }: AddressOptions): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer().listen(port, host)
  const error = await once(server, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )
  server.close()
  if (error?.code !== 'EADDRINUSE') return error
  const socket = connect(port, isWildcard(host) ? 'localhost' : host)
  const isAnswered = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isAnswered ? error : undefined
}
