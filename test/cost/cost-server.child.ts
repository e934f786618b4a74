/**
 * A server that measures the CPU time that requests cost its threads. Sends its port; answers `begin` with the times of its
 * threads, and `end` with the {@link Cost} since then.
 *
 * A turn of the event loop is measured between two runs of a timer of 1 ms: no request can hold the kernel thread for longer
 * unnoticed, and time in which another process has the processor does not count.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { createTestServer, insertRows } from '../../kernel/testing.ts'
import { BIG, type Cost, MODEL, NOTES, ROWS, rowsOf } from './world.ts'

const [folder, config] = process.argv.slice(2) as [string, string]
// The server survives faults that are not its own: a failure here would leave the test waiting.
process.on('uncaughtException', error => {
  console.error(error)
  process.exit(1)
})
const server = await createTestServer({ model: MODEL, folder, config: JSON.parse(config) })
await insertRows(server.engine, 'City', rowsOf(ROWS))
await insertRows(server.engine, 'Note', NOTES)
await insertRows(server.engine, 'Big', BIG)
await insertRows(server.engine, 'Ping', [{ ID: 1 }])

const buffer = Buffer.alloc(64)
/** Nanoseconds for which a thread has had a processor. Source: Linux, Documentation/scheduler/sched-stats. */
function cpuOf(file: number): number {
  return Number(buffer.toString('latin1', 0, readSync(file, buffer, 0, 64, 0)).split(' ')[0])
}
const kernelThread = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')

const threads = (): Map<string, number> =>
  new Map(
    readdirSync('/proc/self/task').flatMap(id => {
      try {
        const file = openSync(`/proc/self/task/${id}/schedstat`, 'r')
        try {
          return [[id, cpuOf(file)] as const]
        } finally {
          closeSync(file)
        }
      } catch {
        return [] // The thread has ended in the meantime.
      }
    }),
  )

const save = (): Promise<unknown> =>
  server.engine.write({
    kind: 'save',
    dataClass: 'Ping',
    body: Buffer.from('{"at":1}'),
    mode: 'update',
    atomic: false,
    trusted: true,
  })

/** The thread whose CPU time grows most during saves. */
async function busiestWithSaves(): Promise<string> {
  const before = threads()
  for (let i = 0; i < 300; i++) await save()
  const gains = [...threads()].flatMap(([id, cpu]) => {
    const since = before.get(id)
    return since === undefined || id === String(process.pid) ? [] : [[cpu - since, id] as const]
  })
  return gains.sort(([a], [b]) => b - a)[0]![1]
}

/** Two rounds in a row that find the same thread show that other threads have finished their work after the start. */
async function findWriter(): Promise<number> {
  let found = await busiestWithSaves()
  for (let again = await busiestWithSaves(); again !== found; again = await busiestWithSaves()) found = again
  return openSync(`/proc/self/task/${found}/schedstat`, 'r')
}
const writerThread = await findWriter()

let last = cpuOf(kernelThread)
let longestTurn = 0
setInterval(() => {
  const now = cpuOf(kernelThread)
  longestTurn = Math.max(longestTurn, now - last)
  last = now
}, 1)

let longestWait = 0
let saving: Promise<void> | undefined
async function saveNow(): Promise<void> {
  const before = cpuOf(writerThread)
  await save().catch(() => {})
  longestWait = Math.max(longestWait, cpuOf(writerThread) - before)
  saving = undefined
}
const saves = setInterval(() => {
  saving ??= saveNow()
}, 20)

let begun = threads()
const milliseconds = (nanoseconds: number): number => nanoseconds / 1e6
process.on('message', async message => {
  if (message === 'begin') {
    longestTurn = 0
    longestWait = 0
    begun = threads()
    process.send!('begun')
  } else if (message === 'end') {
    const ended = threads()
    let all = 0
    for (const [id, cpu] of ended) all += cpu - (begun.get(id) ?? 0)
    const main = String(process.pid)
    const cost: Cost = {
      kernel: milliseconds(ended.get(main)! - begun.get(main)!),
      turn: milliseconds(longestTurn),
      writerWait: milliseconds(longestWait),
      all: milliseconds(all),
      memory: 1024 * Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))![1]),
    }
    process.send!(cost)
  } else {
    // The thread of the writer ends with the server.
    clearInterval(saves)
    await saving
    await server.close()
    process.exit(0)
  }
})
process.send!(server.port)
