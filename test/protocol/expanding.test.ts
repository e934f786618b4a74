/** `$expand` and `$attributes`: related entities in an answer. */
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'

const employer = (key: string) => ({ __deferred: { uri: `/rest/Company(${key})`, __KEY: key } })

protocolTable('$expand and $attributes', company, [
  {
    spec: 'P4.1',
    name: 'a N→1 relation becomes the entity',
    get: '/Employee(1)?$expand=employer',
    has: { employer: { __KEY: '1', __STAMP: 1, name: 'Acme', staff: { __deferred: {} } } },
  },
  {
    spec: 'P4.1',
    name: 'an expanded entity has no __entityModel',
    get: '/Employee(1)?$expand=employer',
    has: { employer: { __entityModel: undefined } },
  },
  {
    spec: 'P4.1',
    name: 'a 1→N relation becomes a collection',
    get: '/Company(2)?$expand=staff',
    has: {
      staff: {
        __ENTITYSET: '/rest/Company(2)/staff?$expand=staff',
        __COUNT: 2,
        __FIRST: 0,
        __ENTITIES: [{ __KEY: '3', employer: employer('2') }, { __KEY: '4' }],
      },
    },
  },
  {
    spec: 'P4.1',
    name: 'levels are named one by one',
    get: '/Company(1)?$expand=staff.directReports',
    has: {
      staff: { __ENTITIES: [{ __KEY: '1', directReports: { __ENTITIES: [{ __KEY: '2' }, { __KEY: '3' }] } }, {}] },
    },
  },
  {
    spec: 'P4.1',
    name: '$all expands every relation one level',
    get: '/Employee(2)?$expand=$all',
    has: { employer: { name: 'Acme' }, manager: { ID: 1 }, directReports: { __COUNT: 1 } },
  },
  {
    spec: 'P4.1',
    name: 'a step may be limited',
    get: '/Company(1)?$expand=staff:1',
    has: { staff: { __COUNT: 2, __ENTITIES: [{ __KEY: '1' }] } },
  },
  {
    spec: 'P4.1',
    name: 'a step may be skipped into',
    get: '/Company(1)?$expand=staff:1-1',
    has: { staff: { __COUNT: 2, __FIRST: 1, __ENTITIES: [{ __KEY: '2' }] } },
  },
  {
    spec: '4.2',
    name: 'the link of a relation leads to the entity with its related entities',
    get: '/Company(1)/staff?$expand=staff',
    has: { __entityModel: 'Company', __KEY: '1', name: undefined, staff: { __COUNT: 2, __FIRST: 0, __SENT: 2 } },
  },
  {
    spec: '4.2',
    name: 'where a page applies to the related entities',
    get: '/Company(1)/staff?$expand=staff&$top=1&$skip=1',
    has: {
      __entityModel: 'Company',
      __KEY: '1',
      staff: { __COUNT: 2, __FIRST: 1, __ENTITIES: [{ __KEY: '2' }], __SENT: 1 },
    },
  },
  {
    spec: '4.2',
    name: 'and so does an order',
    get: '/Company(1)/staff?$expand=staff&$orderby=salary&$top=1',
    has: {
      staff: {
        __ENTITYSET: '/rest/Company(1)/staff?$expand=staff',
        __COUNT: 2,
        __FIRST: 0,
        __ENTITIES: [{ __KEY: '2' }],
      },
    },
  },
  {
    spec: '4.2',
    name: 'and a filter',
    get: '/Company(2)/staff?$expand=staff&$filter="salary > 100000"',
    has: { __KEY: '2', staff: { __COUNT: 1, __FIRST: 0, __ENTITIES: [{ __KEY: '4' }] } },
  },
  {
    spec: '4.2',
    name: 'a filter that none of them passes leaves an empty collection',
    get: '/Company(2)/staff?$expand=staff&$filter="salary > :1"&$params=[1000000]',
    has: { __KEY: '2', staff: { __COUNT: 0, __FIRST: 0, __ENTITIES: [], __SENT: 0 } },
  },
  {
    spec: '4.2',
    name: 'also of an entity by another attribute, with some of their attributes, and what is related to them',
    get: '/Company:code("FR/1")/staff.lastName,staff.manager?$expand=staff.manager&$orderby=lastName desc',
    has: {
      __KEY: '1',
      staff: {
        __ENTITIES: [
          { __KEY: '1', lastName: 'Lovelace', manager: null, salary: undefined },
          { __KEY: '2', lastName: 'Gödel', manager: { __KEY: '1', lastName: 'Lovelace' } },
        ],
      },
    },
  },
  {
    spec: 'P4.1',
    name: 'a range of the step is the page unless there is another',
    get: '/Company(1)/staff?$expand=staff:1-1&$orderby=salary desc',
    has: { staff: { __COUNT: 2, __FIRST: 1, __ENTITIES: [{ __KEY: '2' }] } },
  },
  {
    spec: '4.2',
    name: 'a filter on an attribute that they do not have is refused',
    get: '/Company(1)/staff?$expand=staff&$filter="revenues > 1"',
    status: 404,
    errors: [1500],
  },
  {
    spec: '4.2',
    name: 'an entity that does not exist has none',
    get: '/Company(99)/staff?$expand=staff&$top=1',
    status: 404,
    errors: [1543],
  },
  {
    spec: '4.2',
    name: 'with other attributes in the list a filter applies to the entity itself',
    get: '/Company(1)/name,staff?$expand=staff&$filter="revenues > 1"',
    has: { name: 'Acme', staff: { __COUNT: 2 } },
  },
  {
    spec: '4.2',
    name: 'and behind a relation to one',
    get: '/Employee(1)/employer?$expand=employer&$filter="salary > 1"',
    has: { employer: { name: 'Acme' } },
  },
  {
    spec: 'P4.1',
    name: 'an unknown relation is refused',
    get: '/Company?$expand=nothing',
    status: 404,
    errors: [1500, 1805],
  },
  {
    spec: 'P4.2',
    name: '$attributes limits the attributes',
    get: '/Employee(1)?$attributes=lastName',
    has: { __KEY: '1', lastName: 'Lovelace', firstName: undefined },
  },
  {
    spec: 'P4.2',
    name: '$attributes reaches into a N→1 relation',
    get: '/Employee(1)?$attributes=lastName,employer.name',
    has: { lastName: 'Lovelace', employer: { __KEY: '1', name: 'Acme', revenues: undefined } },
  },
  {
    spec: 'P4.2',
    name: '$attributes rel.* is the whole related entity',
    get: '/Employee(1)?$attributes=employer.*',
    has: { employer: { name: 'Acme', revenues: 1_000_000.5 } },
  },
  {
    spec: 'P4.2',
    name: '$attributes rel stays a link',
    get: '/Employee(1)?$attributes=employer',
    has: { employer: employer('1') },
  },
  {
    spec: 'P4.2',
    name: '$attributes of a 1→N relation limits its entities',
    get: '/Company(1)?$attributes=staff.lastName',
    has: { staff: { __COUNT: 2, __ENTITIES: [{ __KEY: '1', lastName: 'Lovelace', firstName: undefined }, {}] } },
  },
  {
    spec: 'P4.2',
    name: '$attributes works on a collection',
    get: '/Employee?$attributes=employer.name&$top=1',
    has: { __ENTITIES: [{ employer: { name: 'Acme' } }] },
  },
  {
    spec: 'P4.2',
    name: '$attributes reaches through several relations',
    get: '/Company(2)?$attributes=name,staff.manager.lastName',
    has: { staff: { __ENTITIES: [{ manager: { lastName: 'Lovelace' } }, { manager: { lastName: 'Gödel' } }] } },
  },
  {
    spec: 'P4.2',
    name: '$attributes with an unknown name is refused',
    get: '/Employee?$attributes=employer.nothing',
    status: 404,
    errors: [1500, 1804],
  },
  {
    spec: 'P1.10',
    name: '$attributes is ignored if the path has a list',
    get: '/Employee(1)/firstName?$attributes=lastName',
    has: { firstName: 'Ada', lastName: undefined },
  },
  {
    spec: 'P1.10',
    name: 'a path in a list with $expand gives the nested attribute',
    get: '/Employee(1)/firstName,employer.name?$expand=employer',
    has: { firstName: 'Ada', employer: { __KEY: '1', name: 'Acme', revenues: undefined } },
  },
  {
    spec: 'P1.10',
    name: 'a path in a list without $expand stays a link',
    get: '/Employee(1)/employer.name',
    has: { employer: employer('1') },
  },
])
