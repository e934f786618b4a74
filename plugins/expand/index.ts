import { parseExpandList } from '../../engine/index.ts'
import { definePlugin, SELECTIONS } from '../../kernel/api.ts'

/**
 * `$expand`: related entities in the answer instead of links to them.
 *
 *   GET /Employee?$expand=employer,staff.employer       several relations and levels
 *   GET /Company(1)?$expand=staff:10                     at most ten; staff:10-20 skips twenty
 *   GET /Company(1)?$expand=$all                         every relation, one level
 *   GET /Company(1)/staff?$expand=staff&$filter=…        $filter, $orderby, $top and $skip then apply to the staff
 *
 * Source: protocol notes, 4.1.
 */
export default definePlugin({
  name: 'expand',
  kernel: '^1.0.0',
  register({ parameter, engine }) {
    parameter(
      '$expand',
      {
        schema: { type: 'string', format: 'relations' },
        doc: 'Returns related entities instead of links to them: `manager, employer.staff:0-10`, or `$all`.',
        on: [...SELECTIONS, 'get', 'getValues', 'getBy', 'getSeveral', 'save'],
        section: '4.2',
      },
      (read, value) => {
        read.output.expand = parseExpandList(value, read.dataClass, engine.limits)
      },
    )
  },
})
