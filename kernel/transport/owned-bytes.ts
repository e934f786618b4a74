import type { BodySource } from './transport.ts'

/** Small enough for slow readers to be seen to make progress. */
export const PIECE_BYTES = 64 * 1024

/** A body in memory that nothing writes to: it is sent from there, however large it is, without a copy. */
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
