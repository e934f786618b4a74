import type { BodySource } from './transport.ts'

/** Piece size: small enough to see the progress of slow readers. */
export const PIECE_BYTES = 64 * 1024

/** A body in memory that is never overwritten: it is sent without a copy, whatever its size. */
export class OwnedBytes implements BodySource {
  constructor(readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.byteLength
  }

  get bufferBytes(): number {
    return this.size
  }

  read(start: number): Uint8Array {
    return this.bytes.subarray(start, start + PIECE_BYTES)
  }

  close(): void {}
}
