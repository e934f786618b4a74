import type { DatabaseState } from '../../backend/backend.ts'
import type { Probe } from './probe.ts'

/** Time for which the result of a probe is used, in milliseconds. */
const FRESH_MS = 1_000
/** Maximum time to wait for a probe, in milliseconds. */
const WAIT_MS = 3_000

const SILENT = 'it does not answer in time, or all its connections are in use'

interface Options {
  readonly connections: readonly string[]
  /** @throws {Error} the probe was not possible; {@link signal} aborts */
  readonly probe: (connection: string, signal: AbortSignal) => Promise<Probe>
  readonly now?: () => number
  readonly waitMs?: number
}

/** States of databases, from probes: one at a time for each database, however many callers there are. */
export class DatabaseProbes {
  private readonly probes: readonly DatabaseProbe[]

  constructor(options: Options) {
    this.probes = options.connections.map(name => new DatabaseProbe(name, options))
  }

  /** States that are at most a second old, and after a few seconds those that are known. Never rejects. */
  states(): Promise<readonly DatabaseState[]> {
    return Promise.all(this.probes.map(probe => probe.state()))
  }

  /** Ends running probes; there are no others. */
  close(): void {
    for (const probe of this.probes) probe.close()
  }
}

class DatabaseProbe {
  private known: { readonly state: DatabaseState; readonly at: number } | undefined
  /** State for those who ask while a probe is running. */
  private awaited: Promise<DatabaseState> | undefined
  /** Ends the newest probe. Each has its own: listeners of a shared signal would add up. */
  private ending = new AbortController()
  private isClosed = false

  constructor(
    private readonly name: string,
    private readonly options: Options,
  ) {}

  close(): void {
    this.isClosed = true
    this.ending.abort()
  }

  state(): DatabaseState | Promise<DatabaseState> {
    if (this.awaited) return this.awaited
    if (this.known && this.now() - this.known.at < FRESH_MS) return this.known.state
    const found = this.find().then(state => {
      this.known = { state, at: this.now() }
      this.awaited = undefined
      return state
    })
    this.awaited = within(found, this.options.waitMs ?? WAIT_MS, {
      name: this.name,
      status: 'unavailable',
      reason: SILENT,
    })
    return this.awaited
  }

  private async find(): Promise<DatabaseState> {
    const { name } = this
    this.ending = new AbortController()
    if (this.isClosed) this.ending.abort()
    try {
      const { problem, unreadable } = await this.options.probe(name, this.ending.signal)
      if (problem !== undefined) return { name, status: 'unavailable', reason: problem }
      return unreadable.length > 0 ? { name, status: 'incomplete', unreadable } : { name, status: 'ready' }
    } catch (error) {
      return { name, status: 'unavailable', reason: (error as Error).message }
    }
  }

  private now(): number {
    return (this.options.now ?? (() => performance.now()))()
  }
}

/** The result of work, or another value if it takes too long; the work continues. */
function within<T>(work: Promise<T>, milliseconds: number, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<T>(resolve => {
    timer = setTimeout(resolve, milliseconds, otherwise)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
