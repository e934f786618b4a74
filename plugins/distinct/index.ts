import { definePlugin, encoded, type CommandSpec, type ParameterSpec } from '../../kernel/api.ts'

/**
 * `$distinct=true`: the different values of an attribute in a selection, ascending, as a bare array.
 *
 *   GET /Company/name?$filter="name = a@"&$distinct=true   →  ["Acme", "Adobe"]
 *   GET /Employee/employer.name?$distinct=true&$counts=true&$top=2
 *     →  [{ "value": "Acme", "count": 2 }, { "value": "zeta", "count": 2 }]     the most frequent first
 *
 * Texts that differ only in case or accents are one value, in the spelling of the first entity that has it. Null is left out. `$top` and
 * `$skip` page the array; without them it has all values. In a list of attributes the first scalar one is used; properties (`info.city`)
 * and paths (`employer.name`) work too. Source: protocol notes, 6.7.
 */
export default definePlugin({
  name: 'distinct',
  kernel: '^1.0.0',
  register({ command, parameter, engine }) {
    parameter('$counts', COUNTS)
    command('$distinct', DISTINCT, request => {
      if (!request.flag('$distinct')) return undefined
      const { read, transport } = request
      const counted = request.flag('$counts')
      return encoded(engine.distinct(read, read.output.attributes?.items ?? [], transport, { counted }))
    })
  },
})

const DISTINCT: CommandSpec = {
  verbs: ['GET'],
  schema: { type: 'boolean' },
  doc: 'Returns the distinct values of the first attribute, ascending, instead of entities. With `$compute`, each value counts once.',
  example: true,
  on: ['listValues'],
  section: '4.6',
}
const COUNTS: ParameterSpec = {
  schema: { type: 'boolean' },
  doc: 'With `$distinct`: returns each value with its number of entities, the most frequent first.',
  example: true,
  on: ['listValues'],
}
