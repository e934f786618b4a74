import { type ChildProcess, fork } from 'node:child_process'
import { BinaryRequestErrors } from './errors.ts'
import type { OutputFormat } from './variant.ts'

interface ConverterOptions {
  /** Maximum width times height of an image that is decoded. */
  maxPixels: number
  /** Number of processes, each of which converts one image at a time. */
  maxConcurrent: number
  /** Number of images that may wait for a process; their bytes are not read yet. */
  queueLimit: number
  /** Time limit of a conversion; a longer one is aborted. */
  timeoutMs: number
}

/** Message to the process; its answer is the bytes, empty if the conversion fails. */
export interface Conversion {
  bytes: Uint8Array
  format: OutputFormat
  width: number | undefined
  height: number | undefined
  maxPixels: number
}

/** A process that has been idle for this long ends. */
const IDLE_MS = 60_000

/** Requested conversion of an image, whose bytes are read when its turn comes. */
interface ConversionOrder extends Pick<Conversion, 'format' | 'width' | 'height'> {
  /** Identifies the image and its version, independent of the target form. */
  readonly image: string
  load(): Promise<Uint8Array>
}

interface Task {
  order: ConversionOrder
  finish(bytes: Uint8Array): void
  fail(error: unknown): void
}

/** Number of images whose conversion time is remembered; the least recently converted are forgotten. */
const MAX_IMAGES = 1_000

/**
 * Converts images in separate processes: if a hostile image crashes a decoder or keeps it busy, only that process is lost;
 * neither the kernel thread nor the threads that read files are affected.
 *
 * An image occupies one process at a time, and images that have taken less time so far go first: one that takes seconds in each
 * of its thousands of sizes does not keep the others waiting.
 */
export class Converter {
  private readonly idle: Decoder[] = []
  private readonly runningDecoders = new Set<Decoder>()
  private readonly queue: Task[] = []
  /** Images that are being converted. */
  private readonly busy = new Set<string>()
  /** Milliseconds that the conversions of each image have taken. */
  private readonly spent = new Map<string, number>()

  constructor(
    private readonly program: URL,
    private readonly options: ConverterOptions,
  ) {}

  /**
   * @returns the image in another form; empty if the conversion fails
   * @throws {BinaryRequestErrors.TOO_MANY_CONVERSIONS} also throws whatever `order.load` rejects with
   */
  async convert(order: ConversionOrder): Promise<Uint8Array> {
    const { queueLimit } = this.options
    return new Promise((resolve, fail) => {
      this.queue.push({ order, finish: resolve, fail })
      if (this.queue.length > queueLimit) {
        // Refuses the newest of the tasks whose images have taken the most time.
        this.takeFrom(this.queue, (best, each) => each >= best).fail(
          BinaryRequestErrors.TOO_MANY_CONVERSIONS(queueLimit).retryAfter(1),
        )
      }
      this.next()
    })
  }

  close(): void {
    for (const { finish } of this.queue.splice(0)) finish(NOTHING)
    for (const decoder of [...this.idle, ...this.runningDecoders]) decoder.end()
  }

  private next(): void {
    if (this.runningDecoders.size >= this.options.maxConcurrent) return
    const waitingTasks = this.queue.filter(({ order }) => !this.busy.has(order.image))
    if (waitingTasks.length === 0) return
    const { order, finish, fail } = this.takeFrom(waitingTasks, (best, each) => each < best)
    const decoder = this.idle.pop() ?? new Decoder(this.program)
    this.runningDecoders.add(decoder)
    this.busy.add(order.image)
    const startedAt = performance.now()
    this.run(decoder, order)
      .then(finish, fail)
      .finally(() => {
        this.runningDecoders.delete(decoder)
        this.busy.delete(order.image)
        this.spend(order.image, performance.now() - startedAt)
        if (decoder.isAlive) this.park(decoder)
        this.next()
      })
  }

  /** Removes one of the tasks from the queue and returns it. @param isBetter compares the times that the images of two tasks have taken */
  private takeFrom(tasks: readonly Task[], isBetter: (best: number, each: number) => boolean): Task {
    const spentBy = ({ order }: Task): number => this.spent.get(order.image) ?? 0
    const chosenTask = tasks.reduce((best, each) => (isBetter(spentBy(best), spentBy(each)) ? each : best))
    this.queue.splice(this.queue.indexOf(chosenTask), 1)
    return chosenTask
  }

  private spend(image: string, ms: number): void {
    const total = (this.spent.get(image) ?? 0) + ms
    // Reinserted at the end: the most recently used is the last to be forgotten.
    this.spent.delete(image)
    this.spent.set(image, total)
    if (this.spent.size > MAX_IMAGES) this.spent.delete(this.spent.keys().next().value!)
  }

  private async run(decoder: Decoder, { load, ...conversion }: ConversionOrder): Promise<Uint8Array> {
    const { maxPixels, timeoutMs } = this.options
    return decoder.run({ ...conversion, bytes: await load(), maxPixels }, timeoutMs)
  }

  private park(decoder: Decoder): void {
    this.idle.push(decoder)
    decoder.endAfter(IDLE_MS, () => this.idle.splice(this.idle.indexOf(decoder), 1))
  }
}

const NOTHING = new Uint8Array(0)

/** A process that converts one image at a time. */
class Decoder {
  isAlive = true
  private readonly child: ChildProcess
  private onResult: ((bytes: Uint8Array) => void) | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(program: URL) {
    this.child = fork(program, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    })
    this.child.on('message', bytes => this.settle(bytes as Uint8Array))
    const handleExit = (): void => {
      this.isAlive = false
      this.settle(NOTHING)
    }
    this.child.on('exit', handleExit)
    this.child.on('error', handleExit)
    this.child.unref()
    this.child.channel?.unref()
  }

  run(conversion: Conversion, timeoutMs: number): Promise<Uint8Array> {
    clearTimeout(this.timer)
    return new Promise(resolve => {
      this.onResult = resolve
      this.timer = setTimeout(() => this.end(), timeoutMs)
      this.child.send(conversion, error => error && this.end())
    })
  }

  end(): void {
    this.isAlive = false
    clearTimeout(this.timer)
    this.child.kill('SIGKILL')
    this.settle(NOTHING)
  }

  endAfter(ms: number, onEnd: () => void): void {
    this.timer = setTimeout(() => {
      onEnd()
      this.end()
    }, ms).unref()
  }

  private settle(bytes: Uint8Array): void {
    clearTimeout(this.timer)
    this.onResult?.(bytes)
    this.onResult = undefined
  }
}
