import type { Database } from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import { storageNames, toSqlite } from '../world/sqlite-database.ts'
import { type EmployeeRow, savedEntity } from './entities.ts'

interface Context {
  database: Database
  onChange(entities: number): void
}

/** Routes for writes, each in a separate transaction that is on the disk before it is answered. */
export function writeRoutes(app: FastifyInstance, { database, onChange }: Context): void {
  const names = storageNames('Employee').filter(name => name !== 'ID')
  const insert = database.prepare<unknown[], EmployeeRow>(
    `INSERT INTO Employee (${names.join(', ')}, timestamp) VALUES (${names.map(() => '?').join(', ')}, ?) RETURNING *`,
  )
  const insertOne = (values: Record<string, unknown>) =>
    savedEntity(insert.get(...names.map(name => toSqlite(values[name] ?? null)), new Date().toISOString())!)
  const insertMany = database.transaction((rows: Record<string, unknown>[]) => rows.map(insertOne))
  const update = database.prepare<[number, string, number, number], EmployeeRow>(
    'UPDATE Employee SET salary = ?, stamp = stamp + 1, timestamp = ? WHERE ID = ? AND stamp = ? RETURNING *',
  )

  app.post<{ Body: Record<string, unknown> }>('/employees', ({ body }) => {
    onChange(1)
    return insertOne(body)
  })

  app.post<{ Body: Record<string, unknown>[] }>('/employees/bulk', ({ body }) => {
    onChange(body.length)
    return { __ENTITIES: insertMany(body) }
  })

  app.post<{ Params: { id: string }; Body: { salary: number; stamp: number } }>('/employees/:id', (request, reply) => {
    const { salary, stamp } = request.body
    const row = update.get(salary, new Date().toISOString(), Number(request.params.id), stamp)
    if (!row) return reply.code(409).send({ error: 'stale stamp' })
    onChange(1)
    return savedEntity(row)
  })
}
