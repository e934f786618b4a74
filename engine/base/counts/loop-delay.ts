import { observe } from './histogram.ts'
import { COUNT, ownCounts, SharedCounts, type ThreadCounts, type ThreadRole } from './thread-counts.ts'

/** Time between two looks, in milliseconds. */
export const LOOK_MS = 100
/** From which on a turn is known to be a long one. */
export const LONG_MS = 2 * LOOK_MS

/**
 * Delay of the event loop of a thread: it looks at the clock ten times a second, and is as late as whatever else came at that
 * moment. One look takes some microseconds.
 */
export class LoopDelay {
  /** Called with the milliseconds for which the loop was held up, when it goes on. */
  onDelay: ((ms: number) => void) | undefined
  /** The last look, by `performance.now`. */
  lookedAt = performance.now()
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly counts: ThreadCounts,
    /** See {@link SharedCounts}. */
    readonly beats: Int32Array,
  ) {}

  start(): void {
    this.lookedAt = performance.now()
    this.timer = setInterval(() => this.look(performance.now()), LOOK_MS)
    this.timer.unref()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  /** `now`, unless the loop has been held up: then the last time before at which it certainly was not, up to 0.1 s earlier. */
  heldUpSince(now: number): number {
    return now - this.lookedAt < LONG_MS ? now : this.lookedAt
  }

  look(now: number): void {
    const late = Math.max(0, now - this.lookedAt - LOOK_MS)
    this.lookedAt = now
    Atomics.add(this.beats, 0, 1)
    // Looks were missed meanwhile, each of which would have been late by the rest of the time.
    for (let ms = late; ms >= 0; ms -= LOOK_MS) observe(this.counts, COUNT.loopDelay, ms)
    this.onDelay?.(late)
  }
}

/** A block for the thread that calls it, in the memory of another thread's counts, if there are such. Its delays are counted from now on. */
export function countThread(buffer: SharedArrayBuffer | undefined, role: ThreadRole): ThreadCounts {
  if (!buffer) return ownCounts()
  const shared = new SharedCounts(buffer)
  const counts = shared.claim(role)
  new LoopDelay(counts, shared.beats).start()
  return counts
}
