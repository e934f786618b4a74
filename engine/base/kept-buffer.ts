const KEPT_BYTES = 8 * 2 ** 20

/**
 * Memory for bytes that are needed for a short time, again and again. Fresh memory is expensive: the system provides and clears each page of
 * it on first use, which can take longer than everything that is done with its bytes.
 */
export class KeptBuffer {
  private kept = Buffer.alloc(0)

  /** @returns uninitialized memory, valid until the next call */
  take(bytes: number): Buffer {
    if (bytes > KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes)
    if (bytes > this.kept.length) this.kept = Buffer.allocUnsafeSlow(Math.min(KEPT_BYTES, 2 * bytes))
    return this.kept.subarray(0, bytes)
  }
}
