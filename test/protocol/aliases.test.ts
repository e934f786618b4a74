/** Aliases: shown, searched, sorted and written like their targets. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { aliased, config, finds, order } from './calculated-cases.ts'

const aliases: ProtocolCase[] = [
  {
    spec: 'P3.9',
    name: 'an alias shows its target',
    get: '/Employee(2)',
    has: {
      who: 'Kurt Gödel',
      bossName: 'Ada Lovelace',
      bossMonthly: 7500,
      short: 'KG',
      firm: { __deferred: { uri: '/rest/Company(1)', __KEY: '1' } },
      firmName: 'Acme',
      firmInfo: { address: { city: 'Paris' } },
      colleagues: { __deferred: { uri: '/rest/Company(1)/staff?$expand=staff' } },
    },
  },
  {
    spec: 'P3.9',
    name: 'null where its path ends too early',
    get: '/Employee(5)',
    has: { bossName: null, bossMonthly: null, firm: null, firmName: null, firmInfo: null, colleagues: null },
  },
  {
    spec: '4.2',
    name: 'attribute lists go through aliases',
    get: '/Employee(2)?$attributes=firm.name,colleagues.lastName,firmInfo.address',
    has: {
      firm: { name: 'Acme', revenues: undefined },
      colleagues: { __ENTITIES: [{ lastName: 'Lovelace' }, { lastName: 'Gödel' }] },
      firmInfo: { address: { city: 'Paris' }, tags: undefined },
    },
  },
  {
    spec: 'P4.1',
    name: 'an alias of a relation can be expanded',
    get: '/Employee(2)?$expand=firm,colleagues',
    has: { firm: { name: 'Acme' }, colleagues: { __COUNT: 2, __ENTITIES: [{ __KEY: '1' }, { __KEY: '2' }] } },
  },
  {
    spec: '4.2',
    name: 'and addresses related entities',
    get: '/Employee(2)/colleagues?$expand=colleagues&$method=subentityset',
    keys: ['1', '2'],
  },
  {
    spec: 'P3.9',
    name: 'an alias through a relation to many is a link to its targets',
    get: '/Company(2)',
    has: { bosses: { __deferred: { uri: '/rest/Company(2)/bosses?$expand=bosses' } } },
  },
  {
    spec: 'P3.9',
    name: 'the link shows these entities, each once',
    get: '/Company(2)/bosses?$expand=bosses',
    has: {
      __KEY: '2',
      bosses: {
        __ENTITYSET: '/rest/Company(2)/bosses?$expand=bosses',
        __COUNT: 2,
        __FIRST: 0,
        __ENTITIES: [
          { __KEY: '1', lastName: 'Lovelace' },
          { __KEY: '2', lastName: 'Gödel' },
        ],
      },
    },
  },
  {
    spec: '4.2',
    name: 'paged, ordered and filtered',
    get: '/Company(2)/bosses?$expand=bosses&$orderby=lastName&$filter="salary > 1"&$top=1',
    has: { bosses: { __COUNT: 2, __FIRST: 0, __ENTITIES: [{ __KEY: '2' }] } },
  },
  {
    spec: 'P4.2',
    name: 'an attribute list goes through it',
    get: '/Company?$attributes=name,bosses.lastName&$filter="ID<3"',
    has: {
      __ENTITIES: [
        { bosses: { __COUNT: 1, __ENTITIES: [{ lastName: 'Lovelace', salary: undefined }] } },
        { bosses: { __COUNT: 2 } },
      ],
    },
  },
  {
    spec: '4.4',
    name: '$method=subentityset makes a set of them',
    get: '/Company(2)/bosses?$expand=bosses&$method=subentityset&$subOrderby=lastName',
    has: { __entityModel: 'Employee', __DATACLASS: 'Employee', __ENTITYSET: /^\/rest\/Employee\/\$entityset\// },
    keys: ['2', '1'],
  },
  {
    spec: 'P3.9',
    name: 'where it leads to nothing it is empty',
    get: '/Company(4)?$expand=bosses',
    has: { bosses: { __COUNT: 0, __ENTITIES: [] } },
  },
  {
    spec: '4.3',
    name: 'the array form has no link',
    get: '/Company?$asArray=true&$top=1',
    has: [{ bosses: undefined }],
  },
  finds('P3.9', 'filters', 'firmName = acme', ['1', '2']),
  finds('P3.9', 'over an alias of a relation', 'firm.name = acme', ['1', '2']),
  finds('P3.9', 'over an alias that ends at many', 'colleagues.lastName = Hopper', ['3', '4']),
  finds('P3.9', 'into objects', 'firmInfo.address.city = Paris', ['1', '2']),
  finds('P3.9', 'of a calculated attribute', 'who = Kurt@', ['2']),
  finds('P3.9', 'of one of a related entity', 'bossName = ada@', ['2', '3']),
  finds('P3.9', 'by comparing its values', 'bossMonthly > 3750', ['2', '3', '6']),
  finds('P3.9', 'of a stored one', 'short = GH', ['4']),
  finds('P3.9', 'null', 'bossName = null', ['1', '5']),
  { spec: 'P3.9', name: 'from the other side', get: '/Company?$filter="people.who = Ada@"', keys: ['1', '3'] },
  order('P3.9', 'firmName desc,short', ['6', '3', '4', '1', '2', '5']),
  order('P3.9', 'bossMonthly desc,ID', ['6', '2', '3', '4', '1', '5']),
  {
    spec: '4.6',
    name: '$compute goes through them',
    get: '/Employee/bossMonthly?$compute=$all',
    json: { bossMonthly: { count: 4, sum: 28_750, average: 7187.5, min: 3750, max: 10_000 } },
  },
  {
    spec: 'P6.7',
    name: 'so does $distinct',
    get: '/Employee/bossName?$distinct=true',
    json: ['Ada Lovelace', 'Grace Hopper', 'Kurt Gödel'],
  },
  {
    spec: '4.3',
    name: 'the array form has their values and leaves their links out',
    get: '/Employee?$asArray=true&$filter="ID = 2"',
    has: [{ who: 'Kurt Gödel', firmName: 'Acme', firm: undefined, colleagues: undefined }],
  },
  {
    spec: '4.4',
    name: 'a whole entity with its aliases can be sent back',
    post: '/Employee?$method=update',
    body: {
      __KEY: '2',
      __STAMP: 1,
      who: 'Kurt Gödel',
      bossName: 'Ada Lovelace',
      bossMonthly: 7500,
      firmName: 'Acme',
      firm: { __deferred: { uri: '/rest/Company(1)', __KEY: '1' } },
      short: 'KG',
    },
    has: { __STAMP: 1 },
  },
  {
    spec: 'P3.9',
    name: 'an alias through a relation is read-only',
    post: '/Employee?$method=update',
    body: { __KEY: '2', __STAMP: 1, bossName: 'X', firmName: 'Y' },
    status: 422,
    errors: [1516, 1516, 1517],
  },
  {
    spec: 'P3.9',
    name: 'an alias of an own attribute writes it, with its set handler',
    post: '/Employee?$method=update',
    body: { __KEY: '2', __STAMP: 1, who: 'Kurt Weill' },
    has: { __STAMP: 2, lastName: 'Weill', who: 'Kurt Weill', short: 'KW' },
  },
  {
    spec: 'P3.9',
    name: 'but not an alias of a read-only attribute',
    post: '/Employee?$method=update',
    body: { __KEY: '2', __STAMP: 2, short: 'XX' },
    status: 422,
    errors: [1516, 1517],
  },
]

protocolTable('aliases', aliased, aliases, { config })
