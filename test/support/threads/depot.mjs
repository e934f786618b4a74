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

  /** @param mayLeave it can leave a store that it reads when it is terminated; a writer is terminated in the middle of its work */
  constructor(kind, mayLeave, options) {
    this.kind = kind
    this.mayLeave = mayLeave
    this.worker = new Worker(HOST, options)
    this.worker.unref()
  }
}

/** A `Worker` that uses the thread of a host, with the members that Tesser and Piscina use. */
class HostedWorker extends EventEmitter {
  #host
  #port
  #hasEnded = false
  #code = 0
  #isEnding = false
  #leaving

  constructor(host, file, data, transferList = []) {
    super()
    this.#host = host
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.on('message', message => this.emit('message', message))
    port1.unref()
    const { worker } = host
    worker.on('error', error => this.#isEnding || this.emit('error', error))
    worker.on('exit', code => this.#end(code))
    worker.on('message', () => this.#leave())
    worker.ref()
    const environment = [...environmentKeys].map(key => [key, getEnvironmentData(key)])
    const variables = { ...process.env }
    worker.postMessage({ file, data, environment, variables, port: port2 }, [port2, ...transferList])
  }

  get threadId() {
    return this.#host.worker.threadId
  }

  get performance() {
    return this.#host.worker.performance
  }

  postMessage(message, transfer) {
    // The thread has its priority already.
    if (message.niceIncrement && !this.#host.isFresh) message.niceIncrement = 0
    this.#port.postMessage(message, transfer)
  }

  ref() {
    if (!this.#hasEnded) this.#host.worker.ref()
  }

  unref() {
    this.#host.worker.unref()
  }

  terminate() {
    if (this.#hasEnded) return Promise.resolve()
    if (!this.#isEnding) {
      this.#isEnding = true
      const { worker, mayLeave } = this.#host
      this.#code = 1
      if (mayLeave) {
        worker.postMessage({ leave: true })
        this.#leaving = setTimeout(() => void worker.terminate(), LEAVE_MS)
      } else void worker.terminate()
    }
    return new Promise(resolve => this.once('exit', resolve))
  }

  /** The thread has left its store. */
  #leave() {
    const host = this.#host
    const { worker, kind } = host
    for (const event of ['error', 'exit', 'message']) worker.removeAllListeners(event)
    worker.unref()
    host.isFresh = false
    const others = idle.get(kind) ?? []
    idle.set(kind, others)
    if (others.length < IDLE) others.push(host)
    else void worker.terminate()
    this.#end(this.#code)
  }

  #end(code) {
    if (this.#hasEnded) return
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
  if (!isReader && !path.endsWith('/engine/threads/writer-thread.js')) return undefined
  const kind = JSON.stringify([path, rest])
  const host = idle.get(kind)?.pop() ?? new Host(kind, isReader, rest)
  return new HostedWorker(host, path, workerData, transferList)
}
