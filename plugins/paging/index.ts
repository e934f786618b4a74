import { definePlugin, type ParameterSpec, SELECTIONS } from '../../kernel/api.ts'
import { PagingErrors } from './errors.ts'

/**
 * `$top` (or `$limit`) and `$skip`: the page of a selection that is sent.
 *
 *   GET /City?$skip=200&$top=50
 *
 * The default is the first 100 entities, or as many as `defaultTopSize` of the dataclass says. There is no upper limit; a negative
 * `$top` means all. Everything but whole numbers is refused.
 * Source: base specification, 4.2 and 8; protocol notes, 1.7.
 */
export default definePlugin({
  name: 'paging',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$skip', SKIP, (read, value) => {
      const skip = integer(value)
      if (skip === undefined || skip < 0)
        throw PagingErrors.NOT_A_COUNT('$skip', value.slice(0, 100), 'a whole number, 0 or more')
      read.skip = skip
    })
    parameter('$top', TOP, (read, value) => {
      read.top = top('$top', value)
    })
    parameter('$limit', LIMIT, (read, value, request) => {
      const limit = top('$limit', value)
      // If both are given, $top wins, regardless of their order.
      if (request.parameter('$top') === undefined) read.top = limit
    })
  },
})

const SKIP: ParameterSpec = {
  schema: { type: 'integer', minimum: 0 },
  doc: 'Number of entities to skip before the page.',
  example: 0,
  on: [...SELECTIONS, 'related', 'jobs.list'],
  section: '4.2',
}
const TOP: ParameterSpec = {
  schema: { type: 'integer' },
  doc: 'Number of entities on the page; negative for all. By default 100, or `defaultTopSize` of the dataclass.',
  example: 10,
  on: [...SELECTIONS, 'related', 'jobs.list'],
  section: '4.2',
}
const LIMIT: ParameterSpec = {
  schema: { type: 'integer' },
  doc: 'The same as `$top`, which takes precedence.',
  example: 5,
  section: '4.2',
}

/** Maximum number of entities; infinite for a negative number. @throws {PagingErrors.NOT_A_COUNT} */
function top(parameter: string, value: string): number {
  const count = integer(value)
  if (count === undefined)
    throw PagingErrors.NOT_A_COUNT(parameter, value.slice(0, 100), 'a whole number; a negative one for all')
  return count < 0 ? Number.POSITIVE_INFINITY : count
}

/**
 * A whole number; undefined for other text, even for `2x` and `1e3`, whose beginning would be a number that the client did not mean. Some
 * languages write `10.0` for 10. No selection has more than 2⁵³ entities.
 */
function integer(value: string): number | undefined {
  if (!/^\s*[+-]?\d+(\.0*)?\s*$/.test(value)) return undefined
  return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}
