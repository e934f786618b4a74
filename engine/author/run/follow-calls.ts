import { createHook } from 'node:async_hooks'
import { dirname, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promiseHooks } from 'node:v8'
import { outputUrl } from '../../base/output-root.ts'
import { fileOfFrame } from '../../base/stack-frame.ts'
import { codeContext, type RunningCall } from '../declare/running-call.ts'

interface Observer {
  /** Called when code of a call resumes after an await, in a timer or a callback. */
  begins(call: RunningCall): void
  /** Called when the code waits again or ends. */
  ends(call: RunningCall): void
  /** Called when code of another call runs in between, as a listener can, and when it ends. */
  switches(): void
}

/**
 * Follows the code of calls beyond their first await: reports each stretch, and records promises of asynchronous functions that
 * nothing awaits.
 */
export function followCalls({ begins, ends, switches }: Observer): void {
  /** A callback can run others that belong to another call. */
  const callStack: (RunningCall | undefined)[] = []
  createHook({
    before() {
      const call = codeContext()?.call
      if (callStack.length > 0 && callStack.at(-1) !== call) switches()
      if (callStack.push(call) === 1 && call) begins(call)
    },
    after() {
      const call = callStack.pop()
      if (callStack.length > 0 && callStack.at(-1) !== call) switches()
      if (callStack.length === 0 && call) ends(call)
    },
  }).enable()
  // The most frequently forgotten promise is the one that `fetch` returns; not every version of Node.js creates it in an async
  // function.
  const { fetch } = globalThis
  globalThis.fetch = async (...request) => fetch(...request)
  promiseHooks.createHook({ init: noteBegin, settled: promise => codeContext()?.call?.alone.delete(promise) })
}

function noteBegin(promise: Promise<unknown>, parent: Promise<unknown> | undefined): void {
  const call = codeContext()?.call
  if (!call || call.hasEnded) return
  // A promise with a parent is created by `await` or `then`: something waits for the parent.
  if (parent) call.alone.delete(parent)
  else if (call.beginsFunction) call.beginsFunction = false
  else call.alone.set(promise, traceOfBegin())
}

/** Number of stack frames to record, including those of the hook and of libraries between a promise and the plugin. */
const FRAMES = 10

function traceOfBegin(): { readonly stack?: string } {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = FRAMES
  const trace: { stack?: string } = {}
  Error.captureStackTrace(trace, noteBegin)
  Error.stackTraceLimit = stackTraceLimit
  return trace
}

/** Matches the frame of a `new Promise`, which is not the promise of an asynchronous function. */
const CONSTRUCTOR = /^\s*at new Promise /
/** Matches a frame of Node.js, which handles the promises that it starts for itself, as `fetch` of version 24 does. */
const INTERNAL = /[\s(]node:/
const HOOKS = 'node:internal/promise_hooks'

/** Finds promises that plugin code has started and not awaited. */
export class ForgottenPromises {
  private readonly folders: readonly string[]

  /** @param sources source files of the modules of plugins */
  constructor(sources: readonly string[]) {
    this.folders = [...new Set(sources.map(source => dirname(source)))]
  }

  /** Lines of the stack trace of the first forgotten promise: the function that is not awaited, and its caller in the plugin. */
  find({ alone }: RunningCall): string | undefined {
    for (const { stack = '' } of alone.values()) {
      const [firstFrame = '', ...callers] = stack
        .split('\n')
        .slice(1)
        .filter(frame => !frame.includes(HOOKS))
      if (CONSTRUCTOR.test(firstFrame) || (INTERNAL.test(firstFrame) && INTERNAL.test(callers[0] ?? ''))) continue
      const caller = callers.find(frame => this.ownerOf(frame) !== 'server')
      // A library may start asynchronous work for its own purposes.
      if (caller !== undefined && this.ownerOf(caller) === 'plugin') return `${firstFrame}\n${caller}`
    }
    return undefined
  }

  private ownerOf(frame: string): 'plugin' | 'server' | 'library' {
    const path = fileOfFrame(frame)
    if (path === undefined) return 'server'
    if (this.folders.some(folder => isBelow(folder, path))) return 'plugin'
    return isBelow(PACKAGE, path) ? 'server' : 'library'
  }
}

/** Folder of this package, above its build. */
const PACKAGE = dirname(dirname(dirname(dirname(fileURLToPath(outputUrl('engine/threads/function-thread.js'))))))

/** True for a file below a folder, unless it belongs to a package installed there. */
function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path)
  return !below.startsWith('..') && !below.split(sep).includes('node_modules')
}
