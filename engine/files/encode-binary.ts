import type { BinaryFiles } from './binary-files.ts'
import { BinaryValue } from '../catalog/value.ts'
import { DIGEST_BYTES, pieceCount } from './binary-digest.ts'

/** Maximum size of values in the store itself: larger ones delay other commits, and reads copy more than they send. */
export const INLINE_BYTES = 64 * 1024

/** Set in the first byte when the bytes are in a file. */
const IN_FILE = 0x80
const FILE_ID_BYTES = 16
const NONE = new Uint8Array(0)

/**
 * Stored form of an image or a blob: length of the media type and where the bytes are (u8), media type, then the bytes or
 * the id of their file (16 bytes), its size (f64) and the digests of its pieces, which older versions did not write.
 */
export function encodeBinary({ mediaType, content }: BinaryValue): Uint8Array {
  const type = Buffer.from(mediaType, 'latin1')
  if (type.length >= IN_FILE) throw new RangeError(`a media type of ${type.length} bytes; at most 127 are kept`)
  if (content instanceof Uint8Array) return join(Buffer.of(type.length), type, content)
  const size = Buffer.allocUnsafe(8)
  size.writeDoubleBE(content.size)
  return join(Buffer.of(type.length | IN_FILE), type, Buffer.from(content.id, 'hex'), size, content.digests ?? NONE)
}

/** Decodes a copy: the stored bytes may belong to the store. @returns undefined when they are damaged */
export function decodeBinary(bytes: Uint8Array, files: BinaryFiles): BinaryValue | undefined {
  const head = bytes[0] ?? 0
  const start = 1 + (head & ~IN_FILE)
  if (bytes.length < start) return undefined
  const mediaType = Buffer.from(bytes.subarray(1, start)).toString('latin1')
  if (head < IN_FILE) return new BinaryValue(mediaType, new Uint8Array(bytes.subarray(start)))
  if (bytes.length < start + FILE_ID_BYTES + 8) return undefined
  const reference = Buffer.from(bytes.subarray(start))
  const id = reference.toString('hex', 0, FILE_ID_BYTES).toUpperCase()
  const size = reference.readDoubleBE(FILE_ID_BYTES)
  const digests = new Uint8Array(reference.subarray(FILE_ID_BYTES + 8))
  if (digests.length > 0 && digests.length !== pieceCount(size) * DIGEST_BYTES) return undefined
  return new BinaryValue(mediaType, files.file(id, size, digests.length > 0 ? digests : undefined))
}

/** Concatenates into separate memory, which can be transferred to another thread. */
function join(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
