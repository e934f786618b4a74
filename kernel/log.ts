import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/load-config.ts'

/** Headers with which a reader of the log could act for another client. */
const SECRET_HEADERS = ['cookie', 'authorization', '["set-cookie"]', '["proxy-authorization"]']
const SECRET_PATHS = ['', '*.', '*.*.']
  .flatMap(prefix => SECRET_HEADERS.map(header => `${prefix}${header}`))
  // pino writes a bracket right behind the object.
  .map(path => path.replaceAll('.[', '['))

/**
 * The logger of the server: a JSON object per line on standard output, or lines for people with `log.pretty`.
 * @param destination where lines go instead, for tests
 */
export function createLogger(
  { log }: { readonly log: Pick<Config['log'], 'level' | 'pretty'> },
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level: log.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_PATHS, censor: '(hidden)' },
  }
  return pino(options, log.pretty ? { write: line => destination.write(prettyLine(line)) } : destination)
}

/** `10:31:02.123 warn  the header limit is 4 KiB  plugin=health`; the stack of an error below. */
function prettyLine(line: string): string {
  const { time, level, msg = '', err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const values = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const stack = err && typeof err === 'object' && 'stack' in err ? `\n${err.stack}` : ''
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${[msg, ...values].join('  ')}${stack}\n`
}
