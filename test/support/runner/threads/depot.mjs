/**
 * Threads of the engine that go from one store to the next, in tests. A thread takes a tenth of a second to start and runs cold code
 * at first, and most tests have a store for a few requests only. The module of the thread is evaluated again for each store, in a
 * thread that has its imports already (`host.mjs`); to the code that has started it, it is a thread of its own.
 */
import { EventEmitter } from 'node:events'
import { fileURLToPath } from 'node:url'
import threads from 'node:worker_threads'

const HOST = new URL('host.mjs', import.meta.url)
/** Maximum number of idle threads of a kind. */
const IDLE = 4
/** Time for which a thread may take to leave its store before it is terminated, in milliseconds: it may be busy. */
const LEAVE_MS = 200

const OTHERS = /\/engine\/threads\/(writer|function)-thread\.js$/
/** Options that only threads of the pool have, or the thread that asks databases. */
const READERS = ['tasks', 'connections']

const { Worker, setEnvironmentData, getEnvironmentData } = threads
/** Idle threads by module and options. */
const idle = new Map()
const environmentKeys = new Set()
threads.setEnvironmentData = (key, value) => {
  environmentKeys.add(key)
  setEnvironmentData(key, value)
}

/** A thread, idle or with a store. */
class Host {
  isFresh = true
  /** @type {HostedWorker | undefined} set while it has a store */
  user
  #isTerminated = false

  /** @param mayLeave it can leave a store that it reads when it is terminated; a writer is terminated in the middle of its work */
  constructor(kind, mayLeave, options) {
    this.mayLeave = mayLeave
    this.worker = new Worker(HOST, options)
    this.worker.unref()
    const others = idle.get(kind) ?? []
    idle.set(kind, others)
    this.worker.on('message', () => {
      // It has left its store. Its end follows if it took too long.
      if (this.#isTerminated) return
      this.isFresh = false
      this.worker.unref()
      if (others.length < IDLE) others.push(this)
      else this.terminate()
      this.#release()
    })
    this.worker.on('error', error => this.user?.failed(error))
    this.worker.on('exit', code => {
      if (others.includes(this)) others.splice(others.indexOf(this), 1)
      this.#release(code)
    })
  }

  terminate() {
    this.#isTerminated = true
    void this.worker.terminate()
  }

  #release(code) {
    const { user } = this
    this.user = undefined
    user?.ended(code)
  }
}

/** A `Worker` that uses the thread of a host, with the members that Tesser and Piscina use. */
class HostedWorker extends EventEmitter {
  #host
  #port
  #hasEnded = false
  #isEnding = false
  #leaving

  constructor(host, file, data, transferList = []) {
    super()
    this.#host = host
    host.user = this
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.on('message', message => this.emit('message', message))
    port1.unref()
    const { worker } = host
    worker.ref()
    const environment = [...environmentKeys].map(key => [key, getEnvironmentData(key)])
    const variables = { ...process.env }
    worker.postMessage({ file, data, environment, variables, port: port2 }, [port2, ...transferList])
  }

  get threadId() {
    return this.#hasEnded ? -1 : this.#host.worker.threadId
  }

  get performance() {
    return this.#host.worker.performance
  }

  postMessage(message, transfer) {
    if (this.#hasEnded) return
    // The thread has its priority already.
    if (message.niceIncrement && !this.#host.isFresh) message.niceIncrement = 0
    this.#port.postMessage(message, transfer)
  }

  ref() {
    if (!this.#hasEnded) this.#host.worker.ref()
  }

  unref() {
    if (!this.#hasEnded) this.#host.worker.unref()
  }

  terminate() {
    if (this.#hasEnded) return Promise.resolve()
    if (!this.#isEnding) {
      this.#isEnding = true
      if (this.#host.mayLeave) {
        this.#host.worker.postMessage({ leave: true })
        this.#leaving = setTimeout(() => this.#host.terminate(), LEAVE_MS)
      } else this.#host.terminate()
    }
    return new Promise(resolve => this.once('exit', resolve))
  }

  failed(error) {
    if (!this.#isEnding) this.emit('error', error)
  }

  /** @param code of the thread; undefined: it goes on without this store */
  ended(code = this.#isEnding ? 1 : 0) {
    this.#hasEnded = true
    clearTimeout(this.#leaving)
    // Messages that it has sent before its end.
    const next = () => threads.receiveMessageOnPort(this.#port)
    for (let sent = next(); sent; sent = next()) this.emit('message', sent.message)
    this.#port.close()
    this.emit('exit', code)
  }
}

/** @returns undefined: the thread does not end with a store, and is started as usual */
export function hostedWorker(file, options) {
  const path = file instanceof URL && file.protocol === 'file:' ? fileURLToPath(file) : String(file)
  const { workerData, transferList, ...rest } = options
  const isReader =
    path.endsWith('/piscina/dist/worker.js') && READERS.some(option => workerData?.[option] !== undefined)
  if (!isReader && !OTHERS.test(path)) return undefined
  const kind = JSON.stringify([path, rest])
  const host = idle.get(kind)?.pop() ?? new Host(kind, isReader, rest)
  return new HostedWorker(host, path, workerData, transferList)
}
