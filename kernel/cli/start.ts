import type { Config } from '../../config/load-config.ts'
import { createServer, type Server } from '../main.ts'
import { demoQuestions, loadDemo } from './demo.ts'

/** `tesser start`: serves until a signal comes. @returns when everything is closed */
export async function start(config: Config, print: (line: string) => void): Promise<void> {
  const stop = stopSignal()
  if (config.demo) await loadDemo(config, print)
  const server = await createServer(config)
  server.engine.warmUp()
  print(greeting(config, server))
  await stop
  await server.close()
}

export function greeting(config: Config, { url, transport }: Server): string {
  const address = `Tesser answers at ${url}/rest (${transport}). Press Ctrl+C to stop.`
  if (!config.demo) return address
  return `${address}\n\nThis is the demo. Ask it, for example:\n${demoQuestions(config, url)}\n\nYour own data: tesser start --model FILE --data FOLDER, and tesser load. See tesser --help.`
}

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
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
