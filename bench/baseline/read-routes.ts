import type { Database } from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import { type CompanyRow, type EmployeeRow, employeeEntity, expandedEntity } from './entities.ts'

interface Context {
  database: Database
  /** Number of changes of entities so far, as our server counts them. */
  globalStamp(): number
}

/** A route for each question, each with its prepared statements. */
export function readRoutes(app: FastifyInstance, { database, globalStamp }: Context): void {
  const collection = (count: number, first: number, entities: object[]) => ({
    __entityModel: 'Employee',
    __GlobalStamp: globalStamp(),
    __COUNT: count,
    __FIRST: first,
    __ENTITIES: entities,
    __SENT: entities.length,
  })
  const select = <Params extends unknown[]>(tail: string) =>
    database.prepare<Params, EmployeeRow>(`SELECT * FROM Employee ${tail}`)
  const count = <Params extends unknown[]>(tail: string) => {
    const statement = database.prepare<Params, number>(`SELECT count(*) FROM Employee ${tail}`).pluck()
    return (...params: Params) => statement.get(...params)!
  }

  const one = select<[number]>('WHERE ID = ?')
  app.get<{ Params: { id: string } }>('/employees/:id', ({ params }) => ({
    __entityModel: 'Employee',
    ...employeeEntity(one.get(Number(params.id))!),
  }))

  const all = count('')
  const page = select<[number, number]>('ORDER BY ID LIMIT ? OFFSET ?')
  app.get<{ Querystring: { skip: string; top: string } }>('/employees', ({ query }) => {
    const skip = Number(query.skip)
    return collection(all(), skip, page.all(Number(query.top), skip).map(employeeEntity))
  })

  app.get('/employees/count', () => collection(all(), 0, []))

  // The inner query uses the index alone until it reaches the page.
  const byName = select<[number, number]>(
    'WHERE ID IN (SELECT ID FROM Employee ORDER BY lastName, ID LIMIT ? OFFSET ?) ORDER BY lastName, ID',
  )
  app.get<{ Querystring: { skip: string; top: string } }>('/employees/by-name', ({ query }) => {
    const skip = Number(query.skip)
    return collection(all(), skip, byName.all(Number(query.top), skip).map(employeeEntity))
  })

  const ofName = select<[string]>('WHERE lastName = ? ORDER BY ID LIMIT 100')
  const countOfName = count<[string]>('WHERE lastName = ?')
  app.get<{ Querystring: { lastName: string } }>('/employees/of-name', ({ query: { lastName } }) =>
    collection(countOfName(lastName), 0, ofName.all(lastName).map(employeeEntity)),
  )

  const beginning = 'lastName >= ? AND lastName < ?'
  const nameBegins = select<[string, string]>(
    `WHERE ID IN (SELECT ID FROM Employee WHERE ${beginning} ORDER BY ID LIMIT 100) ORDER BY ID`,
  )
  const countNameBegins = count<[string, string]>(`WHERE ${beginning}`)
  app.get<{ Querystring: { prefix: string } }>('/employees/name-begins', ({ query: { prefix } }) => {
    const end = `${prefix}\uffff`
    return collection(countNameBegins(prefix, end), 0, nameBegins.all(prefix, end).map(employeeEntity))
  })

  const inRange = 'WHERE salary >= ? AND salary < ?'
  const ofSalary = select<[number, number, number]>(`${inRange} ORDER BY birthDate, ID LIMIT ?`)
  const countOfSalary = count<[number, number]>(inRange)
  app.get<{ Querystring: { from: string; to: string; top: string } }>('/employees/of-salary', ({ query }) => {
    const [from, to] = [Number(query.from), Number(query.to)]
    return collection(countOfSalary(from, to), 0, ofSalary.all(from, to, Number(query.top)).map(employeeEntity))
  })

  const ofCompany = database.prepare<[string], EmployeeRow & CompanyRow>(`
    SELECT Employee.*, Company.ID AS companyID, name, city, country, sector, revenues, founded, active, phone, website,
      Company.stamp AS companyStamp, Company.timestamp AS companyTimestamp
    FROM Employee JOIN Company ON Employee.employerID = Company.ID
    WHERE Company.name = ? ORDER BY Employee.ID LIMIT 100`)
  const countOfCompany = count<[string]>('WHERE employerID IN (SELECT ID FROM Company WHERE name = ?)')
  app.get<{ Querystring: { name: string } }>('/employees/of-company', ({ query: { name } }) =>
    collection(countOfCompany(name), 0, ofCompany.all(name).map(expandedEntity)),
  )

  const compute = (attribute: string, tail: string) =>
    database.prepare<string[], object>(
      `SELECT count(${attribute}) AS count, sum(${attribute}) AS sum, avg(${attribute}) AS average,
        min(${attribute}) AS min, max(${attribute}) AS max FROM Employee ${tail}`,
    )
  const salary = compute('salary', '')
  const salaryOfDepartment = compute('salary', 'WHERE department = ?')
  const employerID = compute('employerID', '')
  app.get<{ Querystring: { department?: string } }>('/employees/compute/salary', ({ query: { department } }) => ({
    salary: department === undefined ? salary.get() : salaryOfDepartment.get(department),
  }))
  const sum = database.prepare<[number], number>('SELECT sum(salary) FROM Employee WHERE ID <= ?').pluck()
  app.get<{ Params: { rows: string } }>('/employees/sum/:rows', ({ params }) => sum.get(Number(params.rows)))
  app.post<{ Body: [number] }>('/functions/sum', ({ body: [rows] }) => ({ result: sum.get(rows) }))
  app.post<{ Body: [number, number] }>('/functions/add', ({ body: [a, b] }) => ({ result: a + b }))

  app.get('/employees/compute/employerID', () => ({ employerID: employerID.get() }))
}
