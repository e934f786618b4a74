import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { LiveServer } from '../support/servers/live-server.ts'
import { abusePlugin, notedPlugin } from '../support/plugins/test-plugins.ts'
import { type Asked, tokenKeys, type WayIn } from './ways-in.ts'
import type { Cost } from './world.ts'

/** In reads of an entity by its key: each takes some 25 µs of the kernel thread, so the bounds are 50 and 250 ms. */
export const BOUNDS = { turn: 2_000, writerWait: 10_000 }
/** A request costs the same each time, so a cost above a bound that is seen only once was other work, of this process or another. */
export const MEASUREMENTS = 3
const UNIT_READS = 8_000
/** Enough requests at once that a turn of the event loop has several of them. */
const CLIENTS = 32

const configIn = (folder: string) => ({
  auth: { jwt: { keyFile: keyFileIn(folder) } },
  plugins: [abusePlugin, notedPlugin],
  log: { level: 'silent' },
  storage: { mapSizeBytes: '4 GiB', memoryBytes: '256 MiB' },
  server: { allowedHosts: ['*'] },
  // The events of 2,000 notes: some seconds on a busy machine.
  functions: { deadlineSeconds: 60 },
})
const keyFileIn = (folder: string): string => join(folder, 'tokens.pem')

/** The errCode of errors that plugin code throws. */
const PLUGIN_FAILED = '"errCode":1562'
/** Bytes of a request head that every transport accepts. */
const MAX_HEAD = 60_000
const RESETS = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** A server in a separate process, which measures what requests cost it. */
export class CostServer extends LiveServer {
  /** Answers that report a failure inside the server. */
  readonly failures: string[] = []
  /** Milliseconds of the kernel thread for a read by key. */
  unit = 0
  private readonly client = new Agent({ connections: CLIENTS })

  constructor(folder: string) {
    super('../cost/cost-server.child.js', () => [folder, JSON.stringify(configIn(folder))])
    writeFileSync(keyFileIn(folder), tokenKeys.publicKey.export({ format: 'pem', type: 'spki' }))
  }

  override async start(): Promise<void> {
    await super.start()
    await this.reads()
    await this.measureUnit()
  }

  async measureUnit(): Promise<void> {
    this.unit = (await this.measured(() => this.reads())).kernel / UNIT_READS
  }

  private reads(): Promise<void> {
    const key: WayIn = { name: 'a key', max: 1, request: () => ({ path: '/City(7)' }) }
    return this.inParallel(UNIT_READS, () => this.ask(key, 1))
  }

  inUnits(milliseconds: number): number {
    return Math.round(milliseconds / this.unit)
  }

  /** Runs `work` `count` times, {@link CLIENTS} at once. */
  async inParallel(count: number, work: () => Promise<unknown>): Promise<void> {
    let left = count
    const client = async () => {
      while (left-- > 0) await work()
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
  }

  async measured(work: () => Promise<unknown>): Promise<Cost> {
    this.child!.send('begin')
    await once(this.child!, 'message')
    await work()
    // Turns of the thread after the answer, and work that a thread of the pool has not finished.
    await delay(20)
    this.child!.send('end')
    const [cost] = await once(this.child!, 'message')
    return cost as Cost
  }

  ask(way: WayIn, size: number): Promise<number> {
    return this.askFor({ method: way.method, ...way.request(size) })
  }

  async askFor({ path, body, headers = {}, ...rest }: Asked): Promise<number> {
    const method = rest.method ?? (body === undefined && !path.includes('$method=') ? 'GET' : 'POST')
    try {
      const { statusCode, body: answer } = await request(
        `http://127.0.0.1:${this.port}${path.startsWith('//') ? path.slice(1) : `/rest${path}`}`,
        {
          method,
          headers,
          body: body ?? null,
          dispatcher: this.client,
        },
      )
      if (statusCode === 500) this.noteFailure(path, await answer.text())
      else await answer.dump({ limit: Number.MAX_SAFE_INTEGER })
      return statusCode
    } catch (error) {
      // The connection is closed before the client has sent the rest of such a head, and then the answer can be lost.
      if (path.length > MAX_HEAD && RESETS.has((error as NodeJS.ErrnoException).code ?? '')) return 431
      throw error
    }
  }

  /** Plugin code may fail on arguments that it does not expect. */
  private noteFailure(path: string, answer: string): void {
    if (!answer.includes(PLUGIN_FAILED)) this.failures.push(`${path.slice(0, 1_000)}: ${answer.slice(0, 1_000)}`)
  }

  async end(): Promise<void> {
    await this.client.destroy()
    await this.stop()
  }
}
