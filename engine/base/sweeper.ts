import { ProtocolError } from './errors.ts'

/** Periodic background work, one run at a time. */
export class Sweeper {
  private readonly timer: NodeJS.Timeout
  private currentRun: Promise<void> | undefined

  /** @param onFailure called with failures that no caller waits for */
  constructor(
    private readonly work: () => Promise<void>,
    intervalMs: number,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.timer = setInterval(() => this.inBackground(this.run()), intervalMs)
    this.timer.unref()
  }

  /** Runs the work now, or joins the run that is under way. */
  run(): Promise<void> {
    this.currentRun ??= this.work().finally(() => {
      this.currentRun = undefined
    })
    return this.currentRun
  }

  inBackground(work: Promise<unknown>): void {
    work.catch(error => {
      // A writer that is busy or starting need not be logged: the next run does the work.
      if (!(error instanceof ProtocolError)) this.onFailure(error as Error)
    })
  }

  /** Resolves when nothing runs. The caller that has begun a run receives its failure. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.currentRun?.catch(() => {})
  }
}
