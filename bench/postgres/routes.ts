import type { FastifyInstance } from 'fastify'
import { type EmployeeRow, employeeEntity, savedEntity } from '../baseline/entities.ts'
import { storageNames } from '../world/sqlite-database.ts'
import { type Pool, quoted } from './database.ts'

/**
 * Routes of the baseline for single entities and inserts, each with a prepared statement that is a transaction by itself.
 * @param globalStamp number of changes of entities so far
 */
export function routes(app: FastifyInstance, pool: Pool, globalStamp: number): void {
  let prepared = 0
  const statement = <Values extends unknown[], Row = EmployeeRow>(text: string) => {
    const name = `statement ${++prepared}`
    return async (...values: Values): Promise<Row[]> => (await pool.query<Row>({ name, text, values })).rows
  }

  const one = statement<[string]>('SELECT * FROM "Employee" WHERE "ID" = $1')
  app.get<{ Params: { id: string } }>('/employees/:id', async ({ params }) => {
    const [row] = await one(params.id)
    return { __entityModel: 'Employee', ...employeeEntity(row!) }
  })

  const count = statement<[], { count: number }>('SELECT count(*)::integer AS count FROM "Employee"')
  app.get('/employees/count', async () => {
    const [all] = await count()
    return { __entityModel: 'Employee', __GlobalStamp: globalStamp, __COUNT: all!.count, __ENTITIES: [] }
  })

  const names = storageNames('Employee').filter(name => name !== 'ID')
  const columns = quoted([...names, 'timestamp'])
  const marks = [...names, 'timestamp'].map((_, i) => `$${i + 1}`).join(', ')
  const insert = statement(`INSERT INTO "Employee" (${columns}) VALUES (${marks}) RETURNING *`)
  app.post<{ Body: Record<string, unknown> }>('/employees', async ({ body }) => {
    const [row] = await insert(...names.map(name => body[name] ?? null), new Date().toISOString())
    globalStamp++
    return savedEntity(row!)
  })

  const insertMany = statement<[string, string]>(
    `INSERT INTO "Employee" (${columns})
      SELECT ${quoted(names)}, $2 FROM json_populate_recordset(NULL::"Employee", $1) RETURNING *`,
  )
  // The database reads the rows, and the body stays a text.
  app.register(async bulk => {
    bulk.removeContentTypeParser('application/json')
    bulk.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    bulk.post<{ Body: string }>('/employees/bulk', async ({ body }) => {
      const rows = await insertMany(body, new Date().toISOString())
      globalStamp += rows.length
      return { __ENTITIES: rows.map(savedEntity) }
    })
  })

  const update = statement<[number, string, string, number]>(
    `UPDATE "Employee" SET "salary" = $1, "stamp" = "stamp" + 1, "timestamp" = $2 WHERE "ID" = $3 AND "stamp" = $4
      RETURNING *`,
  )
  app.post<{ Params: { id: string }; Body: { salary: number; stamp: number } }>(
    '/employees/:id',
    async ({ params, body }, reply) => {
      const [row] = await update(body.salary, new Date().toISOString(), params.id, body.stamp)
      if (!row) return reply.code(409).send({ error: 'stale stamp' })
      globalStamp++
      return savedEntity(row)
    },
  )
}
