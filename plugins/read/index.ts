import type { AnswerBody, Promised } from '../../engine/index.ts'
import { definePlugin, encoded, type Reply, type RestRequest, tagged } from '../../kernel/api.ts'
import { entityTag, showsOwnValues } from './entity-tag.ts'

/**
 * Reading: the meaning of a GET on a dataclass if no command handles it.
 *
 *   GET /{dataClass}                       →  a collection (base specification, 2.6)
 *   GET /{dataClass}({key})                →  an entity (2.5); also [{key}] and :{attribute}({value})
 *   GET /{dataClass}({key},{key})          →  a collection
 *
 * The address and the parameter plugins have built the read request. The answer with one entity has an `ETag` if it shows nothing
 * but the values of that entity, and `If-None-Match` is answered with 304. Source: base specification, 4.2; RFC 9110, 13.1.2.
 */
export default definePlugin({
  name: 'read',
  kernel: '^1.0.0',
  register({ verb, engine }) {
    verb('GET', request => {
      const { read, transport } = request
      const answer = engine.read(read, transport)
      return isConditional(request) && showsOwnValues(request) ? versionedReply(request, answer) : encoded(answer)
    })
  },
})

/** Returns true if headers are still available: `$query` has awaited its body, and steps of the path may have awaited their entities. */
const isConditional = ({ transport, steps }: RestRequest): boolean => transport.method !== 'POST' && steps.length === 0

/** The answer with its tag, or 304 if the client already has it. */
function versionedReply(request: RestRequest, answer: Promised<AnswerBody>): Promised<Reply> {
  const { access } = request
  const ifNoneMatch = request.transport.header('if-none-match')
  const show = (body: AnswerBody): Reply => {
    // Only bytes in memory can be searched: other answers are in a file, or compressed.
    if (!(body instanceof Uint8Array)) return encoded(body)
    const tag = entityTag(body, access)
    return tag === undefined ? encoded(body) : tagged(body, tag, { ifNoneMatch })
  }
  return answer instanceof Promise ? answer.then(show) : show(answer)
}
