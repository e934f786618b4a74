import { definePlugin, SELECTIONS } from '../../kernel/api.ts'

/**
 * `$orderby`: the order of a selection.
 *
 *   GET /Employee?$orderby="salary desc, employer.name"
 *
 * An `order by` at the end of `$filter` has precedence. Source: protocol notes, 1.6.
 */
export default definePlugin({
  name: 'order-by',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter(
      '$orderby',
      {
        schema: { type: 'string', format: 'order' },
        doc: 'Order of the selection: `lastName, salary desc`. An `order by` in `$filter` takes precedence.',
        on: [...SELECTIONS, 'getSeveral', 'call'],
        section: '4.2',
      },
      (read, _value, request) => {
        read.orderBy = request.text('$orderby')!
      },
    )
  },
})
