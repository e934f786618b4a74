import { columnsOf, rowsWhere } from '../world/columns.ts'
import { syllableName } from '../world/names.ts'
import { baselinePath, httpCase, oursPath } from './http-case.ts'

export default httpCase({
  name: 'indexed-equality',
  title: 'indexed equality, about 50 hits, with count',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 1_000,
    at: n => {
      const name = (n * 7919) % world.names
      return {
        ours: { path: oursPath('Employee', { $filter: `"lastName=${syllableName(name)}"` }) },
        baseline: { path: baselinePath('employees/of-name', { lastName: syllableName(name) }) },
        expected: () => {
          const rows = rowsWhere(world, row => columnsOf(world).name[row] === name)
          return { kind: 'page', count: rows.length, first: 0, rows: rows.slice(0, 100) }
        },
      }
    },
  }),
  goals: { baseline: 8 },
})
