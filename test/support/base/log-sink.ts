import { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'

export interface LogLine {
  /** pino's levels: 20 debug, 30 info, 40 warn, 50 error. */
  level: number
  msg: string
  [property: string]: unknown
}

/** A logger whose lines a test reads. */
export function logSink(level = 'debug'): { lines: LogLine[]; logger: Logger } {
  const lines: LogLine[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line))
      done()
    },
  })
  return { lines, logger: pino({ level, base: null }, sink) }
}
