import { SingleBar } from 'cli-progress'
import { describeProgress } from '../describe-progress.ts'

/** Minimum time between two lines without a terminal. */
const LINE_MS = 10_000

/** Shows progress: a bar on a terminal, elsewhere a line now and then. */
export class ProgressDisplay {
  private bar: SingleBar | undefined
  private what = ''
  private startedAt = 0
  private toldAt = 0

  constructor(private readonly output: NodeJS.WriteStream) {}

  /** @param what the present activity; another text begins a new line */
  show(what: string, done: number, total: number): void {
    const now = performance.now()
    if (what !== this.what) {
      this.bar?.stop()
      this.bar = undefined
      this.what = what
      this.startedAt = now
      this.toldAt = Math.max(this.toldAt, now - LINE_MS / 2)
      if (this.output.isTTY) this.bar = startBar(this.output, what, total)
    }
    this.bar?.update(done)
    if (this.output.isTTY || now - this.toldAt < LINE_MS) return
    this.toldAt = now
    this.output.write(`${describeProgress(what, done, total, now - this.startedAt)}\n`)
  }

  stop(): void {
    this.bar?.stop()
    this.bar = undefined
    this.what = ''
  }
}

function startBar(stream: NodeJS.WriteStream, what: string, total: number): SingleBar {
  const format = `${what.replaceAll('{', '(')}  {bar} {percentage} %  {eta_formatted}`
  const bar = new SingleBar({ format, stream, hideCursor: true, clearOnComplete: true })
  bar.start(total, 0)
  return bar
}

/** Shows the progress of work until it ends. */
export async function withProgress<T>(
  work: (onProgress: (step: { what: string; done: number; total: number }) => void) => Promise<T>,
): Promise<T> {
  const progress = new ProgressDisplay(process.stderr)
  try {
    return await work(({ what, done, total }) => progress.show(what, done, total))
  } finally {
    progress.stop()
  }
}
