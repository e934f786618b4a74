import { definePlugin } from '../../kernel/api.ts'

/**
 * `$top` (or `$limit`) and `$skip`: which page of a selection is sent.
 *
 *   GET /City?$skip=200&$top=50
 *
 * Without them the first 100, or what the dataclass says in `defaultTopSize`. There is no upper limit.
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
      // Both given: $top wins, in whatever order they stand.
      if (request.parameter('$top') === undefined) read.top = top(value)
    })
  },
})

/** A negative number asks for all. */
const top = (value: string): number => (integer(value) < 0 ? Number.POSITIVE_INFINITY : integer(value))

/** Text that is no number counts as 0, as clients of this protocol are used to. */
function integer(value: string): number {
  const number = Number.parseInt(value, 10)
  return Number.isNaN(number) ? 0 : number
}
