/** `$method=validate` and `$refresh` show what a save would do, and store nothing. */
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { CITIES, EMPLOYEES } from './writing-cases.ts'

const PARIS = { __STAMP: 1, population: 2_100_000 }

protocolTable(
  '$method=validate and $refresh',
  company,
  [
    {
      spec: 'P5.6',
      name: '$method=validate saves nothing',
      post: '/Employee?$method=validate',
      body: { lastName: 'x' },
      json: { ok: true },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.6',
      name: '$method=validate changes nothing',
      post: '/City?$method=validate',
      body: [{ __KEY: 'Paris', __STAMP: 1, population: 1 }, { name: 'Oslo' }],
      json: { ok: true },
      left: { City: CITIES },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.6',
      name: '$method=validate changes nothing when one of several is wrong',
      notRemote: 'a check alone does not look for values that exist',
      post: '/City?$method=validate',
      body: [{ __KEY: 'Paris', __STAMP: 1, population: 1 }, { name: 'paris' }],
      status: 409,
      has: { __ENTITIES: [{ __ERROR: [{ errCode: 1115 }, { errCode: 1545 }, { errCode: 1534 }], __INDEX: 1 }] },
      left: { City: CITIES },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.7',
      name: '$refresh changes nothing',
      post: '/City?$method=update&$refresh=true',
      body: { __KEY: 'Paris', __STAMP: 1, population: 1 },
      has: { population: 1, __STAMP: 1 },
      afterwards: { '/City(Paris)': PARIS },
    },
    {
      spec: 'P5.6',
      name: '$method=validate reports what is wrong',
      post: '/Employee?$method=validate',
      body: { salary: -1 },
      status: 422,
      has: { __ENTITIES: [{ __ERROR: [{}, {}, {}], __INDEX: undefined }] },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: '$refresh answers and saves nothing',
      post: '/Employee?$method=update&$refresh=true',
      body: { lastName: 'New' },
      has: { lastName: 'New', __STAMP: 0 },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.5',
      name: '$method=validate is one transaction, of a bounded size',
      post: '/City?$method=validate',
      body: Array.from({ length: 10_001 }, (_, i) => ({ name: `City ${i}` })),
      status: 413,
      has: { __ERROR: [{ errCode: 1806, message: /^\$method=validate .*10000/ }] },
      left: { City: CITIES },
    },
  ],
  { isolated: true },
)
