import type { Aggregation } from '../../engine/index.ts'
import { definePlugin, encoded, type CommandSpec } from '../../kernel/api.ts'
import { ComputeErrors } from './errors.ts'

/**
 * `$compute`: aggregates of an attribute over a selection. Nulls are left out.
 *
 *   GET /Employee/salary?$compute=sum                       →  a bare value: 330000
 *   GET /Employee/salary?$filter="woman"&$compute=$all      →  { "salary": { "count", "sum", "average", "min", "max" } }
 *   GET /Employee/salary,hired?$compute=max                 →  { "salary": 120000, "hired": "2020-12-24" }
 *   GET /Company/info.size?$compute=average                 a property of an object; also employer.name and aliases
 *   GET /Employee?$compute=count                            counts the entities
 *
 * Texts and dates have `count`, `min` and `max` only. `countDistinct`, `sumDistinct` and `averageDistinct` count each value once; so does
 * `$distinct=true`. Without values, `count` and `sum` are 0 and the others null. The whole selection is aggregated, regardless of paging.
 * Source: base specification, 4.6; protocol notes, 6.6.
 */
export default definePlugin({
  name: 'compute',
  kernel: '^1.0.0',
  register({ command, engine }) {
    command('$compute', COMPUTE, request => {
      const { read, transport } = request
      const { function: aggregate, distinct } = aggregationOf(request.parameter('$compute')!)
      const aggregation = { function: aggregate, distinct: distinct || request.flag('$distinct') }
      return encoded(engine.compute(read, read.output.attributes?.items ?? [], aggregation, transport))
    })
  },
})

const COMPUTE: CommandSpec = {
  verbs: ['GET'],
  schema: {
    type: 'string',
    enum: ['count', 'sum', 'average', 'min', 'max', 'countDistinct', 'sumDistinct', 'averageDistinct', '$all'],
  },
  doc: 'Returns an aggregate of the attributes instead of entities; `$all` returns all aggregates.',
  example: 'count',
  on: ['listValues'],
  section: '4.6',
}

const KEYWORDS = new Map<string, Aggregation>([
  ['$all', { function: 'all', distinct: false }],
  ['all', { function: 'all', distinct: false }],
  ['count', { function: 'count', distinct: false }],
  ['sum', { function: 'sum', distinct: false }],
  ['average', { function: 'average', distinct: false }],
  ['min', { function: 'min', distinct: false }],
  ['max', { function: 'max', distinct: false }],
  ['countDistinct', { function: 'count', distinct: true }],
  ['sumDistinct', { function: 'sum', distinct: true }],
  ['averageDistinct', { function: 'average', distinct: true }],
])

function aggregationOf(keyword: string): Aggregation {
  const aggregation = KEYWORDS.get(keyword)
  if (!aggregation) throw ComputeErrors.UNKNOWN_KEYWORD(keyword.slice(0, 100), [...KEYWORDS.keys()].join(', '))
  return aggregation
}
