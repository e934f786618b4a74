import { baselinePath, type BenchRequest, httpCase, oursPath, type Requests } from './http-case.ts'
import type { World } from '../world/world.ts'

/** Reads of employees all over the table. */
export function readOne(world: World): Requests {
  const at = (n: number): BenchRequest => {
    const row = world.pick(n, world.employees)
    return {
      ours: { path: oursPath(`Employee(${row + 1})`) },
      baseline: { path: baselinePath(`employees/${row + 1}`) },
      expected: () => ({ kind: 'employee', row }),
    }
  }
  return { size: 5_000, at }
}

export default httpCase({
  name: 'read-one',
  title: 'read one entity by key',
  kind: 'read',
  postgres: true,
  requests: readOne,
  goals: { baseline: 4, bound: 0.65, p99Ms: 2 },
})
