import { definePlugin } from '../../kernel/api.ts'

/**
 * `$exact=true`: nothing is left out. A filter for similar vectors may use an index, which occasionally misses one of the
 * nearest; with this parameter every vector is compared. `$queryplan=true` shows whether an index would be used.
 *
 *   GET /Passage?$filter="embedding > :1"&$params='[{"vector":[…],"threshold":0.8}]'&$exact=true
 *
 * An extension: the base protocol has no vector indexes.
 */
export default definePlugin({
  name: 'exact',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter(
      '$exact',
      { schema: { type: 'boolean' }, doc: 'Compares vectors one by one, without an index.', example: true },
      (read, _value, request) => {
        read.exact = request.flag('$exact')
      },
    )
  },
})
