import { createHash, webcrypto } from 'node:crypto'

/**
 * Digests of each piece of the files of images and blobs, so that a piece can be verified before it is sent, whatever part of a
 * file is requested. They detect a disk that returns other bytes than were written, not a deliberate forger.
 */

/** Size of a piece, in bytes, that is read, verified and cached as a whole. */
export const PIECE_BYTES = 256 * 1024
/** The first bytes of a SHA-256. */
export const DIGEST_BYTES = 8

export const pieceCount = (size: number): number => Math.ceil(size / PIECE_BYTES)

/** Digests of all pieces of a file, concatenated. */
export function digestsOf(bytes: Uint8Array): Uint8Array {
  const digests = new Uint8Array(pieceCount(bytes.length) * DIGEST_BYTES)
  for (let piece = 0; piece * PIECE_BYTES < bytes.length; piece++) {
    const hash = createHash('sha256').update(bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES))
    digests.set(hash.digest().subarray(0, DIGEST_BYTES), piece * DIGEST_BYTES)
  }
  return digests
}

/** Digest of one piece, computed by a thread of the system's pool. */
export async function digestOf(piece: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await webcrypto.subtle.digest('SHA-256', piece)).subarray(0, DIGEST_BYTES)
}

/** True when a digest is that of piece `number`. */
export const isDigestOf = (digest: Uint8Array, digests: Uint8Array, number: number): boolean =>
  digest.every((byte, i) => byte === digests[number * DIGEST_BYTES + i])
