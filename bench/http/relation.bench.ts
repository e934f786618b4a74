import { columnsOf, rowsWhere } from '../world/columns.ts'
import { baselinePath, httpCase, oursPath } from './http-case.ts'

export default httpCase({
  name: 'relation',
  title: 'filter through a N→1 relation, with the related entity',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 500,
    at: n => {
      const company = world.pick(n, world.companies)
      const name = world.companyName(company)
      return {
        ours: {
          path: oursPath('Employee', {
            $filter: `"employer.name = :1"`,
            $params: JSON.stringify([name]),
            $expand: 'employer',
          }),
        },
        baseline: { path: baselinePath('employees/of-company', { name }) },
        expected: () => {
          const rows = rowsWhere(world, row => columnsOf(world).employer[row] === company)
          return { kind: 'page', count: rows.length, first: 0, rows: rows.slice(0, 100), expanded: true }
        },
      }
    },
  }),
  goals: { baseline: 5 },
})
