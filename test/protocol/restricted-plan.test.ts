/**
 * Descriptions of filters and sums do not depend on data that the client may not see.
 * Source: protocol notes, 2.14, 6.6, 8.4 and 8.9.
 */
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { hiddenCompaniesPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

const MANY = Array.from({ length: 500 }, (_, i) => i)
/** Companies that are hidden from guests, by `code`. */
const hiddenCompanies = MANY.map(i => ({ ID: 100 + i, name: 'Acme', revenues: i, code: `DE/${100 + i}` }))
const described = '$queryplan=true&$querypath=true&$top=0'

async function descriptions(t: Test, rows: (typeof company)['rows'], options: object, paths: readonly string[]) {
  const server = await startServer(t, { ...company, rows }, options)
  const told: unknown[] = []
  for (const path of paths) {
    const { status, json } = await server.get(`${path}&${described}`)
    t.equal(status, 200, path)
    told.push([json.__queryPlan, json.__queryPath])
  }
  return told
}

t.test('of entities that a restrict event hides', async t => {
  const options = { config: { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } } }
  const paths = [
    '/Company?$filter="name = acme and revenues > 0"',
    '/Company?$filter="revenues > 0 and name = acme or code = :1"&$params=["FR/1"]',
    '/Employee?$filter="employer.name = acme and lastName = Hopper"',
    '/Employee?$filter="lastName >= A and employer.revenues > 0"',
    '/Company?$filter="staff.lastName = Hopper and name = acme"',
  ]
  const few = await descriptions(t, company.rows, options, paths)
  const many = await descriptions(
    t,
    { ...company.rows, Company: [...company.rows.Company!, ...hiddenCompanies] },
    options,
    paths,
  )
  t.same(few, many)
  t.same(few[0], [
    { And: [{ item: '[index : Company.name ] in ["acme"]' }, { item: 'Company.revenues > 0' }] },
    {
      steps: [
        {
          description: 'AND',
          steps: [{ description: '[index : Company.name ] in ["acme"]' }, { description: 'Company.revenues > 0' }],
        },
      ],
    },
  ])
})

t.test('of a dataclass and an attribute that may not be read, behind aliases', async t => {
  const only = (applyTo: string, type: string) => ({ applyTo, type, read: ['hr'] })
  const permissions = { allowed: [only('Company', 'dataclass'), only('Employee.salary', 'attribute')] }
  const options = { roles: { privileges: [{ privilege: 'hr' }], permissions } }
  const paths = [
    '/Employee?$filter="employerName = Acme and lastName = Hopper"',
    '/Employee?$filter="pay > 50000 and lastName >= A"',
  ]
  const few = await descriptions(t, company.rows, options, paths)
  const richer = company.rows.Employee!.map(each => ({ ...each, salary: 60_000 }))
  const many = await descriptions(
    t,
    { ...company.rows, Company: [...company.rows.Company!, ...hiddenCompanies], Employee: richer },
    options,
    paths,
  )
  t.same(few, many)
  const { json } = await (await startServer(t, company, options)).get(
    `/Employee?$filter="lastName = Hopper"&${described}`,
  )
  t.match(json.__queryPath, { steps: [{ recordsfounds: 1, time: Number }] }, 'nothing hidden is read: all is shown')
})

t.test('the rounding of sums does not depend on where hidden entities are', async t => {
  const options = { config: { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } } }
  const revenues = [1e40, 1e20, 1, -1e40, -1e20]
  const visible = revenues.map((revenues, i) => ({ ID: i + 10, name: `No ${i}`, revenues, code: `FR/${i}` }))
  const sums: string[] = []
  for (const hidden of [0, 1, 2]) {
    const Company = [...visible.slice(0, 2), ...hiddenCompanies.slice(0, hidden), ...visible.slice(2)]
    const server = await startServer(t, { ...company, rows: { Company } }, options)
    for (const parameters of ['$compute=sum', '$compute=sumDistinct', '$compute=average'])
      sums.push((await server.get(`/Company/revenues?${parameters}`)).text)
  }
  t.same(sums.slice(3, 6), sums.slice(0, 3))
  t.same(sums.slice(6), sums.slice(0, 3))
})
