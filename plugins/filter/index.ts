import { receiveParams } from '../../engine/index.ts'
import { definePlugin } from '../../kernel/api.ts'

/**
 * `$filter` narrows a selection; `$params` holds the values of its placeholders.
 *
 *   GET /Employee?$filter="salary > :1 and employer.name = :2"&$params='[20000,"acme"]'
 *
 * The language is described in `engine/query/README.md`. Source: base specification, 4.3.1; protocol notes, 1.3 and 2.
 */
export default definePlugin({
  name: 'filter',
  kernel: '^1.0.0',
  register({ parameter, engine }) {
    parameter(
      '$filter',
      (read, _value, request) => {
        read.filter = request.text('$filter')!
      },
      { selects: true },
    )
    parameter(
      '$params',
      (read, value) => {
        read.params = receiveParams(value, engine.limits)
      },
      { selects: true },
    )
  },
})
