import { SingleBar } from 'cli-progress'
import { quantity } from '../../engine/base/counted.ts'
import type { LoadSummary } from '../../engine/command-line.ts'
import { describeProgress } from '../describe-progress.ts'

/** Minimum time between two lines without a terminal. */
const LINE_MS = 10_000

/** Shows progress: a bar on a terminal, otherwise a line from time to time. */
export class ProgressDisplay {
  private bar: SingleBar | undefined
  private what = ''
  private startedAt = 0
  private toldAt = 0

  constructor(private readonly output: NodeJS.WriteStream) {}

  /** @param what the present activity; a different string begins a new line */
  show(what: string, count: number, total: number): void {
    const now = performance.now()
    if (what !== this.what) {
      this.bar?.stop()
      this.bar = undefined
      this.what = what
      this.startedAt = now
      this.toldAt = Math.max(this.toldAt, now - LINE_MS / 2)
      if (this.output.isTTY)
        this.bar = startBar(this.output, `${what.replaceAll('{', '(')}  {bar} {percentage} %  {eta_formatted}`, total)
    }
    this.bar?.update(count)
    if (this.output.isTTY || now - this.toldAt < LINE_MS) return
    this.toldAt = now
    this.output.write(`${describeProgress(what, count, total, now - this.startedAt)}\n`)
  }

  stop(): void {
    this.bar?.stop()
    this.bar = undefined
    this.what = ''
  }
}

function startBar(stream: NodeJS.WriteStream, format: string, total: number): SingleBar {
  const bar = new SingleBar({ format, stream, hideCursor: true, clearOnComplete: true })
  bar.start(total, 0, { rows: 0 })
  return bar
}

const LINE_EVERY_ROWS = 100_000

/** Shows the progress of a load: a bar on a terminal, elsewhere a line for every 100,000 rows. */
export class LoadProgress {
  private bar: SingleBar | undefined
  private bytes = 0
  private toldRows = 0

  constructor(
    private readonly totalBytes: number,
    private readonly output: NodeJS.WriteStream,
  ) {}

  start(): void {
    if (this.output.isTTY)
      this.bar = startBar(this.output, '{bar} {percentage} %  {rows} rows  {eta_formatted}', this.totalBytes)
  }

  readonly onBytes = (count: number): void => {
    this.bytes += count
    this.bar?.update(this.bytes)
  }

  readonly onRows = ({ read }: Readonly<LoadSummary>): void => {
    this.bar?.update({ rows: read })
    if (this.bar || read < this.toldRows + LINE_EVERY_ROWS) return
    this.toldRows = read
    this.output.write(`${quantity(read, 'row')}\n`)
  }

  stop(): void {
    this.bar?.stop()
  }
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
