import { definePlugin, type ParameterSpec } from '../../kernel/api.ts'
import { BriefErrors } from './errors.ts'

/**
 * `$brief=200`: texts, objects and vectors whose JSON is longer than this many bytes are sent as links with an excerpt, as images
 * and blobs are. For lists that show many values and need little of each.
 *
 *   GET /Country?$attributes=name,info&$brief=200
 *   →  … "info": { "__deferred": { "uri": "/rest/Country(FR)/info", "brief": "{\"currencies\":[{\"code\":…" } }
 *
 * `brief` is the beginning of a text, or of the JSON of another value, of at most that many bytes; `uri` is the address of the whole
 * value. An alias has no `uri`: it may lead to an entity that the client cannot see otherwise. An extension: the base protocol sends values whole.
 */
export default definePlugin({
  name: 'brief',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$brief', BRIEF, (read, value) => {
      if (!/^\d{1,9}$/.test(value) || Number(value) < MIN_BYTES) throw BriefErrors.NOT_A_LENGTH(value.slice(0, 100))
      read.output.briefBytes = Number(value)
    })
  },
})

/** Room for a quote and one complete escape. */
const MIN_BYTES = 16

const BRIEF: ParameterSpec = {
  schema: { type: 'integer', minimum: MIN_BYTES },
  doc: 'Number of bytes. Each longer text, object or vector is sent as a link with the beginning of the value.',
  example: 200,
  on: ['listValues', 'openSet'],
}
