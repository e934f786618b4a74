/**
 * Loaded before each test (`test-env` of tap in package.json). tap has every process, and every thread by one more thread of
 * hooks, tell which modules it loads, so that a thread takes three times as long to start. It is of use for coverage and
 * `tap --changed` only. And it follows every promise, of which servers make many.
 */
import asyncHooks from 'node:async_hooks'
import { ChildProcess } from 'node:child_process'
import module, { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const isOfTap = text => text.includes('@tapjs/processinfo')

// As if it had begun already: else it would have child processes begin too.
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [] }
const { register } = module
module.register = (specifier, ...options) => {
  if (!isOfTap(String(specifier))) register(specifier, ...options)
}
// Options of threads and child processes, unless a test sets others. Source maps too are of tap: each thread would parse megabytes.
process.env.NODE_OPTIONS = ''
process.execArgv = process.execArgv.filter(argument => !isOfTap(argument) && argument !== '--enable-source-maps')
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, { execArgv: process.execArgv, ...options })
  }
}
// Following every promise would tell which test an uncaught error is of. Such an error ends the process, and its trace tells.
asyncHooks.createHook = () => ({ enable() {}, disable() {} })
syncBuiltinESMExports()

// Processes that a test has started end with it. One that fails may not come to end them itself, and waits for them otherwise.
// Threads load this module too, but are no tests: tap would send messages to those who started them.
if (threads.isMainThread) {
  const children = new Set()
  const { spawn } = ChildProcess.prototype
  ChildProcess.prototype.spawn = function (...args) {
    children.add(this)
    this.once('exit', () => children.delete(this))
    return spawn.apply(this, args)
  }
  const { default: t } = await import('tap')
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
  })
}
