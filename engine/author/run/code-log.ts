import { errorText } from '../../base/errors.ts'
import type { JobInfo } from '../data-api/jobs.ts'
import type { CodePlace } from '../declare/code-place.ts'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** A log line from or about plugin code: console output or a failure. Plain data. */
export interface CodeLogLine {
  readonly level: LogLevel
  readonly text: string
  readonly place?: CodePlace | undefined
  readonly error?: Fault | undefined
  /** Id of the caller's trace. */
  readonly trace?: string | undefined
  /** The job that ran the code, with the number of its attempt. */
  readonly job?: Pick<JobInfo, 'id' | 'attempt'> | undefined
}

/** A value that code has thrown and that clients must not see. */
export interface Fault {
  readonly name: string
  readonly message: string
  /** With the files and lines of the source. */
  readonly stack: string
}

export function faultOf(exception: unknown): Fault {
  if (exception instanceof Error) {
    const { name, message, stack } = exception
    return {
      name: errorText(String(name)),
      message: errorText(String(message)),
      stack: errorText(withCauses(exception, String(stack))),
    }
  }
  const text = errorText(describe(exception))
  return { name: `a thrown ${typeof exception}`, message: text, stack: text }
}

/** Maximum number of causes shown below an error. */
const MAX_CAUSES = 5

function withCauses(error: Error, stack: string): string {
  let text = stack
  let { cause } = error
  for (let i = 0; i < MAX_CAUSES && cause instanceof Error; i++) {
    text += `\ncaused by ${cause.stack}`
    cause = cause.cause
  }
  return text
}

function describe(exception: unknown): string {
  try {
    return JSON.stringify(exception) ?? String(exception)
  } catch {
    return typeof exception
  }
}

/** Receiver of log lines of plugin code. Without `onCodeLog`, errors are internal errors. */
export const codeLog =
  (options: { onCodeLog?: (line: CodeLogLine) => void; onInternalError?: (text: string) => void }) =>
  (line: CodeLogLine): void => {
    if (options.onCodeLog) options.onCodeLog(line)
    else if (line.level === 'error')
      options.onInternalError?.([line.text, line.error?.stack].filter(Boolean).join(': '))
  }
