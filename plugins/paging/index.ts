import { definePlugin } from '../../kernel/api.ts'

/**
 * `$top` (or `$limit`) and `$skip`: the page of a selection that is sent.
 *
 *   GET /City?$skip=200&$top=50
 *
 * The default is the first 100 entities, or as many as `defaultTopSize` of the dataclass says. There is no upper limit; a negative
 * `$top` means all. Text that is not a decimal number counts as 0.
 * Source: base specification, 4.2 and 8; protocol notes, 1.7.
 */
export default definePlugin({
  name: 'paging',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$skip', (read, value) => {
      read.skip = Math.max(0, integer(value))
    })
    parameter('$top', (read, value) => {
      read.top = top(value)
    })
    parameter('$limit', (read, value, request) => {
      // If both are given, $top wins, regardless of their order.
      if (request.parameter('$top') === undefined) read.top = top(value)
    })
  },
})

/** Maximum number of entities; infinite for a negative number. */
const top = (value: string): number => (integer(value) < 0 ? Number.POSITIVE_INFINITY : integer(value))

/**
 * The integer part of a decimal number. Other text counts as 0, as clients of this protocol expect; so do `2x` and `1e3`, since a
 * part of them would be a number that the client did not mean. No selection has more than 2⁵³ entities.
 */
function integer(value: string): number {
  if (!/^\s*[+-]?\d+(\.\d*)?\s*$/.test(value)) return 0
  const number = Math.trunc(Number(value))
  return Math.min(Math.max(number, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}
