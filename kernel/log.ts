import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/load-config.ts'
import { withoutSecrets } from '../config/secrets.ts'
import { lineWithoutKnownSecrets } from '../engine/base/known-secrets.ts'

/** Maximum number of objects of one line; the rest is left out. */
const MAX_OBJECTS = 1_000

/**
 * The logger of the server: lines for people on a terminal, otherwise a JSON object per line; `log.pretty` overrides this.
 * @param destination replaces standard output, for tests
 */
export function createLogger(
  { log }: { readonly log: Pick<Config['log'], 'level' | 'pretty'> },
  destination: DestinationStream & { readonly isTTY?: boolean } = standardOutput(log),
): Logger {
  const options = {
    level: log.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: hideSecrets },
    // Every log line passes through this hook: from the server, from plugins, and from threads that run plugin code.
    hooks: { streamWrite: lineWithoutKnownSecrets },
    serializers: { err: (error: Error) => readable(pino.stdSerializers.err(error)) },
  }
  return pino(
    options,
    isPretty(log, destination.isTTY) ? { write: line => destination.write(prettyLine(line)) } : destination,
  )
}

/** True if lines are for people. @param isTTY true if they are written to a terminal */
export const isPretty = ({ pretty }: Pick<Config['log'], 'pretty'>, isTTY = isatty(1)): boolean => pretty ?? isTTY

function standardOutput(log: Pick<Config['log'], 'pretty'>) {
  // Lines for people appear between those of the command in the order in which they were written.
  return Object.assign(pino.destination({ dest: 1, sync: isPretty(log) }), { isTTY: isatty(1) })
}

/** Hides values with which a reader of the log could act as another client. */
const hideSecrets = ({ err, ...values }: Record<string, unknown>): Record<string, unknown> => ({
  ...readable(values),
  ...(err !== undefined && { err }),
})

/** Makes values safe to log: values of plugins may throw when they are read, which must not fail the code that logs them. */
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
    ([name, value]) => `${name}=${typeof value === 'string' && !value.includes('\n') ? value : JSON.stringify(value)}`,
  )
  const stack = err && typeof err === 'object' && 'stack' in err ? `\n${err.stack}` : ''
  const text = `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${[msg, ...values].join('  ')}${stack}`
  return `${text.replace(CONTROL, escapeOf)}\n`
}

/** Matches characters by which a text from a client could change a terminal's display. */
const CONTROL = /(?![\n\t])\p{Cc}/gu
const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
