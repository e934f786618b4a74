/**
 * An image of the shared memory in a file, at one moment between two commits:
 *
 * ```
 * a granule with FileHeader
 * granules of the memory from HEAP_START on; those that changed while the image was written are invalid
 * contents of these before the change, in any order
 * u32 × granules from HEAP_START on: their checksums
 * u32 × such granules: their numbers, counted from HEAP_START
 * description: JSON, UTF-8
 * ```
 *
 * So nearly all of a file is read straight into the memory, and pointers need no change.
 */
export const GRANULE_BYTES = 4096
const GRANULE_WORDS = GRANULE_BYTES / 4
/** Start of the granules in the file. */
export const FILE_START = GRANULE_BYTES

const MAGIC = 0x52535354
/** Raised when the layout of anything in an image changes. */
const IMAGE_VERSION = 7

const CHECKSUM_OFFSET = 32
/** Bytes of {@link FileHeader} in the file. */
export const FILE_HEADER_BYTES = 36

interface FileHeader {
  /** Granules of the memory. */
  readonly count: number
  /** Granules that changed, stored after the others. */
  readonly changedCount: number
  readonly descriptionBytes: number
}

/** @param tail everything after the granules, for the checksum of both */
export function encodeHeader({ count, changedCount, descriptionBytes }: FileHeader, tail: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_BYTES)
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(IMAGE_VERSION, 4)
  bytes.writeDoubleLE(count, 8)
  bytes.writeDoubleLE(changedCount, 16)
  bytes.writeDoubleLE(descriptionBytes, 24)
  bytes.writeUInt32LE(tailChecksum(bytes, tail), CHECKSUM_OFFSET)
  return bytes
}

/** @throws {Error} when the file is not an image of this version */
export function decodeHeader(bytes: Buffer): FileHeader {
  if (bytes.readUInt32LE(0) !== MAGIC) throw new Error('it is not complete')
  const version = bytes.readUInt32LE(4)
  if (version !== IMAGE_VERSION) throw new Error(`it has format ${version}, and not ${IMAGE_VERSION}`)
  return {
    count: bytes.readDoubleLE(8),
    changedCount: bytes.readDoubleLE(16),
    descriptionBytes: bytes.readDoubleLE(24),
  }
}

/** True if header and tail were written together and are intact. */
export const isIntact = (header: Buffer, tail: Uint8Array): boolean =>
  header.readUInt32LE(CHECKSUM_OFFSET) === tailChecksum(header, tail)

const tailChecksum = (header: Buffer, tail: Uint8Array): number =>
  (checksumOf(header.subarray(0, CHECKSUM_OFFSET)) ^ checksumOf(tail)) >>> 0

/**
 * Checksum of whole granules, which detects missing and partial writes. Four chains, because each multiplication waits for the
 * one before: 7 GB/s.
 * @param start a multiple of 4 words
 */
export function checksum(words: Uint32Array, start = 0, count = GRANULE_WORDS): number {
  let a = 1
  let b = 2
  let c = 3
  let d = 4
  for (let i = start; i < start + count; i += 4) {
    a = Math.imul(a ^ words[i]!, 0x9e3779b1)
    b = Math.imul(b ^ words[i + 1]!, 0x9e3779b1)
    c = Math.imul(c ^ words[i + 2]!, 0x9e3779b1)
    d = Math.imul(d ^ words[i + 3]!, 0x9e3779b1)
  }
  return (a ^ rotate(b, 8) ^ rotate(c, 16) ^ rotate(d, 24)) >>> 0
}

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/** Checksum of bytes of any length. */
function checksumOf(bytes: Uint8Array): number {
  const words = new Uint32Array(Math.ceil(bytes.length / 16) * 4)
  new Uint8Array(words.buffer).set(bytes)
  return checksum(words, 0, words.length)
}
