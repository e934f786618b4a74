/**
 * Loaded into the process of each test, into its threads and its child processes (`test-env` of tap in package.json). tap
 * has each of them tell which modules it loads, by hooks in one more thread beside each thread, so that a thread takes three
 * times as long to start. It is of use for coverage and `tap --changed` only.
 */
import module, { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const isOfTap = text => String(text).includes('@tapjs/processinfo')

const { register } = module
module.register = (specifier, ...options) => {
  if (!isOfTap(specifier)) register(specifier, ...options)
}
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, { execArgv: process.execArgv.filter(argument => !isOfTap(argument)), ...options })
  }
}
syncBuiltinESMExports()
// Relative until here, and a child process may have another working directory.
process.env.NODE_OPTIONS = `--import=${import.meta.url}`
