import type { Note } from '../../data/store-options.ts'
import type { TransactionPhase } from '../../data/store-transaction.ts'
import type { Heartbeat } from '../contract/heartbeat.ts'

interface StallWatchOptions {
  readonly heartbeat: Heartbeat
  /** Time without progress after which the thread is stalled. */
  readonly timeoutMs: number
  readonly onNote?: Note | undefined
  readonly onInternalError?: ((text: string) => void) | undefined
  /** Called when the thread stalls in its own work. */
  readonly onLost: () => void
}

const WATCHES_PER_TIMEOUT = 4

/**
 * Watches the heartbeat of the writer thread. A commit waits for the disk as long as necessary: sent requests are answered when it is
 * done. A thread that stalls in its own work has usually died, for example from lack of memory: it never ends, because LMDB waits for
 * the transaction when the thread tears down its environment, and no event reports it.
 */
export class StallWatch {
  /** Phase in which the thread is stalled; undefined while it makes progress. */
  phase: TransactionPhase | undefined
  private onStall: (() => void) | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly options: StallWatchOptions) {}

  start(): void {
    const { heartbeat, timeoutMs, onNote, onInternalError, onLost } = this.options
    let last = heartbeat.beats
    let since = performance.now()
    this.timer = setInterval(() => {
      const { beats, phase } = heartbeat
      const stoodMs = performance.now() - since
      if (beats !== last || phase === 'idle') {
        last = beats
        since = performance.now()
        if (this.phase) onNote?.(`the writer goes on after ${Math.round(stoodMs)} ms, and takes writes again`)
        this.phase = undefined
      } else if (!this.phase && stoodMs >= timeoutMs) {
        this.phase = phase
        onInternalError?.(
          phase === 'committing'
            ? `the disk of the store has not answered a commit for ${timeoutMs} ms; reading goes on, writes are refused until it does`
            : `the writer thread has made no progress for ${timeoutMs} ms; reading goes on, writes are refused. If that lasts, this process has to be killed (SIGKILL) and started again`,
        )
        if (phase !== 'committing') onLost()
        this.onStall?.()
      }
    }, timeoutMs / WATCHES_PER_TIMEOUT)
    this.timer.unref()
  }

  /** Resolves when the thread makes no progress. */
  stall(): Promise<void> {
    return new Promise(resolve => {
      if (this.phase) resolve()
      else this.onStall = resolve
    })
  }

  close(): void {
    clearInterval(this.timer)
  }
}
