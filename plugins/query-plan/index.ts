import { definePlugin, encoded, type Reply, type RestRequest } from '../../kernel/api.ts'

/**
 * `$queryplan=true` and `$querypath=true` tell in front of a collection how its filter is carried out, and what each
 * step took and found.
 *
 *   GET /Employee?$filter="employer.name = acme and salary > 10"&$queryplan=true&$querypath=true
 *     →  { "__queryPlan": { "And": [ { "item": "Join on Table : …", "subquery": […] }, … ] },
 *          "__queryPath": { "steps": [ { "description": "AND", "time": 0, "recordsfounds": 4, "steps": […] } ] },
 *          "__entityModel": "Employee", … }
 *
 * Without a filter they have no effect. The texts are for people and may change. Source: protocol notes, 2.14.
 */
export default definePlugin({
  name: 'query-plan',
  kernel: '^1.0.0',
  register({ command, engine }) {
    const described = (request: RestRequest): Promise<Reply> | undefined => {
      const { read } = request
      const [isPlan, isPath] = [request.flag('$queryplan'), request.flag('$querypath')]
      if (!(isPlan || isPath) || read.filter === undefined || read.output.form !== 'collection') return undefined
      return describe(request, isPlan, isPath)
    }
    const describe = async ({ read, transport }: RestRequest, isPlan: boolean, isPath: boolean): Promise<Reply> => {
      const description = JSON.stringify(
        {
          ...(isPlan && { __queryPlan: engine.explain(read) }),
          ...(isPath && { __queryPath: { steps: [await engine.trace(read, transport)] } }),
        },
        undefined,
        read.output.pretty ? 2 : undefined,
      )
      // Both are JSON objects: without the bracket that ends the one and the bracket that begins the other they are one.
      const open = description.slice(0, read.output.pretty ? -'\n}'.length : -'}'.length)
      const joined = (answer: Uint8Array) => encoded(Buffer.concat([Buffer.from(`${open},`), answer.subarray(1)]))
      const answer = engine.read(read, transport)
      // Without an `await` in between: what is read at once is only valid until the next read.
      return answer instanceof Promise ? answer.then(joined) : joined(answer)
    }
    command('$queryplan', { verbs: ['GET'] }, described)
    command('$querypath', { verbs: ['GET'] }, described)
  },
})
