import type { FastifyInstance } from 'fastify'
import { type CompanyRow, type EmployeeRow, employeeEntity, expandedEntity } from '../baseline/entities.ts'
import type { Pool } from './database.ts'
import { statement } from './statement.ts'

/** A row of a result, with the number of all rows. */
type Counted<Row = EmployeeRow> = Row & { count: number }

/**
 * Routes of the baseline for the same questions. If a request reads all matching rows anyway, the statement of the page also counts them.
 */
export function readRoutes(app: FastifyInstance, pool: Pool, globalStamp: () => number): void {
  const collection = (count: number, first: number, entities: object[]) => ({
    __entityModel: 'Employee',
    __GlobalStamp: globalStamp(),
    __COUNT: count,
    __FIRST: first,
    __ENTITIES: entities,
    __SENT: entities.length,
  })
  const countedCollection = (rows: Counted[]) => collection(rows[0]?.count ?? 0, 0, rows.map(employeeEntity))
  const COUNT = 'count(*) OVER ()::integer AS count'

  const one = statement<[string]>(pool, 'SELECT * FROM "Employee" WHERE "ID" = $1')
  app.get<{ Params: { id: string } }>('/employees/:id', async ({ params }) => {
    const [row] = await one(params.id)
    return { __entityModel: 'Employee', ...employeeEntity(row!) }
  })

  const all = statement<[], { count: number }>(pool, 'SELECT count(*)::integer AS count FROM "Employee"')
  app.get('/employees/count', async () => collection((await all())[0]!.count, 0, []))

  const pages = (path: string, order: string): void => {
    const page = statement<[string, string]>(pool, `SELECT * FROM "Employee" ORDER BY ${order} LIMIT $1 OFFSET $2`)
    app.get<{ Querystring: { skip: string; top: string } }>(path, async ({ query: { skip, top } }) => {
      const [rows, [total]] = await Promise.all([page(top, skip), all()])
      return collection(total!.count, Number(skip), rows.map(employeeEntity))
    })
  }
  pages('/employees', '"ID"')
  pages('/employees/by-name', 'lower("lastName"), "ID"')

  const ofName = statement<[string], Counted>(
    pool,
    `SELECT *, ${COUNT} FROM "Employee" WHERE lower("lastName") = lower($1) ORDER BY "ID" LIMIT 100`,
  )
  app.get<{ Querystring: { lastName: string } }>('/employees/of-name', async ({ query }) =>
    countedCollection(await ofName(query.lastName)),
  )

  const nameBegins = statement<[string, string], Counted>(
    pool,
    `SELECT *, ${COUNT} FROM "Employee" WHERE lower("lastName") >= lower($1) AND lower("lastName") < lower($2)
      ORDER BY "ID" LIMIT 100`,
  )
  app.get<{ Querystring: { prefix: string } }>('/employees/name-begins', async ({ query: { prefix } }) =>
    countedCollection(await nameBegins(prefix, `${prefix}\uffff`)),
  )

  const inRange = 'FROM "Employee" WHERE "salary" >= $1 AND "salary" < $2'
  const ofSalary = statement<[string, string, string]>(pool, `SELECT * ${inRange} ORDER BY "birthDate", "ID" LIMIT $3`)
  const countOfSalary = statement<[string, string], { count: number }>(
    pool,
    `SELECT count(*)::integer AS count ${inRange}`,
  )
  app.get<{ Querystring: { from: string; to: string; top: string } }>('/employees/of-salary', async ({ query }) => {
    const { from, to, top } = query
    const [rows, [total]] = await Promise.all([ofSalary(from, to, top), countOfSalary(from, to)])
    return collection(total!.count, 0, rows.map(employeeEntity))
  })

  const ofCompany = statement<[string], Counted<EmployeeRow & CompanyRow>>(
    pool,
    `SELECT e.*, c."ID" AS "companyID", c."name", c."city", c."country", c."sector", c."revenues", c."founded", c."active",
      c."phone", c."website", c."stamp" AS "companyStamp", c."timestamp" AS "companyTimestamp", ${COUNT}
      FROM "Employee" e JOIN "Company" c ON e."employerID" = c."ID"
      WHERE lower(c."name") = lower($1) ORDER BY e."ID" LIMIT 100`,
  )
  app.get<{ Querystring: { name: string } }>('/employees/of-company', async ({ query: { name } }) => {
    const rows = await ofCompany(name)
    return collection(rows[0]?.count ?? 0, 0, rows.map(expandedEntity))
  })

  const compute = (attribute: string, tail = '') =>
    statement<string[], object>(
      pool,
      `SELECT count("${attribute}")::integer AS count, sum("${attribute}")::float8 AS sum, avg("${attribute}")::float8 AS average,
        min("${attribute}") AS min, max("${attribute}") AS max FROM "Employee" ${tail}`,
    )
  const salary = compute('salary')
  const salaryOfDepartment = compute('salary', 'WHERE "department" = $1')
  app.get<{ Querystring: { department?: string } }>('/employees/compute/salary', async ({ query: { department } }) => ({
    salary: (await (department === undefined ? salary() : salaryOfDepartment(department)))[0],
  }))
  const employerID = compute('employerID')
  app.get('/employees/compute/employerID', async () => ({ employerID: (await employerID())[0] }))
}
