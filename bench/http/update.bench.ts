import { baselinePath, httpCase, oursPath } from './http-case.ts'
import { readOne } from './read-one.bench.ts'

export default httpCase({
  name: 'update-one',
  title: 'durable update of one, 64 connections, while 8 read',
  kind: 'write',
  postgres: true,
  connections: 64,
  requests: world => ({
    size: Number.POSITIVE_INFINITY,
    at: n => {
      // A prime step reaches every row once before it reaches one again, with the next stamp.
      const row = (n * 7919) % world.employees
      const stamp = 1 + Math.floor(n / world.employees)
      const salary = 20_000 + world.pick(n, 400_000) / 4
      return {
        ours: {
          path: oursPath('Employee', { $method: 'update' }),
          body: JSON.stringify({ __KEY: String(row + 1), __STAMP: stamp, salary }),
        },
        baseline: { path: baselinePath(`employees/${row + 1}`), body: JSON.stringify({ stamp, salary }) },
        expected: () => ({ kind: 'saved', row, stamp: stamp + 1, values: { salary } }),
      }
    },
  }),
  beside: readOne,
  goals: { baseline: 3, better: 2, besideP99Ms: 10 },
})
