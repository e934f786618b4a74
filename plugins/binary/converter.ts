import { type ChildProcess, fork } from 'node:child_process'
import { BinaryRequestErrors } from './errors.ts'
import type { OutputFormat } from './variant.ts'

export interface ConverterOptions {
  /** Greatest width times height of an image that is decoded. */
  maxPixels: number
  /** Processes, each with one image at a time. */
  maxConcurrent: number
  /** Images that may wait for one of them, not read yet. */
  queueLimit: number
  /** A conversion that takes longer is given up. */
  timeoutMs: number
}

/** To the process; its answer is the bytes, empty when they cannot be made. */
export interface Conversion {
  bytes: Uint8Array
  format: OutputFormat
  width: number | undefined
  height: number | undefined
  maxPixels: number
}

/** A process that had nothing to do for so long ends. */
const IDLE_MS = 60_000

/** What is wanted of an image, whose bytes are read when its turn comes. */
export interface ConversionOrder extends Pick<Conversion, 'format' | 'width' | 'height'> {
  load(): Promise<Uint8Array>
}

interface Task {
  order: ConversionOrder
  done(bytes: Uint8Array): void
  fail(error: unknown): void
}

/**
 * Converts images in processes of their own: what a hostile image does to a decoder, crash it or keep it busy, ends with the
 * process, and neither the kernel thread nor the threads that read files have to do with it.
 */
export class Converter {
  private readonly idle: Decoder[] = []
  private readonly running = new Set<Decoder>()
  private readonly queue: Task[] = []

  constructor(
    private readonly program: URL,
    private readonly options: ConverterOptions,
  ) {}

  /**
   * @returns the image in another form; empty when that cannot be made
   * @throws {BinaryRequestErrors.TOO_MANY_CONVERSIONS} what `order.load` rejects with
   */
  async convert(order: ConversionOrder): Promise<Uint8Array> {
    const { queueLimit } = this.options
    if (this.queue.length >= queueLimit) throw BinaryRequestErrors.TOO_MANY_CONVERSIONS(queueLimit).retryAfter(1)
    return new Promise((done, fail) => {
      this.queue.push({ order, done, fail })
      this.next()
    })
  }

  close(): void {
    for (const { done } of this.queue.splice(0)) done(NOTHING)
    for (const decoder of [...this.idle, ...this.running]) decoder.end()
  }

  private next(): void {
    if (this.queue.length === 0 || this.running.size >= this.options.maxConcurrent) return
    const { order, done, fail } = this.queue.shift()!
    const decoder = this.idle.pop() ?? new Decoder(this.program)
    this.running.add(decoder)
    this.run(decoder, order)
      .then(done, fail)
      .finally(() => {
        this.running.delete(decoder)
        if (decoder.isAlive) this.rest(decoder)
        this.next()
      })
  }

  private async run(decoder: Decoder, { load, ...wanted }: ConversionOrder): Promise<Uint8Array> {
    const { maxPixels, timeoutMs } = this.options
    return decoder.run({ ...wanted, bytes: await load(), maxPixels }, timeoutMs)
  }

  private rest(decoder: Decoder): void {
    this.idle.push(decoder)
    decoder.endAfter(IDLE_MS, () => this.idle.splice(this.idle.indexOf(decoder), 1))
  }
}

const NOTHING = new Uint8Array(0)

/** One process, with one image at a time. */
class Decoder {
  isAlive = true
  private readonly child: ChildProcess
  private done: ((bytes: Uint8Array) => void) | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(program: URL) {
    this.child = fork(program, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    })
    this.child.on('message', bytes => this.settle(bytes as Uint8Array))
    const lost = (): void => {
      this.isAlive = false
      this.settle(NOTHING)
    }
    this.child.on('exit', lost)
    this.child.on('error', lost)
    this.child.unref()
    this.child.channel?.unref()
  }

  run(conversion: Conversion, timeoutMs: number): Promise<Uint8Array> {
    clearTimeout(this.timer)
    return new Promise(done => {
      this.done = done
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
    this.done?.(bytes)
    this.done = undefined
  }
}
