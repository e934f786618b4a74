import { isDeeper, parseJsonBody } from '../../engine/index.ts'
import { definePlugin } from '../../kernel/api.ts'
import { PostQueryErrors } from './errors.ts'

/** Levels of a body. What reads it may be recursive. */
const MAX_DEPTH = 100

/** @throws {PostQueryErrors.TOO_LARGE} what would become null */
const textOf = (parameter: unknown): string =>
  JSON.stringify(parameter, (_, value: unknown) => {
    if (value === Infinity || value === -Infinity) throw PostQueryErrors.TOO_LARGE()
    return value
  })

/**
 * `$query`: any read, sent as a POST with its parameters as a JSON object, for queries that are too long for a URL.
 *
 *   POST /rest/Employee/$query     {"$filter":"salary > :1","$params":[20000],"$top":10}
 *   POST /rest/Company(1)/name/$query
 *
 * answers what `GET /rest/Employee?$filter=…` would. Parameters of the URL count too; those of the body win. An
 * extension of Tesser: the base protocol has no form for this.
 */
export default definePlugin({
  name: 'post-query',
  kernel: '^1.0.0',
  register({ part }) {
    part('$query', async request => {
      if (request.verb !== 'POST') throw PostQueryErrors.NOT_POST(request.verb)
      const body = parseJsonBody(await request.body())
      const merged = new Map(request.parameters)
      if (body !== undefined) {
        if (typeof body !== 'object' || body === null || Array.isArray(body)) throw PostQueryErrors.NOT_AN_OBJECT()
        if (isDeeper(body, MAX_DEPTH)) throw PostQueryErrors.TOO_DEEP(MAX_DEPTH)
        for (const [name, value] of Object.entries(body)) {
          merged.set(name, typeof value === 'string' ? value : textOf(value))
        }
      }
      request.parameters = merged
      request.verb = 'GET'
    })
  },
})
