import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { StoreLostError } from '../data/store-transaction.ts'
import { type Environment, getBytes } from './environment.ts'
import { inUse, isLocked, waitFor } from './store-lock.ts'
import type { LockKind, StoreLockOptions } from '../data/store-options.ts'

const OWNER = Buffer.from('owner')
/** Missed renewals of its lease after which a holder whose process is not visible is assumed dead. */
const MISSED = 3

/** The entry `holder` of `meta`. */
interface Holder {
  token: string
  pid: number
  /** Start of that process, in ticks since the machine started; empty where the system does not tell. */
  started: string
  /** The running system and its namespace of process ids: elsewhere a process id means nothing. */
  machine: string
  host: string
  /** Incremented while the holder lives; undefined if it has a file lock instead. */
  renewals?: number
}

/**
 * The token of the only writer of a store, in LMDB. Each write transaction compares it, so that a writer that has lost the store
 * writes nothing to it, even if its lock has failed.
 */
export class StoreOwner {
  private readonly bytes: Buffer

  constructor(
    private readonly environment: Environment,
    private readonly token: string,
  ) {
    this.bytes = Buffer.from(token)
  }

  /**
   * Writes the token. With a lease, first waits until a holder whose process is not visible has stopped renewing its lease.
   * @throws {Error} when another process has the store
   */
  take(kind: LockKind, { waitMs, renewMs, onWait }: StoreLockOptions): void {
    const { environment, token } = this
    if (kind === 'lease') this.waitForLease(waitMs, MISSED * renewMs, onWait)
    // Must stay a separate transaction: after a compacting copy, LMDB (lmdb-js 3.5.6) ends the process when the first transaction
    // frees some hundred pages.
    environment.root.transactionSync(() => {
      const holder: Holder = {
        token,
        pid: process.pid,
        started: startOf(process.pid) ?? '',
        machine: thisMachine(),
        host: hostname(),
        ...(kind === 'lease' && { renewals: 0 }),
      }
      environment.meta.putSync('holder', holder)
      environment.state.putSync(OWNER, this.bytes)
    })
  }

  /** Called in every write transaction. @throws {StoreLostError} */
  verify(): void {
    const storedBytes = getBytes(this.environment.state, OWNER)
    if (!storedBytes || this.bytes.compare(storedBytes) !== 0) {
      throw new StoreLostError('another process has taken the store over; this one does not write to it from now on')
    }
  }

  /** @throws {StoreLostError} */
  renew(): void {
    const { meta, root } = this.environment
    root.transactionSync(() => {
      this.verify()
      const holder = meta.get('holder') as Holder
      meta.putSync('holder', { ...holder, renewals: (holder.renewals ?? 0) + 1 })
    })
  }

  /** Called before the environment is closed. */
  release(): void {
    const { meta, root } = this.environment
    root.transactionSync(() => {
      if ((meta.get('holder') as Holder | undefined)?.token === this.token) meta.removeSync('holder')
    })
  }

  private waitForLease(waitMs: number, leaseMs: number, onWait: (text: string) => void = () => {}): void {
    const { path } = this.environment
    let lastHolder = this.holder()
    if (!lastHolder || lastHolder.token === this.token) return
    const isHere = lastHolder.machine === thisMachine()
    const text = `process ${lastHolder.pid}${isHere ? '' : ` of ${lastHolder.host}`}`
    let renewedAt = performance.now()
    const isFree = waitFor(
      () => {
        const now = this.holder()
        if (!now) return true
        if (now.token !== lastHolder!.token || now.renewals !== lastHolder!.renewals) {
          lastHolder = now
          renewedAt = performance.now()
        }
        // A process on this machine needs no lease; any other has to show that it is alive.
        const isGone = isHere ? !isRunning(now) : performance.now() - renewedAt >= leaseMs
        return isGone || undefined
      },
      isHere ? waitMs : Math.max(waitMs, 2 * leaseMs),
      () => onWait(`the store in ${path} may be in use by ${text}; waiting to see whether it still renews its lease`),
    )
    if (!isFree) throw inUse(path, text)
  }

  private holder(): Holder | undefined {
    this.environment.root.resetReadTxn()
    return this.environment.meta.get('holder') as Holder | undefined
  }
}

/** True when a process has the store. */
export const isInUse = (environment: Environment): boolean => isLocked(environment.path) || isLeased(environment)

/** True when a process holds the store by a lease, or ended without releasing it. */
export const isLeased = ({ meta }: Environment): boolean =>
  (meta.get('holder') as Holder | undefined)?.renewals !== undefined

function isRunning({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process runs under another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === '' || now === undefined || now === started
}

/** Field 22 of `/proc/{pid}/stat`, counted from the end of the name in parentheses, which may hold anything. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // Not on Linux, or the process is gone.
    return undefined
  }
}

function thisMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
