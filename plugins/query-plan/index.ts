import { definePlugin, type ParameterSpec } from '../../kernel/api.ts'

/**
 * `$queryplan=true` and `$querypath=true` describe, before a collection, how its filter is executed, and how long each
 * step took and how many entities it found.
 *
 *   GET /Employee?$filter="employer.name = acme and salary > 10"&$queryplan=true&$querypath=true
 *     →  { "__queryPlan": { "And": [ { "item": "Join on Table : …", "subquery": […] }, … ] },
 *          "__queryPath": { "steps": [ { "description": "AND", "time": 0, "recordsfounds": 4, "steps": […] } ] },
 *          "__entityModel": "Employee", … }
 *
 * A filter that reads data that the client may not see is described by the plan that would be chosen without any rows, and its
 * steps without times and counts. Without a filter the parameters have no effect. The texts are for people and may change.
 * Source: protocol notes, 2.14.
 */
export default definePlugin({
  name: 'query-plan',
  kernel: '^1.0.0',
  register({ parameter }) {
    parameter('$queryplan', QUERY_PLAN, ({ output }, _value, request) => {
      if (request.flag('$queryplan')) output.describe = { ...output.describe, plan: true }
    })
    parameter('$querypath', QUERY_PATH, ({ output }, _value, request) => {
      if (request.flag('$querypath')) output.describe = { ...output.describe, path: true }
    })
  },
})

const QUERY_PLAN: ParameterSpec = {
  schema: { type: 'boolean' },
  doc: 'Adds the plan of the filter, in `__queryPlan`.',
  example: true,
  on: ['list'],
  section: 'protocol',
}
const QUERY_PATH: ParameterSpec = {
  ...QUERY_PLAN,
  doc: 'Adds the time and the hits of each step of the plan, in `__queryPath`.',
}
