import { setTimeout as sleep } from 'node:timers/promises'
import { ImageGivenUp } from '../image/image-writer.ts'
import type { MemoryWriter } from './memory-writer.ts'

export interface ImageScheduleOptions {
  /** Minimum time between two images while the server runs, in minutes; 0: no images. */
  imageMinutes: number
  /** Minimum number of changed entities since the last image. */
  imageChanges: number
}

/** Write speed while the server runs. */
const BYTES_PER_SECOND = 64 * 1024 * 1024
/** Readers release replaced memory within a query. */
const RETRY_MS = 50
const RETRIES_AT_CLOSE = 20

/** Schedules images of the memory: from time to time, and at the end. */
export class ImageSchedule {
  private readonly timer: NodeJS.Timeout | undefined
  private readonly stop = new AbortController()
  private currentSave = Promise.resolve()
  private isRunning = false

  /** @param onNote for the log */
  constructor(
    private readonly memory: MemoryWriter,
    private readonly options: ImageScheduleOptions,
    private readonly onNote: (text: string) => void,
  ) {
    const { imageMinutes } = options
    if (imageMinutes > 0) this.timer = setInterval(() => this.begin(), imageMinutes * 60_000).unref()
  }

  /** Aborts the image that is being written, and writes the last one. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    this.stop.abort()
    await this.currentSave
    if (this.timer) await this.save(Number.POSITIVE_INFINITY, new AbortController().signal, RETRIES_AT_CLOSE)
  }

  private begin(): void {
    if (this.isRunning) return
    this.isRunning = true
    this.currentSave = this.save(BYTES_PER_SECOND, this.stop.signal, Number.POSITIVE_INFINITY).finally(() => {
      this.isRunning = false
    })
  }

  private async save(bytesPerSecond: number, signal: AbortSignal, retries: number): Promise<void> {
    try {
      for (let i = 0; i <= retries && !signal.aborted; i++) {
        if (this.memory.changesSinceImage < this.options.imageChanges) return
        const start = performance.now()
        if (await this.memory.saveImage(bytesPerSecond, signal)) {
          this.onNote(`an image of the memory was written: ${Math.round(performance.now() - start)} ms`)
          return
        }
        await sleep(RETRY_MS)
      }
    } catch (error) {
      if (error instanceof ImageGivenUp && signal.aborted) return
      this.onNote(`no image of the memory was written: ${(error as Error).message}`)
    }
  }
}
