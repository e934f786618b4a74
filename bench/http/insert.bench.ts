import type { Employee, World } from '../world/world.ts'
import { baselinePath, type HttpCase, httpCase, oursPath } from './http-case.ts'

const WRITE_CONNECTIONS = 64
const OURS = oursPath('Employee', { $method: 'update' })
const BULK_ROWS = 10_000

/** The nth employee that is not in the world yet, without a key: the database assigns one. */
function newEmployee(world: World, n: number): Omit<Employee, 'ID'> {
  const { ID: _, ...values } = world.employee(world.employees + n)
  return values
}

export const insertOne: HttpCase = httpCase({
  name: 'insert-one',
  title: 'durable insert of one, 64 connections',
  kind: 'write',
  postgres: true,
  connections: WRITE_CONNECTIONS,
  inserts: 1,
  requests: world => ({
    size: 20_000,
    at: n => {
      const values = newEmployee(world, n)
      const body = JSON.stringify(values)
      return {
        ours: { path: OURS, body },
        baseline: { path: baselinePath('employees'), body },
        expected: () => ({ kind: 'saved', stamp: 1, values }),
      }
    },
  }),
  goals: { baseline: 3, better: 3 },
})

export const insertMany: HttpCase = httpCase({
  name: 'insert-10k',
  title: 'bulk insert of 10,000, one connection (figures per row)',
  kind: 'write',
  postgres: true,
  connections: 1,
  inserts: BULK_ROWS,
  requests: world => ({
    size: 4,
    at: n => {
      const body = JSON.stringify(Array.from({ length: BULK_ROWS }, (_, i) => newEmployee(world, n * BULK_ROWS + i)))
      return {
        ours: { path: OURS, body },
        baseline: { path: baselinePath('employees/bulk'), body },
        expected: () => ({ kind: 'savedMany', count: BULK_ROWS }),
      }
    },
  }),
  goals: { baseline: 2, better: 1.5 },
})
