import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startServer } from '../support/servers/test-server.ts'

const entry = (name: string) => ({ name, uri: `/rest/$catalog/${name}`, dataURI: `/rest/${name}` })
const list = ['Company', 'Employee', 'Tag', 'City'].map(entry)

protocolTable('catalog', company, [
  {
    spec: '2.1',
    name: 'lists the public dataclasses with their addresses',
    get: '/$catalog',
    json: { dataClass: list, dataClasses: list },
  },
  {
    spec: '4.1',
    name: '$all describes every public dataclass',
    get: '/$catalog/$all',
    has: { dataClasses: [{ name: 'Company' }, { name: 'Employee' }, { name: 'Tag' }, { name: 'City' }] },
  },
  {
    spec: '2.2',
    name: 'a dataclass is described by a bare object',
    get: '/$catalog/Company',
    has: {
      name: 'Company',
      className: 'Company',
      collectionName: 'CompanySelection',
      tableNumber: 1,
      scope: 'public',
      dataURI: '/rest/Company',
      extraProperties: { panelColor: '#d8e2f0' },
      key: [{ name: 'ID' }],
    },
  },
  {
    spec: 'P3.1',
    name: 'several dataclasses are described by a list, each once',
    get: '/$catalog/Company,City,%20Company,City',
    has: { dataClasses: { length: 2, 0: { name: 'Company' }, 1: { name: 'City' } } },
  },
  {
    spec: '2.2',
    name: 'defaultTopSize appears in the single description',
    get: '/$catalog/Employee',
    has: { defaultTopSize: 100 },
  },
  {
    spec: 'P3.1',
    name: 'several names are described in a list',
    get: '/$catalog/City,Tag',
    has: { dataClasses: [{ name: 'City' }, { name: 'Tag' }] },
  },
  { spec: 'P3.1', name: 'an unknown name is not found', get: '/$catalog/Nobody', status: 404, errors: [1800] },
  { spec: '1', name: 'a private dataclass is not found', get: '/$catalog/Hidden', status: 404, errors: [1800] },
  { spec: 'P1.1', name: 'names are case-sensitive', get: '/$catalog/company', status: 404, errors: [1800] },
  {
    spec: 'P1.1',
    name: 'trailing and doubled slashes are ignored',
    get: '//rest//$catalog///City/',
    has: { name: 'City' },
  },
  { spec: 'P1.1', name: 'an unknown service is an unknown dataclass', get: '/$nothing', status: 404, errors: [1800] },
  { spec: 'P5.8', name: 'a path outside /rest is not found', get: '//elsewhere', status: 404, errors: [1806] },
  { spec: 'D2', name: 'the catalog does not take POST', post: '/$catalog', status: 405, headers: { allow: 'GET' } },
  {
    spec: 'P11',
    name: 'JSON answers have the media type of JSON',
    get: '/$catalog',
    headers: { 'content-type': 'application/json; charset=UTF-8' },
  },
])

t.test('§2.3 attributes of Employee as the catalog shows them', async t => {
  const server = await startServer(t, company)
  const { attributes } = (await server.get('/$catalog/Employee')).json as { attributes: Record<string, unknown>[] }
  const named = (name: string) => attributes.find(attribute => attribute.name === name)
  const cases: [string, Record<string, unknown>][] = [
    ['ID', { kind: 'storage', type: 'long', scope: 'public', indexed: true, identifying: true, fieldPos: 1 }],
    ['lastName', { kind: 'storage', type: 'string', indexed: true }],
    ['salary', { kind: 'storage', type: 'number', minValue: 0, maxValue: 1_000_000 }],
    ['woman', { kind: 'storage', type: 'bool' }],
    ['birthDate', { kind: 'storage', type: 'date', simpleDate: false }],
    ['hired', { kind: 'storage', type: 'date', simpleDate: true, indexed: true }],
    ['dailyWork', { kind: 'storage', type: 'duration' }],
    ['notes', { kind: 'storage', type: 'string', multiLine: true }],
    ['photo', { kind: 'storage', type: 'image' }],
    [
      'employer',
      { kind: 'relatedEntity', type: 'Company', path: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
    ],
    [
      'directReports',
      {
        kind: 'relatedEntities',
        type: 'EmployeeSelection',
        path: 'manager',
        inverseName: 'manager',
        reversePath: true,
      },
    ],
    ['employerName', { kind: 'alias', path: 'employer.name', readOnly: true, type: 'string' }],
    ['fullName', { kind: 'calculated', type: 'string', readOnly: true }],
  ]
  for (const [name, expected] of cases) t.match(named(name), { name, ...expected }, name)
  t.equal(named('secret'), undefined, 'a private attribute is not shown')
  t.notOk('indexed' in named('firstName')!, 'indexed is absent when there is no index')
  t.notOk('identifying' in named('firstName')!, 'identifying is absent except on the key')
  t.notOk('readOnly' in named('firstName')!, 'readOnly is absent when it can be written')
  t.notOk('mandatory' in named('ID')!, 'an attribute that is filled automatically is not mandatory')
  const { attributes: ofCompany } = (await server.get('/$catalog/Company')).json as {
    attributes: Record<string, unknown>[]
  }
  t.match(
    ofCompany.find(({ name }) => name === 'name'),
    { mandatory: true },
  )
})
