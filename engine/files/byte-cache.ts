/** Cache of bytes by key with a maximum size; evicts the least recently used. Concurrent requests for one key load it once. */
export class ByteCache {
  /** Least recently used first. */
  private readonly entries = new Map<string, Uint8Array>()
  private readonly loading = new Map<string, Promise<Uint8Array>>()
  private usedBytes = 0
  private hits = 0
  private misses = 0

  constructor(private readonly maxBytes: number) {}

  /** @param load loads the bytes; a failure is passed to all waiting callers and not kept */
  get(key: string, load: () => Promise<Uint8Array>): Uint8Array | Promise<Uint8Array> {
    const cachedBytes = this.entries.get(key)
    if (cachedBytes) {
      this.hits++
      this.entries.delete(key)
      this.entries.set(key, cachedBytes)
      return cachedBytes
    }
    this.misses++
    let loading = this.loading.get(key)
    if (!loading) {
      loading = load()
        .then(bytes => {
          this.keep(key, bytes)
          return bytes
        })
        .finally(() => this.loading.delete(key))
      this.loading.set(key, loading)
    }
    return loading
  }

  /** Memory in use, and lookups so far. */
  get usage(): { bytes: number; hits: number; misses: number } {
    return { bytes: this.usedBytes, hits: this.hits, misses: this.misses }
  }

  private keep(key: string, bytes: Uint8Array): void {
    const cost = bytes.length + OVERHEAD_BYTES
    if (cost > this.maxBytes) return
    this.entries.set(key, bytes)
    this.usedBytes += cost
    for (const [oldest, { length }] of this.entries) {
      if (this.usedBytes <= this.maxBytes) return
      this.entries.delete(oldest)
      this.usedBytes -= length + OVERHEAD_BYTES
    }
  }
}

/** Overhead counted for an entry besides its bytes, so that the number of empty entries is bounded too. */
const OVERHEAD_BYTES = 200
