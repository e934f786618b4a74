import { setTimeout as delay } from 'node:timers/promises'

const WORKING = 0
const CLOSED = 1
const POLL_MS = 5

/**
 * Keeps the thread that has the indexes from being ended while it works on one of them: hnswlib-node crashes the process if its thread ends
 * while it reads a vector or writes a file.
 */
export class ThreadGate {
  /** @param words from {@link ThreadGate.allocate}, shared by both threads */
  constructor(private readonly words: Int32Array) {}

  static allocate(): Int32Array {
    return new Int32Array(new SharedArrayBuffer(8))
  }

  /** Runs `work`, unless the gate is closed. */
  async pass(work: () => Promise<void>): Promise<void> {
    Atomics.store(this.words, WORKING, 1)
    try {
      if (Atomics.load(this.words, CLOSED) === 0) await work()
    } finally {
      Atomics.store(this.words, WORKING, 0)
    }
  }

  /** Closes the gate, from the other thread. Resolves when no work is under way, and none can begin. */
  async close(): Promise<void> {
    Atomics.store(this.words, CLOSED, 1)
    while (Atomics.load(this.words, WORKING) === 1) await delay(POLL_MS)
  }
}
