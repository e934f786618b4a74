import { createHash, randomBytes } from 'node:crypto'
import { KeptBuffer } from '../base/kept-buffer.ts'

/**
 * Bytes of a segment, one file of the log: a header, then frames, then zeros. All numbers are little-endian.
 *
 * | header, at | |
 * |---|---|
 * | 0 | `TESSERLG` |
 * | 8 | version u32 |
 * | 12 | u32: 1 if a history begins here that does not continue the segment before; otherwise 0 |
 * | 16 | sequence of its first record, f64 |
 * | 24 | hash of the record before, 16 bytes |
 * | 40 | salt, 8 random bytes |
 * | 48 | digest of the 48 bytes before, 16 bytes |
 *
 * | frame, at | |
 * |---|---|
 * | 0 | length of the record u32, then 4 zero bytes |
 * | 8 | sequence f64 |
 * | 16 | tag: 8 bytes of the digest of the salt and the 16 bytes before |
 * | 24 | hash: 16 bytes of the digest of the hash of the record before, the 24 bytes before and the record |
 * | 40 | the record, then zeros up to a multiple of 8 |
 *
 * Digests are SHA-256, cut off. The salt keeps clients from storing bytes that look like a frame.
 */
export const HEADER_BYTES = 64
const FRAME_BYTES = 40
const MAGIC = Buffer.from('TESSERLG')
const VERSION = 1
const HASH_BYTES = 16
const ANEW_AT = 12
const SALT_AT = 40
const SALT_BYTES = 8
const TAG_AT = 16
const HASH_AT = 24

interface SegmentHeader {
  /** Sequence of the first record. */
  readonly first: number
  /** Hash of the record before it. */
  readonly previous: Uint8Array
  readonly salt: Uint8Array
  /** True if the store was in another state than the one that the previous segment ends with. */
  readonly isAnew: boolean
}

/** A record in the bytes of a segment. */
interface Frame {
  readonly sequence: number
  readonly hash: Uint8Array
  readonly record: Uint8Array
  /** All bytes of the frame. */
  readonly frame: Uint8Array
  /** Position after the frame. */
  readonly end: number
}

export const NO_HASH: Uint8Array = new Uint8Array(HASH_BYTES)

const digest = (length: number, ...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest().subarray(0, length)
}

/** @param salt salt of the frames, if they have already been written */
export function encodeHeader(
  first: number,
  previous: Uint8Array,
  { isAnew = false, salt = randomBytes(SALT_BYTES) }: { isAnew?: boolean; salt?: Uint8Array } = {},
): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(isAnew ? 1 : 0, ANEW_AT)
  bytes.writeDoubleLE(first, 16)
  bytes.set(previous, 24)
  bytes.set(salt, SALT_AT)
  bytes.set(digest(HASH_BYTES, bytes.subarray(0, 48)), 48)
  return bytes
}

/** @returns undefined if the bytes are not an intact header of this version */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < HEADER_BYTES || MAGIC.compare(bytes, 0, MAGIC.length) !== 0) return undefined
  if (bytes.readUInt32LE(8) !== VERSION) return undefined
  if (digest(HASH_BYTES, bytes.subarray(0, 48)).compare(bytes, 48, HEADER_BYTES) !== 0) return undefined
  return {
    first: bytes.readDoubleLE(16),
    previous: new Uint8Array(bytes.subarray(24, 24 + HASH_BYTES)),
    salt: new Uint8Array(bytes.subarray(SALT_AT, SALT_AT + SALT_BYTES)),
    isAnew: bytes.readUInt32LE(ANEW_AT) === 1,
  }
}

/** Bytes that the frame of a record takes. */
export const frameBytes = (recordBytes: number): number => (FRAME_BYTES + recordBytes + 7) & ~7

const frames = new KeptBuffer()

/** @param previous hash of the record before @returns the frame, valid until the next one is encoded, and its hash */
export function encodeFrame(
  salt: Uint8Array,
  previous: Uint8Array,
  sequence: number,
  record: Uint8Array,
): { bytes: Buffer; hash: Uint8Array } {
  const bytes = frames.take(frameBytes(record.length))
  bytes.writeUInt32LE(record.length, 0)
  bytes.writeUInt32LE(0, 4)
  bytes.writeDoubleLE(sequence, 8)
  bytes.set(digest(SALT_BYTES, salt, bytes.subarray(0, TAG_AT)), TAG_AT)
  const hash = new Uint8Array(digest(HASH_BYTES, previous, bytes.subarray(0, HASH_AT), record))
  bytes.set(hash, HASH_AT)
  bytes.set(record, FRAME_BYTES)
  bytes.fill(0, FRAME_BYTES + record.length)
  return { bytes, hash }
}

/** Reads the frame at a position. @returns undefined if the position has no intact frame */
export function decodeFrame(
  bytes: Buffer,
  at: number,
  salt: Uint8Array,
  previous: Uint8Array,
  sequence: number,
): Frame | undefined {
  if (!isFrameStart(bytes, at, salt) || bytes.readDoubleLE(at + 8) !== sequence) return undefined
  const length = bytes.readUInt32LE(at)
  const record = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length)
  const hash = digest(HASH_BYTES, previous, bytes.subarray(at, at + HASH_AT), record)
  if (hash.compare(bytes, at + HASH_AT, at + FRAME_BYTES) !== 0) return undefined
  const end = at + frameBytes(length)
  return { sequence, hash: new Uint8Array(hash), record, frame: bytes.subarray(at, end), end }
}

/**
 * Finds the start of a frame with a sequence above `sequence`. Each record is on the disk before the next one is written, so such a frame
 * after an unreadable one proves that the unreadable one was once whole.
 */
export function findLaterFrame(bytes: Buffer, from: number, salt: Uint8Array, sequence: number): number | undefined {
  let end = bytes.length
  while (end > from && bytes[end - 1] === 0) end--
  for (let at = from; at < end; at += 8) {
    if (at + FRAME_BYTES > bytes.length) break
    const frameSequence = bytes.readDoubleLE(at + 8)
    if (frameSequence > sequence && Number.isSafeInteger(frameSequence) && isFrameStart(bytes, at, salt)) return at
  }
  return undefined
}

function isFrameStart(bytes: Buffer, at: number, salt: Uint8Array): boolean {
  if (at + FRAME_BYTES > bytes.length) return false
  const length = bytes.readUInt32LE(at)
  if (length === 0 || at + frameBytes(length) > bytes.length) return false
  return digest(SALT_BYTES, salt, bytes.subarray(at, at + TAG_AT)).compare(bytes, at + TAG_AT, at + HASH_AT) === 0
}
