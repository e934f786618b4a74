import { definePlugin } from '../../kernel/api.ts'

/**
 * `$exact=true`: nothing is left out. A filter for similar vectors may ask an index, which now and then misses one of the
 * nearest; with this every vector is looked at. `$queryplan=true` shows whether an index would be asked.
 *
 *   GET /Passage?$filter="embedding > :1"&$params='[{"vector":[…],"threshold":0.8}]'&$exact=true
 *
 * An extension: the base protocol has no index of vectors.
 */
export default definePlugin({
  name: 'exact',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$exact', (read, _value, request) => {
      read.exact = request.flag('$exact')
    })
  },
})
