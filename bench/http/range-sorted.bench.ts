import { columnsOf, rowsWhere } from '../world/columns.ts'
import { baselinePath, httpCase, oursPath } from './http-case.ts'

export default httpCase({
  name: 'range-sorted',
  title: 'unindexed range of 10 %, by another attribute, top 100, with count',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 64,
    at: n => {
      const from = 20_000 + world.pick(n, 90_000)
      const to = from + 10_000
      return {
        ours: {
          path: oursPath('Employee', {
            $filter: `"salary >= :1 and salary < :2"`,
            $params: JSON.stringify([from, to]),
            $orderby: 'birthDate',
            $top: 100,
          }),
        },
        baseline: { path: baselinePath('employees/of-salary', { from, to, top: 100 }) },
        expected: () => {
          const { salary, birth } = columnsOf(world)
          const rows = rowsWhere(world, row => salary[row]! >= from && salary[row]! < to)
          const sortedRows = rows.toSorted((a, b) => birth[a]! - birth[b]! || a - b)
          return { kind: 'page', count: rows.length, first: 0, rows: sortedRows.slice(0, 100) }
        },
      }
    },
  }),
  goals: { baseline: 40 },
})
