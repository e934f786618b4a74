import { observe } from './histogram.ts'
import { COUNT, ownCounts, SharedCounts, type ThreadCounts, type ThreadRole } from './thread-counts.ts'

/** Interval between two checks of the clock, in milliseconds. */
export const LOOK_MS = 100
/** Minimum time since the last check at which the loop is known to have been held up, in milliseconds. */
export const LONG_MS = 2 * LOOK_MS

/**
 * Measures the event loop delay of a thread: a timer checks the clock ten times a second, and is as late as any other event at
 * that moment. One check takes some microseconds.
 */
export class LoopDelay {
  /** Called after each check with the milliseconds by which it was late. */
  onDelay: ((ms: number) => void) | undefined
  /** Time of the last check, by `performance.now`. */
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

  /** Returns `now`, or, if the loop has been held up, the time of the last check before that, up to 0.1 s before it began. */
  heldUpSince(now: number): number {
    return now - this.lookedAt < LONG_MS ? now : this.lookedAt
  }

  look(now: number): void {
    const late = Math.max(0, now - this.lookedAt - LOOK_MS)
    this.lookedAt = now
    Atomics.add(this.beats, 0, 1)
    // Also counts the checks missed during the delay, each late by the remaining time.
    for (let ms = late; ms >= 0; ms -= LOOK_MS) observe(this.counts, COUNT.loopDelay, ms)
    this.onDelay?.(late)
  }
}

/** Claims a block for the calling thread and counts its loop delays from now on; without a buffer, returns private counters. */
export function countThread(buffer: SharedArrayBuffer | undefined, role: ThreadRole): ThreadCounts {
  if (!buffer) return ownCounts()
  const sharedCounts = new SharedCounts(buffer)
  const counts = sharedCounts.claim(role)
  new LoopDelay(counts, sharedCounts.beats).start()
  return counts
}
