import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/load-config.ts'
import { withoutSecrets } from '../config/secrets.ts'
import { lineWithoutKnownSecrets } from '../engine/base/known-secrets.ts'

/** Maximum number of objects of one line; the rest is left out. */
const MAX_OBJECTS = 1_000

/**
 * The logger of the server: a JSON object per line on standard output, or lines for people with `log.pretty`.
 * @param destination replaces standard output, for tests
 */
export function createLogger(
  { log }: { readonly log: Pick<Config['log'], 'level' | 'pretty'> },
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level: log.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: hideSecrets },
    // Every line passes here: of the server, of plugins, and of the threads that run plugin code.
    hooks: { streamWrite: lineWithoutKnownSecrets },
    serializers: { err: (error: Error) => readable(pino.stdSerializers.err(error)) },
  }
  return pino(options, log.pretty ? { write: line => destination.write(prettyLine(line)) } : destination)
}

/** Hides values with which a reader of the log could act as another client. */
const hideSecrets = ({ err, ...values }: Record<string, unknown>): Record<string, unknown> => ({
  ...readable(values),
  ...(err !== undefined && { err }),
})

/** Values of plugins may throw when they are read, which must not fail the code that logs them. */
function readable(values: object): object {
  try {
    return withoutSecrets(values, MAX_OBJECTS) as object
  } catch {
    return { unreadable: Object.keys(values) }
  }
}

/** `10:31:02.123 warn  the header limit is 4 KiB  plugin=health`, followed by the stack of an error. */
function prettyLine(line: string): string {
  const { time, level, msg = '', err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const values = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const stack = err && typeof err === 'object' && 'stack' in err ? `\n${err.stack}` : ''
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${[msg, ...values].join('  ')}${stack}\n`
}
