import type { Logger } from 'pino'
import { logConsole } from '../../engine/index.ts'
import { pluginIn } from '../contain-faults.ts'

/** Frames of `console` itself come before those of the code that has called it. */
const FRAMES = 50

/** Makes what plugins write with `console` on the kernel's side lines of the log, with the name of the plugin. */
export function logOwnConsole(log: Logger): void {
  globalThis.console = logConsole((level, text) => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = FRAMES
    const plugin = pluginIn(new Error())
    Error.stackTraceLimit = stackTraceLimit
    log[level]({ plugin }, text)
  })
}
