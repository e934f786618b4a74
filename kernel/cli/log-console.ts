import type { Logger } from 'pino'
import { logConsole } from '../../engine/index.ts'
import { pluginIn } from '../contain-faults.ts'

/** Maximum number of stack frames: frames of `console` itself precede the frames of its caller. */
const FRAMES = 50

/** Logs `console` output of plugins in the kernel thread, with the name of the plugin. */
export function logOwnConsole(log: Logger): void {
  globalThis.console = logConsole((level, text) => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = FRAMES
    const plugin = pluginIn(new Error())
    Error.stackTraceLimit = stackTraceLimit
    log[level]({ plugin }, text)
  })
}
