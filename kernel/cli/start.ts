import type { Config } from '../../config/load-config.ts'
import { createLogger } from '../log.ts'
import { createServer, type Server } from '../main.ts'
import { logOwnConsole } from './log-console.ts'
import { demoQuestions, loadDemo } from './demo.ts'

/** `tesser start`: serves until a signal arrives. @returns when everything is closed */
export async function start(config: Config, print: (line: string) => void): Promise<void> {
  const stop = stopSignal()
  const server = await unlessStopped(open(config, print), stop)
  renewOnHangup(server)
  print(greeting(config, server))
  await stop
  await server.stop()
}

async function open(config: Config, print: (line: string) => void): Promise<Server> {
  if (config.demo) await loadDemo(config, print)
  const log = createLogger(config)
  logOwnConsole(log)
  return createServer(config, log, { warmUp: true })
}

/** Waits for a server to open. A signal before it is ready ends the process immediately, which does not harm a store. */
export async function unlessStopped<T>(opening: Promise<T>, stop: Promise<void>): Promise<T> {
  let isOpen = false
  void stop.then(() => isOpen || process.exit())
  const server = await opening
  isOpen = true
  return server
}

export function greeting(config: Config, { url, transport }: Server): string {
  const address = `Tesser answers at ${url}/rest (${transport}). Press Ctrl+C to stop.`
  if (!config.demo) return address
  return `${address}\n\nThis is the demo. Ask it, for example:\n${demoQuestions(config, url)}\n\nYour own data: npx tesser start --model FILE --data FOLDER, and npx tesser load. See npx tesser --help.`
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
