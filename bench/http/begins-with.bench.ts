import { columnsOf, rowsWhere } from '../world/columns.ts'
import { namePrefix } from '../world/names.ts'
import { baselinePath, httpCase, oursPath } from './http-case.ts'

export default httpCase({
  name: 'begins-with',
  title: 'indexed text begins with, about 100 hits, with count',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 500,
    at: n => {
      const pair = (n * 7919) % (world.names / 2)
      const prefix = namePrefix(pair * 2)
      return {
        ours: { path: oursPath('Employee', { $filter: `"lastName begin ${prefix}"` }) },
        baseline: { path: baselinePath('employees/name-begins', { prefix }) },
        expected: () => {
          const rows = rowsWhere(world, row => columnsOf(world).name[row]! >>> 1 === pair)
          return { kind: 'page', count: rows.length, first: 0, rows: rows.slice(0, 100) }
        },
      }
    },
  }),
  goals: { baseline: 8 },
})
