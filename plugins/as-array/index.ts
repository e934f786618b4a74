import { definePlugin } from '../../kernel/api.ts'

/**
 * `$asArray=true`: a collection as a bare JSON array of entities.
 *
 *   GET /Employee?$asArray=true   →  [{ "__KEY", "__STAMP", …attributes without links, "__GlobalStamp" }]
 *
 * Source: base specification, 4.3; protocol notes, 3.7.
 */
export default definePlugin({
  name: 'as-array',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter(
      '$asArray',
      {
        schema: { type: 'boolean' },
        doc: 'Returns a bare array instead of the collection.',
        example: true,
        on: ['listValues', 'openSet', 'save'],
        section: '4.3',
      },
      (read, _value, request) => {
        if (request.flag('$asArray') && read.output.form === 'collection') read.output.form = 'array'
      },
    )
  },
})
