import type { Promised } from '../../engine/index.ts'
import { definePlugin, json, type Reply, type RestRequest } from '../../kernel/api.ts'
import { schemaOf } from './looker-schema.ts'
import { FormatErrors } from './errors.ts'

/**
 * `$format=looker`: a selection as a table, for connectors of Looker Studio. `$format=json` is the usual answer.
 *
 *   GET /Employee/ID,lastName?$filter="woman"&$top=50&$format=looker
 *     →  { "__COUNT": 3, "__FIRST": 0,
 *          "schema": [{ "name": "ID", "dataType": "NUMBER", "semantics": {…} }, …],
 *          "rows": [{ "values": [1, "Lovelace"] }, …],
 *          "filtersApplied": true }
 *
 * The columns are the scalar attributes of the list, or of the dataclass; others are left out. Numbers are doubles there:
 * a 64-bit integer beyond 2^53 loses digits. Source: protocol notes, 6.8.
 */
export default definePlugin({
  name: 'format',
  kernel: '^1.0.0',
  register({ command, engine }) {
    const table = ({ read, view, transport }: RestRequest): Promised<Reply> => {
      const { attributes } = read.output
      const schema = schemaOf(view.dataClass(read.dataClass), attributes?.items, view)
      // With a list all of it is read, so that a wrong name is still an error.
      const items = attributes?.items ?? schema.map(({ name }) => ({ path: [name], range: undefined }))
      const output = { form: 'collection', attributes: { from: 'path', items } } as const
      const reply = (body: Uint8Array): Reply => {
        const { __COUNT, __FIRST, __ENTITIES } = JSON.parse(Buffer.from(body).toString()) as Collection
        const rows = __ENTITIES.map(entity => ({ values: schema.map(({ name }) => entity[name] ?? null) }))
        return json({ __COUNT, __FIRST, schema, rows, filtersApplied: read.filter !== undefined })
      }
      const body = engine.read({ ...read, output }, transport)
      return body instanceof Promise ? body.then(reply) : reply(body)
    }
    command('$format', { verbs: ['GET'] }, request => {
      const format = request.parameter('$format')!.toLowerCase()
      if (format === 'json') return undefined
      if (format !== 'looker') throw FormatErrors.UNKNOWN_FORMAT(format.slice(0, 100))
      return table(request)
    })
  },
})

interface Collection {
  __COUNT: number
  __FIRST: number
  __ENTITIES: Record<string, unknown>[]
}
