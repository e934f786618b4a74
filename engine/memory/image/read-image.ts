import { type FileHandle, open } from 'node:fs/promises'
import { checksum, decodeHeader, FILE_HEADER_BYTES, FILE_START, GRANULE_BYTES, isIntact } from './image-format.ts'
import { wordIndex } from '../heap/address.ts'
import { HEAP_START, type SharedHeap } from '../heap/shared-heap.ts'

/** Bytes that are read at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024
/** Chunks that are read concurrently: the pages of a fresh memory cost more than reading does, and threads share that cost. */
const LANES = 3

/**
 * Reads an image into a memory without readers.
 * @param accepts throws when the image is not the wanted one
 * @returns its description
 * @throws {Error} saying why it cannot be used; the memory contents are undefined then
 */
export async function readImage<T>(path: string, heap: SharedHeap, accepts: (description: T) => void): Promise<T> {
  const file = await open(path)
  try {
    const header = await read(file, Buffer.alloc(FILE_HEADER_BYTES), 0)
    const { count, changedCount, descriptionBytes } = decodeHeader(header)
    const changedStart = FILE_START + count * GRANULE_BYTES
    const tailStart = changedStart + changedCount * GRANULE_BYTES
    const tailBytes = (count + changedCount) * 4 + descriptionBytes
    const { size } = await file.stat()
    if (size !== tailStart + tailBytes) throw new Error(`it has ${size} bytes, and not ${tailStart + tailBytes}`)
    const tail = await read(file, Buffer.allocUnsafeSlow(tailBytes), tailStart)
    if (!isIntact(header, tail)) throw new Error('its description is damaged')
    const end = HEAP_START + count * GRANULE_BYTES
    if (end > heap.size) throw new Error(`it needs ${end} bytes of memory, and there are ${heap.size}`)
    const checksums = new Uint32Array(tail.buffer, 0, count)
    const granules = new Uint32Array(tail.buffer, count * 4, changedCount)
    const description = JSON.parse(tail.toString('utf8', tail.length - descriptionBytes)) as T
    accepts(description)
    const isChanged = new Uint8Array(count)
    for (const granule of granules) isChanged[granule] = 1

    const verify = (granule: number): void => {
      if (checksum(heap.words, wordIndex(HEAP_START, (granule * GRANULE_BYTES) / 4)) === checksums[granule]) return
      throw new Error(`it is damaged at ${HEAP_START + granule * GRANULE_BYTES}`)
    }
    let next: number = HEAP_START
    const lane = async (): Promise<void> => {
      while (next < end) {
        const start = next
        next = Math.min(end, start + CHUNK_BYTES)
        const stop = next
        await read(file, heap.bytes.subarray(start, stop), start - HEAP_START + FILE_START)
        for (
          let granule = (start - HEAP_START) / GRANULE_BYTES;
          granule * GRANULE_BYTES < stop - HEAP_START;
          granule++
        ) {
          if (isChanged[granule] === 0) verify(granule)
        }
      }
    }
    // Every lane must have stopped reading into the memory before a failure is reported.
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane))
    const failure = lanes.find(result => result.status === 'rejected')
    if (failure) throw failure.reason
    const before = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    for (let i = 0; i < changedCount; i += CHUNK_BYTES / GRANULE_BYTES) {
      const some = granules.subarray(i, i + CHUNK_BYTES / GRANULE_BYTES)
      await read(file, before.subarray(0, some.length * GRANULE_BYTES), changedStart + i * GRANULE_BYTES)
      for (const [n, granule] of some.entries()) {
        heap.bytes.set(
          before.subarray(n * GRANULE_BYTES, (n + 1) * GRANULE_BYTES),
          HEAP_START + granule * GRANULE_BYTES,
        )
        verify(granule)
      }
    }
    return description
  } finally {
    await file.close()
  }
}

async function read(file: FileHandle, into: Buffer, position: number): Promise<Buffer> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await file.read(into, at, into.length - at, position + at)
    if (bytesRead === 0) throw new Error(`it ends at ${position + at}`)
    at += bytesRead
  }
  return into
}
