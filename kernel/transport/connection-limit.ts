import { availableParallelism } from 'node:os'
import { softLimit } from '../../engine/base/system-limits.ts'

/** Number of descriptors for files of the store, sockets of the process, and modules loaded by threads. */
const OWN_FILES = 64
const FILES_PER_THREAD = 8
/** Minimum number of connections: enough to administer a server whose process may open too few files. */
const MIN_CONNECTIONS = 16
/** Number of connections below which descriptors may run out by chance. */
const FEW_CONNECTIONS = 2_000
const REPORT_PAUSE_MS = 60_000

export interface ConnectionBound {
  readonly maxConnections: number
  /** True if the limit is configured, or so low that it is likely to be reached: a transport must enforce it. */
  readonly isRequired: boolean
}

/** @param configuredLimit 0 for the number that the system allows @param threads see {@link connectionsWithin} */
export function connectionBound(configuredLimit: number, threads: readonly number[]): ConnectionBound {
  const maxConnections = configuredLimit || connectionsWithin(threads)
  return { maxConnections, isRequired: configuredLimit > 0 || maxConnections < FEW_CONNECTIONS }
}

/**
 * Number of connections that leaves descriptors for everything else: half of the files that the system lets the process open
 * besides its own, because a request may have a file open (an upload, a blob). Without descriptors neither threads nor
 * uploads start, and uWebSockets.js keeps a core busy with connections that it cannot accept.
 * @param threads sizes of the pools; 0 for the number of cores
 * @param files maximum number of files that the process may open
 */
export function connectionsWithin(threads: readonly number[], files = fileLimit()): number {
  const cores = availableParallelism()
  const ownFiles = OWN_FILES + FILES_PER_THREAD * threads.reduce((sum, each) => sum + (each || cores), 0)
  return Math.max(MIN_CONNECTIONS, Math.floor((files - ownFiles) / 2))
}

/** Soft limit of open files (`ulimit -n`), which Node.js raises to the hard limit at its start. Infinity when there is none. */
export function fileLimit(): number {
  const limit = softLimit('Max open files')
  if (limit !== undefined) return limit
  // Systems other than Linux need the report, which is slower.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/** Limits the number of connections of a server. */
export class ConnectionLimit {
  #open = 0
  #refusals = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(
    readonly max: number,
    private readonly onWarning: ((text: string) => void) | undefined,
  ) {}

  get open(): number {
    return this.#open
  }

  /** Number of connections closed because of the limit so far. */
  get refusals(): number {
    return this.#refusals
  }

  /** @returns false when the connection must be closed. Call {@link leave} at its end in both cases. */
  enter(): boolean {
    if (++this.#open <= this.max) return true
    this.countRefusal()
    return false
  }

  leave(): void {
    this.#open--
  }

  /** Counts a connection that is closed because of the limit; logs one line a minute. */
  countRefusal(): void {
    this.#refusals++
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_PAUSE_MS) return
    this.#reportedAt = now
    this.onWarning?.(
      `${this.max} connections are open, and further ones are closed at once; server.maxConnections or ulimit -n bounds them`,
    )
  }
}
