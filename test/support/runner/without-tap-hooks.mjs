/**
 * Loaded before each test (`test-env` of tap in package.json). tap makes every process, and by one more thread of hooks every
 * thread, report which modules it loads, so that a thread takes three times as long to start. Only coverage and `tap --changed`
 * need this. tap also follows every promise, of which servers make many.
 */
import asyncHooks from 'node:async_hooks'
import { ChildProcess } from 'node:child_process'
import module, { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'
import { hostedWorker } from './threads/depot.mjs'

const isOfTap = text => text.includes('@tapjs/processinfo')

// Makes tap believe that it has begun already; otherwise it would begin in child processes, too.
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [] }
const { register } = module
module.register = (specifier, ...options) => {
  if (!isOfTap(String(specifier))) register(specifier, ...options)
}
// Options of threads and child processes, unless a test sets others. Source maps come from tap, too: each thread would parse megabytes.
process.env.NODE_OPTIONS = ''
process.execArgv = process.execArgv.filter(argument => !isOfTap(argument) && argument !== '--enable-source-maps')
// They do not load this module, which is for the tests themselves.
const execArgv = process.env.TESSER_TEST_TIMES
  ? [...process.execArgv, `--import=${new URL('times/record.mjs', import.meta.url)}`]
  : process.execArgv
const { Worker } = threads
threads.Worker = new Proxy(Worker, {
  construct(_, [file, options]) {
    const all = { ...options, execArgv: options?.execArgv ?? execArgv }
    return hostedWorker(file, all) ?? new Worker(file, all)
  },
})
// Following every promise would show to which test an uncaught error belongs. Such an error ends the process, and its trace shows that.
asyncHooks.createHook = () => ({ enable() {}, disable() {} })
syncBuiltinESMExports()

// Processes that a test has started end with it. A test that fails may not get to end them, and would wait for them.
// Threads and their children are not tests: in them, tap would send messages to those that started them.
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
  // tap removes the folder of a test before its teardowns if it was made before the first of them. A server that is still open writes to
  // it meanwhile, the removal fails, and the teardowns that would close the server never run.
  t.beforeEach(each => each.teardown(() => {}))
}
