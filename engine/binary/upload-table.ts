import type { BinaryValue } from '../catalog/value.ts'
import { decodeBinary } from '../storage/encode-binary.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { idOfExpiryKey, expiryKey, uploadKey } from '../storage/keys.ts'

/** What the writer thread is to do with one upload. */
export interface UploadChange {
  /** 32 upper-case hex digits. */
  readonly id: string
  /** Undefined: it ends. */
  readonly upload: EncodedUpload | undefined
}

export interface EncodedUpload {
  /** In milliseconds since 1970. */
  readonly expires: number
  readonly owner: UploadOwner
  /** As `encodeBinary` makes it. */
  readonly value: Uint8Array
}

/**
 * Who uploads or attaches. An upload is for its session; that of a client that came without one is also for others who come
 * without, since such a client may keep no cookies at all. An id has 128 random bits.
 */
export interface UploadOwner {
  /** Handle of the session. */
  readonly handle: string
  /** The session was made for this request. */
  readonly isNew: boolean
}

export interface Upload {
  readonly expires: number
  readonly owner: UploadOwner
  readonly value: BinaryValue
}

const ID = /^[0-9A-F]{32}$/
const HEADER_BYTES = 10

/** Stored form: end of its life (f64), whether the session was new (u8), length of its handle (u8), handle, binary. */
export function writeUpload({ expires, owner, value }: EncodedUpload): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeDoubleBE(expires)
  header[8] = owner.isNew ? 1 : 0
  header[9] = owner.handle.length
  return Buffer.concat([header, Buffer.from(owner.handle, 'latin1'), value])
}

/** An upload that has not been removed yet. */
export function readUpload({ uploads, files }: Environment, id: string): Upload | undefined {
  const stored = ID.test(id) ? getBytes(uploads, uploadKey(id)) : undefined
  if (!stored) return undefined
  const bytes = Buffer.from(stored)
  const start = HEADER_BYTES + bytes[9]!
  const value = decodeBinary(bytes.subarray(start), files)
  const owner = { handle: bytes.toString('latin1', HEADER_BYTES, start), isNew: bytes[8] === 1 }
  return value && { expires: bytes.readDoubleBE(), owner, value }
}

/** Ids of the uploads that have ended at `now`, the oldest first. */
export function expiredUploads({ uploads }: Environment, now: number, limit: number): string[] {
  return [...uploads.getKeys({ start: expiryKey(0), end: expiryKey(now + 1), limit }).map(idOfExpiryKey)]
}

/** All of them. */
export function* eachUpload(environment: Environment): Generator<[id: string, upload: Upload]> {
  for (const key of environment.uploads.getKeys({ start: expiryKey(0) })) {
    const id = idOfExpiryKey(key)
    const upload = readUpload(environment, id)
    if (upload) yield [id, upload]
  }
}
