import { definePlugin } from '../../kernel/api.ts'
import { PostQueryErrors } from './errors.ts'

/**
 * `$query`: any read, sent as a POST with its parameters as a JSON object, for queries that are too long for a URL.
 *
 *   POST /rest/Employee/$query     {"$filter":"salary > :1","$params":[20000],"$top":10}
 *   POST /rest/Company(1)/name/$query
 *
 * answers like `GET /rest/Employee?$filter=…`. Parameters of the URL are used too; parameters of the body have precedence. An extension of
 * Tesser: the base protocol has no form for this.
 */
export default definePlugin({
  name: 'post-query',
  kernel: '^1.0.0',
  register({ part }) {
    part('$query', async request => {
      if (request.verb !== 'POST') throw PostQueryErrors.NOT_POST(request.verb)
      const members = await request.jsonMembers()
      const parameters = new Map(request.parameters)
      for (const [name, value] of members) {
        if (!name.startsWith('$')) throw PostQueryErrors.NOT_A_PARAMETER(name.slice(0, 100))
        parameters.set(name, value)
      }
      request.parameters = parameters
      request.verb = 'GET'
    })
  },
})
