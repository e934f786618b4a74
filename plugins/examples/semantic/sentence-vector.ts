import { BroadcastChannel } from 'node:worker_threads'
import { channelOf, DIMENSION, DONE, FAILED, WAITING } from './channel.js'

/** Pages of one search ask for the same vector. */
const REMEMBERED = 100
const remembered = new Map<string, number[]>()

/** So often the server can look at this thread, and end it. */
const SLICE_MS = 20

/** What a Float32 of a vector of length 1 is worth, so that a vector fits into a URL. */
const DIGITS = 6

/**
 * The vector of a sentence, of length 1. Waits for the thread of the model, because functions are synchronous.
 * @returns undefined when there is no model
 */
export function askModel(sentence: string, weights: string): number[] | undefined {
  const known = remembered.get(sentence)
  if (known) return known
  const state = new Int32Array(new SharedArrayBuffer(4))
  const shared = new Float32Array(new SharedArrayBuffer(4 * DIMENSION))
  const channel = new BroadcastChannel(channelOf(weights))
  channel.postMessage({ sentence, state, vector: shared })
  channel.close()
  for (let now = WAITING; now < DONE; now = Atomics.load(state, 0)) Atomics.wait(state, 0, now, SLICE_MS)
  if (Atomics.load(state, 0) === FAILED) return undefined
  const vector = Array.from(shared, number => Number(number.toFixed(DIGITS)))
  if (remembered.size === REMEMBERED) remembered.delete(remembered.keys().next().value!)
  remembered.set(sentence, vector)
  return vector
}
