import { cutText } from '../../base/known-secrets.ts'
import { type CodePlace, runningCode } from '../declare/running-code.ts'
import type { CodeLogLine, LogLevel } from './code-log.ts'
import { logConsole } from './log-console.ts'

/** Maximum number of characters in a line. */
const MAX_LENGTH = 8_192

/**
 * `console` of the code in a function thread: its lines go to the log with the names of the running code. The number of lines per
 * task is bounded, because the kernel thread writes them.
 */
export class CodeConsole {
  private count = 0
  private trace: string | undefined

  /** @param usual place of code that runs outside a call: the plugin, if there is only one */
  constructor(
    private readonly log: (line: CodeLogLine) => void,
    private readonly maxLines: number,
    private readonly usual: CodePlace | undefined,
  ) {
    globalThis.console = logConsole((level, text) => this.write(level, text))
  }

  /** @param trace id of the trace of the task's caller */
  beginTask(trace: string | undefined): void {
    this.trace = trace
  }

  /** Ends a task: the lines of the next one are counted from zero. */
  endTask(): void {
    const { count, maxLines } = this
    if (count > maxLines)
      this.log({ level: 'warn', text: `${count - maxLines} further lines were left out`, place: this.usual })
    this.count = 0
    this.trace = undefined
  }

  private write(level: LogLevel, text: string): void {
    if (++this.count > this.maxLines) return
    const shown = cutText(text, MAX_LENGTH, `… (${text.length} characters)`)
    this.log({ level, text: shown, place: runningCode() ?? this.usual, trace: this.trace })
  }
}
