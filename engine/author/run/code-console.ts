import { cutText } from '../../base/known-secrets.ts'
import type { CodePlace } from '../declare/code-place.ts'
import { runningCode } from '../declare/running-code.ts'
import { codeContext, type RunningCall } from '../declare/running-call.ts'
import type { CodeLogLine, LogLevel } from './code-log.ts'
import { logConsole } from './log-console.ts'

/** Maximum number of characters in a line. */
const MAX_LENGTH = 8_192

/**
 * `console` of the code in a function thread: its lines go to the log with the names of the running code. The number of lines per
 * call is bounded, because the kernel thread writes them.
 */
export class CodeConsole {
  /** Lines of code that runs outside a call. */
  private readonly outside = { lines: 0 }

  /** @param usual place of code that runs outside a call: the plugin, if there is only one */
  constructor(
    private readonly log: (line: CodeLogLine) => void,
    private readonly maxLines: number,
    private readonly usual: CodePlace | undefined,
  ) {
    globalThis.console = logConsole((level, text) => this.write(level, text))
  }

  /** Ends a call: logs how many of its lines were left out. */
  endCall({ lines }: RunningCall): void {
    const { maxLines } = this
    if (lines > maxLines)
      this.log({ level: 'warn', text: `${lines - maxLines} further lines were left out`, place: this.usual })
    this.outside.lines = 0
  }

  private write(level: LogLevel, text: string): void {
    const { call } = codeContext() ?? {}
    const counter = call ?? this.outside
    if (++counter.lines > this.maxLines) return
    const shortText = cutText(text, MAX_LENGTH, `… (${text.length} characters)`)
    this.log({ level, text: shortText, place: runningCode() ?? this.usual, trace: call?.trace })
  }
}
