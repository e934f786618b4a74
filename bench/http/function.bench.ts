import { columnsOf } from '../world/columns.ts'
import type { World } from '../world/world.ts'
import { type BenchRequest, type HttpCase, httpCase, oursPath, type Requests } from './http-case.ts'

/** Maximum number of rows in a sum. */
const ROWS = 100_000

const adding = (name: string, functionName: string, title: string, goals: HttpCase['goals']): HttpCase =>
  httpCase({
    name,
    title,
    kind: 'read',
    requests: () => ({
      size: 256,
      at: n => ({
        // Answers of the same length, because the bound has a single answer per address.
        ours: { path: oursPath(`Employee/${functionName}`), body: JSON.stringify([n, 100]) },
        baseline: { path: '/functions/add', body: JSON.stringify([n, 100]) },
        expected: () => ({ kind: 'value', value: { result: n + 100 } }),
      }),
    }),
    goals,
  })

export const functionTrivial = adding('function-trivial', 'add', 'a class function that adds two numbers', {
  perSecond: 15_000,
})
export const functionAsync = adding('function-async', 'addLater', 'the same as an asynchronous function', {
  added: { to: 'function-trivial', microseconds: 20 },
})

export const functionEntity: HttpCase = httpCase({
  name: 'function-entity',
  title: 'a class function that reads one entity and returns it',
  kind: 'read',
  requests: world => ({
    size: 5_000,
    at: n => {
      const row = world.pick(n, world.employees)
      return {
        ours: { path: oursPath('Employee/byKey', { $params: `[${row + 1}]` }) },
        baseline: { path: `/employees/${row + 1}` },
        expected: () => ({ kind: 'employee', row }),
      }
    },
  }),
  goals: { perSecond: 10_000 },
})

/** Sums of salaries of the first employees; their number differs, so that no two requests are alike. */
function sums(world: World, addresses: (rows: number) => Omit<BenchRequest, 'expected'>, isBare: boolean): Requests {
  const all = Math.min(ROWS, world.employees)
  const at = (n: number): BenchRequest => {
    const rows = all - n
    const expected = () => {
      const sum = columnsOf(world)
        .salary.slice(0, rows)
        .reduce((sum, salary) => sum + salary, 0)
      return { kind: 'value', value: isBare ? sum : { result: sum } } as const
    }
    return { ...addresses(rows), expected }
  }
  return { size: 64, at }
}

const firstRows = (rows: number) => ({ $filter: `"ID <= ${rows}"` })

export const computeSum: HttpCase = httpCase({
  name: 'compute-sum',
  title: '$compute=sum of 100 k entities',
  kind: 'read',
  requests: world =>
    sums(
      world,
      rows => ({
        ours: { path: oursPath('Employee/salary/', { $compute: 'sum', ...firstRows(rows) }) },
        baseline: { path: `/employees/sum/${rows}` },
      }),
      true,
    ),
  goals: {},
})

const sumBy = (name: string, title: string, goals: HttpCase['goals']): HttpCase =>
  httpCase({
    name: `function-${name}`,
    title,
    kind: 'read',
    requests: world =>
      sums(
        world,
        rows => ({
          ours: { path: oursPath(`Employee/${name}`, firstRows(rows)), body: '[]' },
          baseline: { path: '/functions/sum', body: JSON.stringify([rows]) },
        }),
        false,
      ),
    goals,
  })

export const functionSumOfAll = sumBy('sumOfAll', 'a class function: sum() of 100 k entities', {
  cost: { of: 'compute-sum', factor: 3 },
})
export const functionSumOfEach = sumBy('sumOfEach', 'a class function that loops over 100 k entities', {})
