/**
 * The thread that makes vectors of sentences, one after the other. JavaScript, because a thread starts with a file that Node
 * can run. The model is loaded when the first sentence comes.
 */
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import { channelOf, DONE, FAILED, TAKEN, WAITING } from './channel.js'

const { weights } = workerData
let loading

async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([import('@energetic-ai/embeddings'), import(weights)])
  return initModel(modelSource)
}

async function answer({ data: { sentence, state, vector } }) {
  // Other servers of this process hear of it too.
  if (Atomics.compareExchange(state, 0, WAITING, TAKEN) !== WAITING) return
  try {
    loading ??= loadModel()
    const model = await loading
    vector.set(await model.embed(sentence))
    Atomics.store(state, 0, DONE)
  } catch (error) {
    loading = undefined
    parentPort.postMessage({ problem: `a sentence got no vector: ${error.message}` })
    Atomics.store(state, 0, FAILED)
  }
  Atomics.notify(state, 0)
}

new BroadcastChannel(channelOf(weights)).onmessage = answer
parentPort.postMessage({ problem: undefined })
