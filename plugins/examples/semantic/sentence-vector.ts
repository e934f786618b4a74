import { BroadcastChannel } from 'node:worker_threads'
import { channelOf, DIMENSION, DONE, FAILED, WAITING } from './channel.js'

/** Number of remembered vectors: the pages of one search need the same vector. */
const REMEMBERED = 100
const remembered = new Map<string, number[]>()

/** Interval at which the server can interrupt this thread, and end it. */
const SLICE_MS = 20

/** Maximum time to wait for the model. Less than the deadline of a function (`functions.deadlineSeconds`), at which its thread is ended. */
const PATIENCE_MS = 4_000

/** Significant digits of a Float32 of a vector of length 1, so that a vector fits into a URL. */
const DIGITS = 6

/**
 * The vector of a sentence, of length 1. Waits for the thread of the model, because functions are synchronous.
 * @returns the reason if there is none: `failed` if the model cannot be loaded, `late` if it is still being loaded
 */
export function askModel(sentence: string, weights: string): number[] | 'failed' | 'late' {
  const known = remembered.get(sentence)
  if (known) return known
  const state = new Int32Array(new SharedArrayBuffer(4))
  const shared = new Float32Array(new SharedArrayBuffer(4 * DIMENSION))
  const channel = new BroadcastChannel(channelOf(weights))
  channel.postMessage({ sentence, state, vector: shared })
  channel.close()
  const until = performance.now() + PATIENCE_MS
  for (let now = WAITING; now < DONE; now = Atomics.load(state, 0)) {
    if (performance.now() > until) return 'late'
    Atomics.wait(state, 0, now, SLICE_MS)
  }
  if (Atomics.load(state, 0) === FAILED) return 'failed'
  const vector = Array.from(shared, number => Number(number.toFixed(DIGITS)))
  if (remembered.size === REMEMBERED) remembered.delete(remembered.keys().next().value!)
  remembered.set(sentence, vector)
  return vector
}
