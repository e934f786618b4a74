/**
 * Loaded before a test file and in each of its threads (`test/times.mjs`). Appends lines of JSON to the file TESSER_TEST_TIMES: one for
 * each test when it ends, one for each thread when it has loaded its modules, and one for the process when it ends. Times are in
 * milliseconds.
 */
import { ChildProcess } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import threads from 'node:worker_threads'

const { TESSER_TEST_TIMES: output } = process.env
/** Processor time per tick in `/proc`, on all usual kernels. */
const TICK_MS = 10

/** Fields of `/proc/…/stat` from the third one on. */
const statOf = path => {
  const text = readFileSync(path, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
const ownMs = ([, , , , , , , , , , , user, system]) => (Number(user) + Number(system)) * TICK_MS
const childrenMs = stat => (Number(stat[13]) + Number(stat[14])) * TICK_MS
let isLoaded = false
const write = line => appendFileSync(output, `${JSON.stringify(line)}\n`)

if (threads.isMainThread) {
  let children = 0
  const { spawn } = ChildProcess.prototype
  ChildProcess.prototype.spawn = function (...args) {
    children++
    return spawn.apply(this, args)
  }
  // The first test begins when the modules of all files have been loaded, or a top-level await waits.
  const { default: t } = await import('tap')
  let loaded
  const { test } = t
  const now = () => {
    const { user, system } = process.cpuUsage()
    return { wall: performance.now(), cpu: (user + system) / 1000 + childrenMs(statOf('/proc/self/stat')) }
  }
  t.test = (...args) => {
    loaded ??= { wall: performance.now(), cpu: ownMs(statOf('/proc/thread-self/stat')) }
    const [, file] = /\/(test\/[^:]*\.test)\.js:/.exec(new Error().stack) ?? []
    const measured = args.map(each => {
      if (typeof each !== 'function') return each
      return own => {
        const { wall, cpu } = now()
        const ends = () => {
          const ended = now()
          write({ kind: 'test', file, wall: ended.wall - wall, cpu: ended.cpu - cpu })
        }
        const result = each(own)
        if (result?.finally) return result.finally(ends)
        ends()
        return result
      }
    })
    return test.apply(t, measured)
  }
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    const stat = statOf('/proc/self/stat')
    const servers = performance.getEntriesByName('test server')
    write({
      kind: 'process',
      wall: performance.now(),
      cpu: (user + system) / 1000,
      main: ownMs(statOf('/proc/thread-self/stat')),
      loaded: loaded ?? { wall: performance.now(), cpu: 0 },
      idle: performance.eventLoopUtilization().idle,
      children,
      childrenCpu: childrenMs(stat),
      servers: servers.length,
      serversWall: servers.reduce((sum, { duration }) => sum + duration, 0),
    })
  })
} else {
  // All of them listen to the thread that has started them once they are loaded.
  const { parentPort } = threads
  for (const name of ['on', 'once', 'addListener', 'addEventListener']) {
    const own = parentPort[name]
    parentPort[name] = function (event, ...args) {
      if (event === 'message' && !isLoaded) {
        isLoaded = true
        setImmediate(() => write({ kind: 'thread', cpu: ownMs(statOf('/proc/thread-self/stat')) }))
      }
      return own.call(this, event, ...args)
    }
  }
}
