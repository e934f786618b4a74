/**
 * A thread that serves one store after the other (`depot.mjs`): for each it evaluates the module of a thread of the engine
 * again, as if it were that thread. The imports of the module stay loaded.
 */
import asyncHooks from 'node:async_hooks'
import module, { createRequire, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { promiseHooks } from 'node:v8'
import threads from 'node:worker_threads'

const { parentPort: control } = threads
const require = createRequire(import.meta.url)
const PISCINA = createRequire(require.resolve('piscina')).resolve('./worker.js')
const lmdb = require('lmdb')

/** Left behind by a store whose thread is terminated. */
const environments = new Set()
const { open } = lmdb
lmdb.open = (...args) => {
  const environment = open(...args)
  environments.add(environment)
  return environment
}
const timers = new Set()
const { setInterval, clearInterval } = globalThis
globalThis.setInterval = (...args) => {
  const timer = setInterval(...args)
  timers.add(timer)
  return timer
}
globalThis.clearInterval = timer => {
  timers.delete(timer)
  clearInterval(timer)
}
const sockets = new Set()
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  sockets.add(this)
  this.once('close', () => sockets.delete(this))
  return connect.apply(this, args)
}

const hooks = new Set()
const { createHook } = asyncHooks
asyncHooks.createHook = callbacks => {
  const hook = createHook(callbacks)
  hooks.add(() => hook.disable())
  return hook
}
const { createHook: createPromiseHook } = promiseHooks
promiseHooks.createHook = callbacks => {
  const stop = createPromiseHook(callbacks)
  hooks.add(stop)
  return stop
}
const { console, fetch } = globalThis
// Defined once for a thread otherwise (`engine/author/run/measure-memory.ts`).
const MEASURE = Symbol.for('tesser.measureMemory')
Object.defineProperty(globalThis, MEASURE, { value: undefined, configurable: true })

/** Objects that all code of a thread shares, as they are before plugins run. */
const SHARED = [
  Object,
  Function,
  Array,
  Map,
  Set,
  WeakMap,
  Promise,
  String,
  Number,
  BigInt,
  Date,
  RegExp,
  Error,
  Buffer,
  URL,
]
  .flatMap(each => [each, each.prototype])
  .concat(JSON, Math, Reflect, Atomics)
const VARYING = new Set(['prepareStackTrace', 'stackTraceLimit'])
const partsOf = shared =>
  Reflect.ownKeys(shared)
    .filter(name => !VARYING.has(name))
    .map(name => Object.getOwnPropertyDescriptor(shared, name))
    .map(({ value, get }) => value ?? get)
const before = SHARED.map(partsOf)
const isUnchanged = () =>
  SHARED.every((shared, i) => {
    const parts = partsOf(shared)
    return parts.length === before[i].length && parts.every((part, j) => Object.is(part, before[i][j]))
  })

let served = 0
let port

control.on('message', message => {
  if (message.leave) port.close()
  else serve(message)
})

function serve({ file, data, environment, variables, port: own }) {
  served++
  port = own
  for (const event of FAULTS) process.off(event, ignore)
  const runsFunctions = data.modules !== undefined
  if (runsFunctions) prepareFunctions(data, own)
  for (const [key, value] of environment) threads.setEnvironmentData(key, value)
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
  threads.workerData = data
  threads.parentPort = own
  syncBuiltinESMExports()
  own.on('close', leave)
  if (file === PISCINA) own.once('message', message => servePool(message, own))
  else void evaluated(file).then(() => runsFunctions || endIfIdle(own))
}

const FAULTS = ['uncaughtException', 'unhandledRejection']
/** Faults of code that a store has left behind, until the next one has its own listeners. */
const ignore = () => {}

/** Modules of plugins are evaluated again as well. Their thread ends when it is told to, and stays if they have left it as it was. */
function prepareFunctions(data, own) {
  const { port: tasks } = data
  const { on } = tasks
  const end = () => {
    if (!isUnchanged()) process.exit()
    tasks.close()
    own.close()
  }
  tasks.on = (event, listen) => on.call(tasks, event, message => ('close' in message ? end() : listen(message)))
  data.modules = data.modules.map(each => ({ ...each, url: `${each.url}?${served}` }))
}

/** A thread that listens to nobody has ended. */
function endIfIdle(own) {
  if (own.listenerCount('message') === 0) own.close()
}

const evaluated = file => import(`${pathToFileURL(file)}?${served}`)

/** @param start first message of Piscina, which its own module for threads receives once it is there, with the handler that it names */
async function servePool(start, own) {
  const handler = await evaluated(start.filename)
  // A thread that has just started does so, too, before it begins a task.
  await new Promise(resolve => setImmediate(resolve))
  const { _cache: cache } = module
  cache[start.filename] = { loaded: true, exports: { __esModule: true, default: handler.default } }
  delete cache[PISCINA]
  require(PISCINA)
  own.emit('message', start)
}

async function leave() {
  for (const timer of timers) clearInterval(timer)
  timers.clear()
  for (const socket of sockets) socket.destroy()
  for (const stop of hooks) stop()
  hooks.clear()
  Object.assign(globalThis, { console, fetch })
  for (const event of FAULTS) process.removeAllListeners(event).on(event, ignore)
  await Promise.all([...environments].map(environment => environment.close()))
  environments.clear()
  control.postMessage('left')
}
