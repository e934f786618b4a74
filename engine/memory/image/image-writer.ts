import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { checksum, encodeHeader, FILE_START, GRANULE_BYTES } from './image-format.ts'
import type { Address } from '../heap/address.ts'
import { HEAP_START, type Preserver, type SharedHeap } from '../heap/shared-heap.ts'

/** Granules that are written at a time: 1 MiB. */
const BATCH = 256
/** Maximum number of batches of changed granules that wait for the disk. */
const MAX_WAITING = 64

interface Batch {
  readonly bytes: Buffer
  readonly granules: number[]
}

/** Thrown when writing was stopped, or more changed meanwhile than the disk could take. */
export class ImageGivenUp extends Error {}

/**
 * Writes an image of the memory as it is when this is constructed, while the writer goes on changing it: granules about to change
 * are copied first ({@link preserve}), all others in the order of addresses, a batch at a time. The writer never waits for the
 * disk.
 */
export class ImageWriter implements Preserver {
  private readonly count: number
  /** By granule, 1 as soon as it was copied. */
  private readonly isCopied: Uint8Array
  private readonly checksums: Uint32Array
  private queue: Batch[] = []
  /** Granules that are stored after the others. */
  private readonly changedGranules: number[] = []
  private readonly description: Buffer
  private isOverrun = false

  /**
   * @param end address after the last block of the memory
   * @param description further data for the reader of the image; JSON
   */
  constructor(
    private readonly heap: SharedHeap,
    end: number,
    description: unknown,
  ) {
    this.description = Buffer.from(JSON.stringify(description))
    this.count = Math.ceil((end - HEAP_START) / GRANULE_BYTES)
    this.isCopied = new Uint8Array(this.count)
    this.checksums = new Uint32Array(this.count)
    heap.image = this
  }

  preserve(address: Address, bytes: number): void {
    const last = Math.min(this.count - 1, Math.floor((address + bytes - 1 - HEAP_START) / GRANULE_BYTES))
    for (let granule = Math.floor((address - HEAP_START) / GRANULE_BYTES); granule <= last; granule++) {
      if (this.isCopied[granule] === 0) this.keep(granule)
    }
  }

  /** Ends the preservation: memory may change freely from now on. */
  release(): void {
    if (this.heap.image === this) this.heap.image = undefined
  }

  /**
   * Writes the image to an empty file.
   * @param bytesPerSecond approximate speed
   * @throws {ImageGivenUp} and errors of the disk
   */
  async write(file: FileHandle, bytesPerSecond: number, signal: AbortSignal): Promise<void> {
    const { count, changedGranules, description } = this
    const end = FILE_START + count * GRANULE_BYTES
    const put = async (bytes: Uint8Array, position: number): Promise<void> => {
      await putAll(file, bytes, position)
      if (signal.aborted) throw new ImageGivenUp('it was stopped')
      if (this.isOverrun) throw new ImageGivenUp('more changed meanwhile than the disk could take')
    }
    /** @param least minimum number of granules of a batch */
    const putChanged = async (least: number): Promise<void> => {
      while ((this.queue[0]?.granules.length ?? 0) >= least) {
        const { bytes, granules } = this.queue.shift()!
        const position = end + changedGranules.length * GRANULE_BYTES
        changedGranules.push(...granules)
        await put(bytes.subarray(0, granules.length * GRANULE_BYTES), position)
      }
    }
    const batch = Buffer.allocUnsafeSlow(BATCH * GRANULE_BYTES)
    for (let granule = 0; granule < count; granule += BATCH) {
      const start = performance.now()
      const bytes = this.copyBatch(granule, batch)
      await put(bytes, FILE_START + granule * GRANULE_BYTES)
      await putChanged(BATCH)
      const pauseMs = (bytes.length / bytesPerSecond) * 1000 - (performance.now() - start)
      if (pauseMs >= 1) await sleep(pauseMs)
    }
    this.release()
    await putChanged(1)
    const tail = Buffer.concat([bytesOf(this.checksums), bytesOf(Uint32Array.from(changedGranules)), description])
    await put(tail, end + changedGranules.length * GRANULE_BYTES)
    // Last, because it makes the file an image.
    await put(
      encodeHeader({ count, changedCount: changedGranules.length, descriptionBytes: description.length }, tail),
      0,
    )
  }

  private copyBatch(first: number, batch: Buffer): Buffer {
    const count = Math.min(BATCH, this.count - first)
    const address = HEAP_START + first * GRANULE_BYTES
    const bytes = batch.subarray(0, count * GRANULE_BYTES)
    bytes.set(this.heap.bytes.subarray(address, address + bytes.length))
    for (let i = 0; i < count; i++) {
      // Granules that were copied before they changed are in other batches.
      if (this.isCopied[first + i] === 0) this.markCopied(first + i, bytes, i)
    }
    return bytes
  }

  private keep(granule: number): void {
    let batch = this.queue.at(-1)
    if (!batch || batch.granules.length === BATCH) {
      batch = { bytes: Buffer.allocUnsafeSlow(BATCH * GRANULE_BYTES), granules: [] }
      this.queue.push(batch)
      if (this.queue.length > MAX_WAITING) {
        this.isOverrun = true
        this.heap.image = undefined
      }
    }
    const address = HEAP_START + granule * GRANULE_BYTES
    batch.bytes.set(this.heap.bytes.subarray(address, address + GRANULE_BYTES), batch.granules.length * GRANULE_BYTES)
    this.markCopied(granule, batch.bytes, batch.granules.length)
    batch.granules.push(granule)
  }

  private markCopied(granule: number, bytes: Buffer, index: number): void {
    this.isCopied[granule] = 1
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + index * GRANULE_BYTES, GRANULE_BYTES / 4)
    this.checksums[granule] = checksum(words)
  }
}

async function putAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at)
    at += bytesWritten
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
