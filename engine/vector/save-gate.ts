import { setTimeout as delay } from 'node:timers/promises'

const SAVING = 0
const CLOSED = 1
const POLL_MS = 5

/**
 * Keeps the thread that has the indexes from being ended while it writes one of them: hnswlib-node, which finds its thread
 * gone when a file is written, ends the process.
 */
export class SaveGate {
  /** @param words from {@link SaveGate.allocate}, shared by both threads */
  constructor(private readonly words: Int32Array) {}

  static allocate(): Int32Array {
    return new Int32Array(new SharedArrayBuffer(8))
  }

  /** Saves, unless it is closed. */
  async pass(save: () => Promise<void>): Promise<void> {
    Atomics.store(this.words, SAVING, 1)
    try {
      if (Atomics.load(this.words, CLOSED) === 0) await save()
    } finally {
      Atomics.store(this.words, SAVING, 0)
    }
  }

  /** In the other thread. @returns when nothing is being saved, and nothing will be any more */
  async close(): Promise<void> {
    Atomics.store(this.words, CLOSED, 1)
    while (Atomics.load(this.words, SAVING) === 1) await delay(POLL_MS)
  }
}
