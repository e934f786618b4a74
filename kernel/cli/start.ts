import type { Config } from '../../config/load-config.ts'
import { createLogger } from '../log.ts'
import { createServer, type Server } from '../main.ts'
import { announce } from './announce.ts'
import { preparation } from './demo.ts'
import { logOwnConsole } from './log-console.ts'

/** `tesser start`: serves until a signal arrives. @returns when everything is closed */
export async function start(config: Config, print: (text: string) => void): Promise<void> {
  const stop = stopSignal()
  const log = createLogger(config)
  logOwnConsole(log)
  const server = await unlessStopped(
    createServer(config, log, { warmUp: true, prepare: preparation(config, log) }),
    stop,
  )
  renewOnHangup(server)
  announce(config, server, { log, print })
  await stop
  await server.stop()
}

/** Waits for a server to open. A signal before it is ready ends the process immediately, which does not harm a store. */
export async function unlessStopped<T>(opening: Promise<T>, stop: Promise<void>): Promise<T> {
  let isOpen = false
  void stop.then(() => isOpen || process.exit())
  const server = await opening
  isOpen = true
  return server
}

/** Reads files again at SIGHUP, as service managers expect. From a terminal SIGHUP means that the terminal has gone: the process ends. */
function renewOnHangup(server: Server): void {
  if (!process.stdin.isTTY) process.on('SIGHUP', () => void server.renewCertificate())
}

/** Resolves at the first SIGINT or SIGTERM. A second signal ends the process immediately. */
export function stopSignal(): Promise<void> {
  return new Promise(resolve => {
    let count = 0
    const onSignal = (_: NodeJS.Signals, number: number): void => {
      if (count++ > 0) process.exit(128 + number)
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
