import { definePlugin, SELECTIONS } from '../../kernel/api.ts'

/**
 * `$prettyprint=true`, or `$prettyformatting=true`: entities with line breaks and indentation, for human readers.
 *
 *   GET /Employee(1)?$prettyprint=true
 *
 * Source: protocol notes, 11.
 */
export default definePlugin({
  name: 'pretty-print',
  kernel: '^1.0.0',
  register({ parameter }) {
    for (const name of ['$prettyprint', '$prettyformatting'] as const) {
      const doc = `Formats the answer with line breaks and indentation${name === '$prettyprint' ? '' : '; the same as `$prettyprint`'}.`
      parameter(
        name,
        {
          schema: { type: 'boolean' },
          doc,
          example: true,
          on: [...SELECTIONS, 'get'],
          section: 'protocol',
        },
        (read, _value, request) => {
          read.output.pretty ||= request.flag(name)
        },
      )
    }
  },
})
