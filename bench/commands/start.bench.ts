import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { outputUrl } from '../../engine/base/output-root.ts'
import { cpuOf } from '../processes/memory.ts'
import { median } from '../report/report.ts'
import { newFolder } from '../world/prepare.ts'
import type { CommandCase } from './command-case.ts'

const EMPTY = { name: 'empty', dataClasses: { Thing: { key: 'ID', attributes: { ID: { type: 'long' } } } } }
/** Pause between two checks whether the server is ready. */
const LOOK_MS = 2
/** Time after which the threads that a start postpones have been started. */
const SETTLED_MS = 1_500
const MAX_MS = 60_000

/** Goals: seconds until the server is ready, and MB of resident memory some time after that. */
const GOALS = {
  'first start, fills the demo': { seconds: 6, megabytes: Number.POSITIVE_INFINITY },
  'filled demo': { seconds: 1, megabytes: 250 },
  'one empty dataclass': { seconds: 0.6, megabytes: 120 },
}

interface Started {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly megabytes: number
}

const start: CommandCase = {
  name: 'start',
  title: 'tesser start, from the start of the process until /health/ready answers 200',
  async measure(_, rounds) {
    const folder = newFolder()
    const model = join(folder, 'model.json')
    writeFileSync(model, JSON.stringify(EMPTY))
    const demo = ['--data', join(folder, 'demo')]
    const empty = ['--model', model, '--data', join(folder, 'empty')]
    const first = [await measureStart(folder, demo)]
    await measureStart(folder, empty)
    const filledStarts: Started[] = []
    const alone: Started[] = []
    for (let round = 0; round < rounds; round++) {
      filledStarts.push(await measureStart(folder, demo))
      alone.push(await measureStart(folder, empty))
    }
    const series = Object.entries(GOALS).map(([what, goal], i) => ({
      what,
      goal,
      all: [first, filledStarts, alone][i]!,
    }))
    return {
      lines: series.map(({ what, all }) => {
        const of = (read: (each: Started) => number): number => median(all.map(read))
        const [seconds, cpu, megabytes] = [
          of(each => each.seconds),
          of(each => each.cpuSeconds),
          of(each => each.megabytes),
        ]
        return `${what}: ${seconds.toFixed(2)} s, CPU ${cpu.toFixed(2)} s, ${megabytes.toFixed(0)} MB`
      }),
      verdicts: series.flatMap(({ what, goal, all }) => {
        const seconds = median(all.map(each => each.seconds))
        const megabytes = median(all.map(each => each.megabytes))
        return [
          {
            case: 'start',
            goal: `${what} ≤ ${goal.seconds} s`,
            found: `${seconds.toFixed(2)} s`,
            met: seconds <= goal.seconds,
          },
          ...(Number.isFinite(goal.megabytes)
            ? [
                {
                  case: 'start',
                  goal: `${what} ≤ ${goal.megabytes} MB`,
                  found: `${megabytes.toFixed(0)} MB`,
                  met: megabytes <= goal.megabytes,
                },
              ]
            : []),
        ]
      }),
    }
  },
}
export default start

/** Starts the server in a process, waits until it is ready, and stops it. @throws {Error} if it is not ready in a minute */
async function measureStart(folder: string, args: readonly string[]): Promise<Started> {
  const port = await freePort()
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const begunAt = performance.now()
  const child = spawn(process.execPath, [program, 'start', '--port', String(port), ...args], {
    cwd: folder,
    stdio: 'ignore',
  })
  try {
    await ready(child, port, begunAt + MAX_MS)
    const seconds = (performance.now() - begunAt) / 1_000
    const cpuSeconds = cpuOf([child.pid!]) / 1e6
    await delay(SETTLED_MS)
    return { seconds, cpuSeconds, megabytes: residentOf(child.pid!) }
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
}

async function ready(child: ChildProcess, port: number, endsAt: number): Promise<void> {
  for (;;) {
    const status = await request(`http://127.0.0.1:${port}/health/ready`).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode
      },
      () => undefined,
    )
    if (status === 200) return
    if (child.exitCode !== null) throw new Error(`tesser start ended with ${child.exitCode}`)
    if (performance.now() > endsAt) throw new Error('tesser start was not ready within a minute')
    await delay(LOOK_MS)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
