import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { hiddenCompaniesPlugin, restrictedPlugin } from '../support/plugins/test-plugins.ts'

/*
 * Companies 1 and 2 of 1 to 4 are visible, and of the employees 1 to 6 all except 6, who works for company 3 and is managed
 * by 4.
 */
const finds = (name: string, get: string, keys: readonly string[]): ProtocolCase => ({ spec: 'P8.9', name, get, keys })
const gone = (name: string, get: string): ProtocolCase => ({ spec: 'P8.9', name, get, status: 404, errors: [1543] })

const reads: ProtocolCase[] = [
  finds('a dataclass shows visible entities', '/Company', ['1', '2']),
  { spec: 'P8.9', name: 'and counts no others', get: '/Company?$top=1', count: 2 },
  { spec: 'P8.9', name: 'a visible entity is found', get: '/Company(1)', has: { name: 'Acme' } },
  gone('a hidden one is not', '/Company(3)'),
  gone('nor by another attribute', '/Company:code(DE/3)'),
  gone('nor among several', '/Company(1,3)'),
  finds('filters find nothing else', '/Company?$filter="ID > 1"', ['2']),
  finds('by an index', '/Company?$filter="name >= a"', ['1', '2']),
  finds('by the key', '/Company?$filter="ID = 3"', []),
  finds('by a negation', '/Company?$filter="not(ID = 1)"', ['2']),
  finds('by null', '/Company?$filter="founded = null"', []),
  finds('by objects', '/Company?$filter="info.offices = null"', ['2']),
  finds('orders neither', '/Company?$orderby=name desc', ['2', '1']),
  finds('nor an order by an index', '/Company?$orderby=code&$top=3', ['1', '2']),
  {
    spec: 'P8.9',
    name: '$compute',
    get: '/Company/ID?$compute=$all',
    json: { ID: { count: 2, sum: 3, average: 1.5, min: 1, max: 2 } },
  },
  { spec: 'P8.9', name: 'of texts', get: '/Company/name?$compute=max', text: '"Éclair"' },
  { spec: 'P8.9', name: '$distinct', get: '/Company/name?$distinct=true', json: ['Acme', 'Éclair'] },
  finds('restrict events are restricted themselves', '/Employee', ['1', '2', '3', '4', '5']),
  finds('a path leads to nothing else', '/Employee?$filter="employer.name = zeta"', []),
  finds('also from many candidates', '/Employee?$filter="employer.ID >= 1"', ['1', '2', '3', '4']),
  finds('the other way round', '/Employee?$filter="directReports.lastName = Smith"', []),
  finds('not even by a negation', '/Employee?$filter="not(directReports.lastName = Smith)"', ['1', '2', '3', '4', '5']),
  finds('over two steps', '/Company?$filter="staff.directReports.ID = 6"', []),
  finds('an order by a relation', '/Employee?$orderby=employer.name desc,ID', ['3', '4', '1', '2', '5']),
  {
    spec: 'P8.9',
    name: '$compute over a relation',
    get: '/Employee/employer.ID?$compute=$all',
    has: { 'employer.ID': { count: 4, max: 2 } },
  },
  {
    spec: 'P8.9',
    name: 'expanded entities',
    get: '/Employee(4)?$expand=directReports,employer',
    has: { directReports: { __COUNT: 0, __ENTITIES: [] }, employer: { name: 'Éclair' } },
  },
  finds('related entities', '/Employee(4)/directReports?$expand=directReports&$method=subentityset', []),
  finds('entity sets', '/Company?$method=entityset', ['1', '2']),
  { spec: 'P8.9', name: 'a restrict event without a result restricts nothing', get: '/City', count: 4 },
  { spec: 'P8.9', name: 'an invalid result shows nothing', get: '/Tag', status: 500, errors: [1602] },
  {
    spec: 'P8.9',
    name: 'functions see no others',
    get: '/Company/seen',
    json: { result: [[1, 2], 2, null, 0] },
  },
  finds('nor selections that they return', '/Employee/chiefs', ['1', '2']),
  { spec: 'P8.9', name: 'their relations end there', get: '/Employee(5)/chief', json: { result: null } },
  {
    spec: 'P8.9',
    name: 'images and blobs',
    get: '/Company(3)/contract?$binary=true&$expand=contract',
    status: 404,
    errors: [1543],
  },
]

const writes: ProtocolCase[] = [
  {
    spec: 'P8.9',
    name: 'hidden entities cannot be changed',
    post: '/Company?$method=update',
    body: { __KEY: '3', __STAMP: 1, revenues: 1 },
    status: 404,
    errors: [1543, 1517],
  },
  {
    spec: 'P8.9',
    name: 'nor told apart from missing ones',
    post: '/Company?$method=update',
    body: { __KEY: '99', __STAMP: 1 },
    status: 404,
    errors: [1543, 1517],
  },
  { spec: 'P8.9', name: 'nor deleted', post: '/Company(3)?$method=delete', status: 404, errors: [1543] },
  {
    spec: 'P8.9',
    name: 'nor by a filter',
    post: '/Company?$filter="ID in [3,4]"&$method=delete',
    json: { ok: true },
    left: { Company: ['1', '2'] },
  },
  ...['3', '4'].map(ID => ({
    spec: 'P8.9',
    name: `a hidden entity is still there: its key is taken (${ID})`,
    notRemote: 'a check alone does not look for values that exist',
    post: '/Company?$method=update&$refresh=true',
    body: { ID, name: 'New' },
    status: 409,
    errors: [1115, 1545, 1534],
  })),
  { spec: 'P8.9', name: 'nor locked', post: '/Company(3)?$lock=true', status: 404, errors: [1543] },
  {
    spec: 'P8.9',
    name: 'visible ones can',
    post: '/Company?$method=update',
    body: { __KEY: '1', __STAMP: 1, revenues: 1 },
    has: { __STAMP: 2, revenues: 1 },
  },
  {
    spec: 'P8.9',
    name: 'the answer to a save is restricted where it shows others',
    post: '/Employee?$method=update&$expand=directReports',
    body: { __KEY: '4', __STAMP: 1, salary: 1 },
    has: { __STAMP: 2, directReports: { __COUNT: 0 } },
  },
  {
    spec: 'P5.7',
    name: 'deletion control reaches hidden entities',
    post: '/Employee(4)?$method=delete',
    json: { ok: true },
    // Without its employee 4, company 2 is hidden, and with it employee 3.
    left: { Employee: ['1', '2', '5'] },
  },
]

/* All employees are visible, and of the companies 1 and 2: employee 6 works for 3. */
const references: ProtocolCase[] = [
  finds('every restrict event of a dataclass applies', '/Company', ['1', '2']),
  {
    spec: 'P8.9',
    name: 'a restrict event that returns no selection shows nothing',
    get: '/City',
    status: 500,
    errors: [1602],
  },
  finds('an entity that refers to a hidden one is found', '/Employee', ['1', '2', '3', '4', '5', '6']),
  finds('a path finds no hidden entities', '/Employee?$filter="employer.name = zeta"', []),
  finds('from few candidates', '/Employee?$filter="ID = 6 and employer.name = zeta"', []),
  finds('by a key on the way', '/Employee?$filter="ID = 6 and employer.ID = 3"', []),
  finds('by null, as where there is none', '/Employee?$filter="employer.name = null"', ['5', '6']),
  finds('the same for one candidate', '/Employee?$filter="ID = 6 and employer.name = null"', ['6']),
  finds('by a negation', '/Employee?$filter="not(employer.name = acme)"', ['3', '4']),
  finds('the same for one candidate', '/Employee?$filter="ID = 6 and not(employer.name = acme)"', []),
  finds('by a value that exists', '/Employee?$filter="ID = 6 and employer.active != null"', []),
  finds('by its own relations', '/Employee?$filter="ID = 6 and employer.staff != null"', []),
  finds('by an alias', '/Employee?$filter="employerName = zeta"', []),
  finds('over two steps', '/Company?$filter="staff.directReports.employer.name = zeta"', []),
  finds('in an order it counts as null', '/Employee?$orderby=employer.name,ID', ['5', '6', '1', '2', '3', '4']),
  finds('an order by an alias too', '/Employee?$orderby="employerName desc,ID"', ['3', '4', '1', '2', '5', '6']),
  {
    spec: 'P8.9',
    name: '$compute over a relation leaves it out',
    get: '/Employee/employer.ID?$compute=$all',
    has: { 'employer.ID': { count: 4, max: 2 } },
  },
  {
    spec: 'P8.9',
    name: '$distinct too',
    get: '/Employee/employer.name?$distinct=true',
    json: ['Acme', 'Éclair'],
  },
  {
    spec: 'P8.9',
    name: 'it is not expanded, and its values are null',
    get: '/Employee(6)?$expand=employer&$attributes=employer.name,employerName',
    has: { employer: null, employerName: null },
  },
  {
    spec: 'P8.9',
    name: 'nor addressed over the relation',
    get: '/Employee(6)/employer?$expand=employer',
    has: { employer: null },
  },
  { spec: 'P8.9', name: 'nor a value of a function', get: '/Employee(6)/company', json: { result: null } },
  // The price of references: they reveal that a hidden entity exists, and nothing else.
  ...[{ employerID: 4 }, { employer: '4' }].map(values => ({
    spec: 'P8.9',
    name: `a reference to it is saved, since it exists, and shows only its key: ${JSON.stringify(values)}`,
    post: '/Employee?$method=update&$refresh=true&$expand=employer&$attributes=employerID,employer.name,employerName',
    body: { __KEY: '5', __STAMP: 1, ...values },
    has: { employerID: 4, employer: null, employerName: null },
  })),
  ...[
    { values: { employerID: 99 }, error: 1155 },
    { values: { employer: '99' }, error: 1542 },
  ].map(({ values, error }) => ({
    spec: 'P8.9',
    name: `a reference to an entity that does not exist is refused: ${JSON.stringify(values)}`,
    notRemote: 'a check alone does not look for values that exist',
    post: '/Employee?$method=update&$refresh=true',
    body: { __KEY: '5', __STAMP: 1, ...values },
    status: 409,
    errors: [error, 1517],
  })),
]

/** Two dataclasses whose restrict events refer to each other, whichever is read first. */
const mutual: ProtocolCase[] = [
  {
    spec: 'P8.9',
    name: 'visibility does not depend on what is read first',
    get: '/Company(2)?$expand=staff.directReports',
    has: { staff: { __ENTITIES: [{}, { __KEY: '4', directReports: { __COUNT: 0, __ENTITIES: [] } }] } },
  },
  finds('in filters', '/Company?$orderby=name&$filter="staff.directReports.ID = 6"', []),
]

const config = { plugins: [restrictedPlugin], functions: { threads: 1 } }
protocolTable('restricted reads', company, [...reads, ...mutual], { config })
protocolTable('restricted writes', company, writes, { config })
protocolTable('references to hidden entities', company, references, {
  config: { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } },
})
