import { parseAttributeList } from '../../engine/index.ts'
import { definePlugin } from '../../kernel/api.ts'

/**
 * `$attributes`: which attributes are sent, also of related entities.
 *
 *   GET /Employee(1)?$attributes=lastName,employer.name,staff.*
 *
 * An attribute list in the path has precedence. Source: base specification, 4.2; protocol notes, 4.2.
 */
export default definePlugin({
  name: 'attributes',
  kernel: '^1.0.0',
  register({ parameter, engine }) {
    parameter(
      '$attributes',
      {
        schema: { type: 'string', format: 'attributes' },
        doc: 'Attributes of the answer: `name, manager.name, manager.*`. A list of attributes in the path takes precedence.',
        on: ['list', 'openSet', 'get', 'getBy', 'getSeveral'],
        section: '4.2',
      },
      (read, value) => {
        if (read.output.attributes?.from === 'path') return
        read.output.attributes = { from: 'parameter', items: parseAttributeList(value, read.dataClass, engine.limits) }
      },
    )
  },
})
