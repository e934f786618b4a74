import { Console } from 'node:console'
import { Writable } from 'node:stream'
import type { LogLevel } from './code-log.ts'

/** Methods whose level differs from that of their stream. */
const LEVELS: Readonly<Partial<Record<keyof Console, LogLevel>>> = {
  debug: 'debug',
  warn: 'warn',
  assert: 'warn',
  trace: 'debug',
}

/**
 * A console whose output becomes log lines. `log`, `info`, `dir`, `table` and similar methods are `info`.
 * @param write called with the text of each call, without the line break at its end
 */
export function logConsole(write: (level: LogLevel, text: string) => void): Console {
  let level: LogLevel | undefined
  const stream = (usual: LogLevel) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _, callback) {
        write(level ?? usual, String(chunk).replace(/\n$/, ''))
        callback()
      },
    })
  const codeConsole = new Console({ stdout: stream('info'), stderr: stream('error'), colorMode: false })
  for (const [method, of] of Object.entries(LEVELS) as ['debug' | 'warn' | 'assert' | 'trace', LogLevel][]) {
    const original = codeConsole[method].bind(codeConsole) as (...args: unknown[]) => void
    codeConsole[method] = (...args: unknown[]) => {
      level = of
      try {
        original(...args)
      } finally {
        level = undefined
      }
    }
  }
  return codeConsole
}
