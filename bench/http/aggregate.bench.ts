import { columnsOf, summaryOf } from '../world/columns.ts'
import { DEPARTMENTS } from '../world/names.ts'
import { baselinePath, type HttpCase, httpCase, oursPath } from './http-case.ts'

export const aggregateAll: HttpCase = httpCase({
  name: 'aggregate-all',
  title: 'count, sum, average, minimum and maximum of all rows',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: 2,
    at: n => {
      const attribute = n === 0 ? 'salary' : 'employerID'
      return {
        ours: { path: oursPath(`Employee/${attribute}/`, { $compute: '$all' }) },
        baseline: { path: baselinePath(`employees/compute/${attribute}`) },
        expected: () => {
          const { salary, employer } = columnsOf(world)
          const values = n === 0 ? salary : Uint32Array.from(employer, row => row + 1)
          return { kind: 'value', value: { [attribute]: summaryOf(values, () => true) } }
        },
      }
    },
  }),
  goals: { baseline: 60 },
})

export const aggregateFiltered: HttpCase = httpCase({
  name: 'aggregate-filtered',
  title: 'the same of one department in 40',
  kind: 'read',
  postgres: true,
  requests: world => ({
    size: DEPARTMENTS.length,
    at: n => ({
      ours: {
        path: oursPath('Employee/salary/', { $compute: '$all', $filter: `"department = '${DEPARTMENTS[n]}'"` }),
      },
      baseline: { path: baselinePath('employees/compute/salary', { department: DEPARTMENTS[n]! }) },
      expected: () => {
        const { salary, department } = columnsOf(world)
        return { kind: 'value', value: { salary: summaryOf(salary, row => department[row] === n) } }
      },
    }),
  }),
  goals: { baseline: 10 },
})
