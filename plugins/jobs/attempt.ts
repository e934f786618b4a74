import type { Job, JobFunction } from '../../engine/index.ts'

/** A running attempt of a job, with the progress that it has reported and the callbacks for its cancellation. */
export class Attempt {
  aborted = false
  /** Reported progress as JSON; undefined if none has been reported. */
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

  /** Fires `request.signal` of the running code. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const callback of this.callbacks) callback()
  }
}
