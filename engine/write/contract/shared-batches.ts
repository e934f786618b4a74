/** Memory for one direction. A sender that finds too little room sends its batch as an ordinary message. */
const BUFFER_BYTES = 512 * 1024
const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT
/** Index of the only word in front of the batches: the number of batches that the receiver has released, modulo 2³². */
const RELEASED = 0

/** Words that a number of bytes takes. */
export const wordsFor = (bytes: number): number => (bytes + WORD_BYTES - 1) >>> 2

/** A batch in shared memory, until it is released. */
interface Outstanding {
  readonly start: number
  readonly end: number
}

/**
 * Batches of bytes from one thread to another, in shared memory: the message that announces a batch stays small, so that it costs the same
 * for one request and for many. One thread sends, the other receives in the same order, copies what it needs and releases each batch. Both
 * make an object of this class over the same memory.
 */
export class SharedBatches {
  /** Memory in words, for fields of records. */
  readonly words: Uint32Array
  /** The same memory in bytes. */
  readonly bytes: Buffer
  private readonly outstanding: Outstanding[] = []
  private releasedCount = 0

  constructor(readonly buffer = new SharedArrayBuffer(BUFFER_BYTES)) {
    this.words = new Uint32Array(buffer)
    this.bytes = Buffer.from(buffer)
  }

  /**
   * Finds room for a batch, which the sender fills before it sends the message. Starts from the beginning whenever it can, where the memory
   * is in the caches of the processor.
   * @returns index of its first word; undefined if there is no room
   */
  reserve(wordCount: number): number | undefined {
    const { outstanding, words } = this
    const released = Atomics.load(words, RELEASED)
    for (; this.releasedCount !== released; this.releasedCount = (this.releasedCount + 1) >>> 0) outstanding.shift()
    const first = outstanding[0]?.start ?? words.length
    const last = outstanding.at(-1)?.end ?? RELEASED + 1
    let start = outstanding.length === 0 ? RELEASED + 1 : last
    // The oldest batch is after the newest one if the newest ones have started over.
    const limit = last > first ? words.length : first
    if (start + wordCount > limit) {
      if (limit < words.length || outstanding.length === 0 || RELEASED + 1 + wordCount > first) return undefined
      start = RELEASED + 1
    }
    outstanding.push({ start, end: start + wordCount })
    return start
  }

  /** Called by the receiver when it has read the oldest batch that it has not released. */
  release(): void {
    Atomics.add(this.words, RELEASED, 1)
  }
}
