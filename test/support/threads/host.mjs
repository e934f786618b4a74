/**
 * A thread that serves one store after the other (`depot.mjs`): for each it evaluates the module of a thread of the engine
 * again, as if it were that thread. The imports of the module stay loaded.
 */
import module, { createRequire, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
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

let served = 0
let port

control.on('message', message => {
  if (message.leave) port.close()
  else serve(message)
})

function serve({ file, data, environment, variables, port: own }) {
  served++
  port = own
  for (const [key, value] of environment) threads.setEnvironmentData(key, value)
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
  threads.workerData = data
  threads.parentPort = own
  syncBuiltinESMExports()
  own.on('close', leave)
  if (file === PISCINA) own.once('message', message => servePool(message, own))
  else void evaluated(file).then(() => endIfIdle(own))
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
  process.removeAllListeners('uncaughtException')
  await Promise.all([...environments].map(environment => environment.close()))
  environments.clear()
  control.postMessage('left')
}
