import { type CommandSpec, definePlugin, encoded, json, Type } from 'tesser'
import type { HistogramArguments } from './histogram.ts'

/** `$histogram=attribute`: number of entities of a selection in each of several ranges of equal width. */
export default definePlugin({
  name: 'tesser-example-histogram',
  kernel: '^1.0.0',
  options: Type.Object({
    /** Maximum number of ranges that a client can request. */
    maxBuckets: Type.Integer({ default: 1000, minimum: 1 }),
  }),
  tasks: { histogram: new URL('./histogram.ts', import.meta.url) },
  register(scope, { maxBuckets }) {
    scope.parameter('$buckets', {
      schema: { type: 'integer', minimum: 1, maximum: maxBuckets },
      doc: 'With `$histogram`: the number of ranges, 10 by default.',
      example: 5,
    })
    scope.command('$histogram', HISTOGRAM, request => {
      const buckets = Number(request.parameter('$buckets') ?? 10)
      if (!Number.isInteger(buckets) || buckets < 1 || buckets > maxBuckets) {
        return json({ result: `$buckets is a number from 1 to ${maxBuckets}` }, 400)
      }
      const args: HistogramArguments = { attribute: request.parameter('$histogram')!, buckets }
      const { read, transport } = request
      return encoded(scope.engine.runTask('tesser-example-histogram/histogram', read, args, transport))
    })
  },
})

const HISTOGRAM: CommandSpec = {
  verbs: ['GET'],
  schema: { type: 'string' },
  doc: 'Number of entities in each of several ranges of an attribute, all of the same width.',
}
