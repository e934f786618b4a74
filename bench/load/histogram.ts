/** Each bucket is 1 % wider than the one before. */
const GROWTH = Math.log(1.01)
const MAX_MICROSECONDS = 1e9
const BUCKETS = Math.ceil(Math.log(MAX_MICROSECONDS) / GROWTH) + 1

/** Latencies from 1 µs to 1,000 s, exact to 1 %. */
export class Histogram {
  private readonly counts = new Uint32Array(BUCKETS)
  count = 0

  add(microseconds: number): void {
    const bucket = microseconds <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(microseconds) / GROWTH))
    this.counts[bucket]!++
    this.count++
  }

  /**
   * Latency in microseconds that is not exceeded by a share of all; NaN when there are none.
   * @param share 0.99 for the p99
   */
  quantile(share: number): number {
    if (this.count === 0) return Number.NaN
    let remainder = Math.max(1, Math.ceil(this.count * share))
    for (let bucket = 0; ; bucket++) {
      remainder -= this.counts[bucket]!
      if (remainder <= 0) return Math.exp(bucket * GROWTH)
    }
  }
}
