import { setTimeout } from 'node:timers/promises'
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { cannotListen } from './cannot-listen.ts'
import { listenError } from './free-address.ts'
import type { TransportOptions } from './transport.ts'
import type { UwsModule } from './uws-module.ts'

const RETRY_MS = 500
/** Time for which Linux keeps a closed connection in the state TIME_WAIT, with a margin. */
const TIME_WAIT_MS = 65_000
/** LIBUS_LISTEN_DEFAULT. */
export const SHARED = 0

/**
 * Listens exclusively at first, to detect a server that already has the port. Then listens such that other sockets of this user can listen
 * on it too (SO_REUSEPORT), for two reasons. A certificate is renewed by a second app on the port. And neither build reuses an address
 * otherwise: the system keeps connections that a server has closed, and with them the port, for another minute (TIME_WAIT), unless both
 * servers share the port. If the previous server did not share it, this function waits for the port.
 */
export async function listen(uws: UwsModule, app: TemplatedApp, options: TransportOptions): Promise<us_listen_socket> {
  const { host, onWaiting } = options
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    const exclusive = await tryToListen(app, options, uws.LIBUS_LISTEN_EXCLUSIVE_PORT)
    const port = exclusive ? uws.us_socket_local_port(exclusive) : options.port
    if (exclusive) uws.us_listen_socket_close(exclusive)
    else {
      const error = await listenError({ host, port })
      if (error) throw cannotListen(options, error)
    }
    const socket = port !== 0 && (await tryToListen(app, { ...options, port }, SHARED))
    if (socket) return socket
    if (port === 0 || waitedMs >= TIME_WAIT_MS) {
      throw cannotListen(options, new Error('the system refuses, and does not say why'))
    }
    if (waitedMs === 0) {
      onWaiting?.(`connections to port ${port} of a server before are not over yet; waiting for it, a minute at most`)
    }
    await setTimeout(RETRY_MS)
  }
}

/** @param sharing {@link SHARED}: the port is silently shared with any other listener; otherwise it is exclusive */
export function tryToListen(
  app: TemplatedApp,
  { host, port }: TransportOptions,
  sharing: number,
): Promise<us_listen_socket | false> {
  return new Promise(resolve => {
    // The types lack this form of the call.
    type Listen = (host: string, port: number, options: number, callback: typeof resolve) => void
    const listenTo: Listen = app.listen.bind(app) as never
    listenTo(host, port, sharing, resolve)
  })
}
