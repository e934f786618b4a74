import type { Job, JobFunction } from '../../engine/index.ts'

/** An attempt of a job that runs now: what waits for it, and what it has reported. */
export class Attempt {
  aborted = false
  /** JSON; undefined: it has reported nothing. */
  progress: string | undefined
  isCancelled = false
  private readonly callbacks: (() => void)[] = []

  constructor(
    readonly job: Job,
    readonly jobFunction: JobFunction,
  ) {}

  onAborted(callback: () => void): void {
    this.callbacks.push(callback)
  }

  /** Fires `request.signal` of its code. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const callback of this.callbacks) callback()
  }
}
