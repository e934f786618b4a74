import type { FastifyInstance } from 'fastify'
import { savedEntity } from '../baseline/entities.ts'
import { storageNames } from '../world/sqlite-database.ts'
import { type Pool, quoteNames } from './database.ts'
import { statement } from './statement.ts'

/** Routes of the baseline for writes. Each runs one statement as a separate transaction. */
export function writeRoutes(app: FastifyInstance, pool: Pool, onChange: (entities: number) => void): void {
  const names = storageNames('Employee').filter(name => name !== 'ID')
  const columns = quoteNames([...names, 'timestamp'])
  const marks = [...names, 'timestamp'].map((_, i) => `$${i + 1}`).join(', ')
  const insert = statement(pool, `INSERT INTO "Employee" (${columns}) VALUES (${marks}) RETURNING *`)
  app.post<{ Body: Record<string, unknown> }>('/employees', async ({ body }) => {
    const [row] = await insert(...names.map(name => body[name] ?? null), new Date().toISOString())
    onChange(1)
    return savedEntity(row!)
  })

  const insertMany = statement<[string, string]>(
    pool,
    `INSERT INTO "Employee" (${columns})
      SELECT ${quoteNames(names)}, $2 FROM json_populate_recordset(NULL::"Employee", $1) RETURNING *`,
  )
  // The database parses the rows, so the body stays a string.
  app.register(async bulk => {
    bulk.removeContentTypeParser('application/json')
    bulk.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    bulk.post<{ Body: string }>('/employees/bulk', async ({ body }) => {
      const rows = await insertMany(body, new Date().toISOString())
      onChange(rows.length)
      return { __ENTITIES: rows.map(savedEntity) }
    })
  })

  const update = statement<[number, string, string, number]>(
    pool,
    `UPDATE "Employee" SET "salary" = $1, "stamp" = "stamp" + 1, "timestamp" = $2 WHERE "ID" = $3 AND "stamp" = $4
      RETURNING *`,
  )
  app.post<{ Params: { id: string }; Body: { salary: number; stamp: number } }>(
    '/employees/:id',
    async ({ params, body }, reply) => {
      const [row] = await update(body.salary, new Date().toISOString(), params.id, body.stamp)
      if (!row) return reply.code(409).send({ error: 'stale stamp' })
      onChange(1)
      return savedEntity(row)
    },
  )
}
