import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { hookedPlugin } from '../support/plugins/test-plugins.ts'

/** The company with aliases of every kind. */
const aliased = structuredClone(company) as unknown as {
  model: { dataClasses: Record<string, { attributes: Record<string, object> }> }
  rows: typeof company.rows
}
Object.assign(aliased.model.dataClasses.Employee!.attributes, {
  who: { kind: 'alias', path: 'fullName' },
  bossName: { kind: 'alias', path: 'manager.fullName' },
  bossMonthly: { kind: 'alias', path: 'manager.monthly' },
  short: { kind: 'alias', path: 'initials' },
  firm: { kind: 'alias', path: 'employer' },
  firmName: { kind: 'alias', path: 'firm.name' },
  firmInfo: { kind: 'alias', path: 'firm.info' },
  colleagues: { kind: 'alias', path: 'firm.staff' },
})
Object.assign(aliased.model.dataClasses.Company!.attributes, {
  people: { kind: 'alias', path: 'staff' },
  bosses: { kind: 'alias', path: 'staff.manager' },
})

const finds = (spec: string, name: string, filter: string, keys: readonly string[], more = ''): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}${more}`,
  get: `/Employee?$filter="${filter}"${more}`,
  keys,
})
const order = (spec: string, orderBy: string, keys: readonly string[]): ProtocolCase => ({
  spec,
  name: `$orderby=${orderBy}`,
  get: `/Employee?$orderby=${orderBy}`,
  keys,
})

const calculated: ProtocolCase[] = [
  {
    spec: 'P3.8',
    name: 'an entity shows its calculated attributes',
    get: '/Employee(2)',
    has: {
      fullName: 'Kurt Gödel',
      monthly: 3750,
      boss: 'Lovelace',
      anniversary: '2032-06-15',
      card: { name: 'Gödel', reports: 1 },
      initials: 'KG',
      internal: undefined,
    },
  },
  {
    spec: '4.2',
    name: '$brief shortens calculated values',
    get: '/Employee(2)?$attributes=fullName,card,initials&$brief=16',
    has: {
      fullName: 'Kurt Gödel',
      card: { __deferred: { uri: '/rest/Employee(2)/card', brief: '{"name":"Gödel"' } },
      initials: 'KG',
    },
  },
  { spec: 'P3.8', name: 'null where the code gives null', get: '/Employee(5)', has: { monthly: null, boss: null } },
  {
    spec: '4.2',
    name: 'an attribute list names calculated attributes',
    get: '/Employee(1)/fullName,initials',
    has: { __KEY: '1', fullName: 'Ada Lovelace', initials: 'AL', lastName: undefined },
  },
  {
    spec: 'P4.2',
    name: '$attributes too, also properties of objects',
    get: '/Employee(2)?$attributes=card.reports,employer.name,manager.fullName',
    has: { card: { reports: 1, name: undefined }, employer: { name: 'Acme' }, manager: { fullName: 'Ada Lovelace' } },
  },
  {
    spec: '4.3',
    name: 'the array form has them',
    get: '/Employee?$asArray=true&$top=1',
    has: [{ fullName: 'Ada Lovelace', monthly: 7500, initials: 'AL' }],
  },
  {
    spec: 'P4.1',
    name: 'expanded entities have them',
    get: '/Company(2)?$expand=staff',
    has: { staff: { __ENTITIES: [{ fullName: "Émile O'Reilly" }, { fullName: 'Grace Hopper', boss: 'Gödel' }] } },
  },
  {
    spec: 'P1.5',
    name: 'an entity can be addressed by a calculated attribute',
    get: '/Employee:initials(KG)',
    has: { __KEY: '2', fullName: 'Kurt Gödel' },
  },
  finds(
    'P3.8',
    'the query handler decides in place of the values',
    'fullName = :1',
    ['1'],
    '&$params=["Ada Lovelace"]',
  ),
  finds('P3.8', 'with a wildcard', 'fullName = ada@', ['1', '6']),
  finds('P3.8', 'without a result of the handler the values decide', 'fullName > Grace', ['2', '4']),
  finds('P3.8', 'without handler every value is compared', 'monthly >= 7500', ['1', '4']),
  finds('P3.8', 'null is found', 'monthly = null', ['5']),
  finds('P3.8', 'not leaves null out', 'not(monthly > 5000)', ['2', '3', '6']),
  finds('P3.8', 'dates are compared as dates', "anniversary < '2032-02-01'", ['1']),
  finds('P3.8', 'properties of objects', 'card.reports = 2', ['1']),
  finds('P3.8', 'bools', 'shaky = true', []),
  finds('P3.8', 'together with others', 'monthly > 2000 and boss = lovelace and woman = false', ['2', '3']),
  finds('P2.9', 'over a N→1 relation', 'manager.monthly > 8000', ['6']),
  finds('P2.9', 'over a 1→N relation', 'directReports.fullName = "Grace Hopper"', ['2']),
  finds('P2.9', 'over several', 'employer.staff.monthly = 10000', ['3', '4']),
  finds('P3.8', 'a stored one is searched like any other attribute', 'initials = KG', ['2']),
  finds('P3.8', 'the order handler decides', 'ID < 5', ['2', '4', '3', '1'], '&$orderby=fullName desc'),
  finds('P3.8', 'a query handler may name attributes that the client may not', 'secretive', ['1']),
  finds('P3.8', 'and what it does not find', 'secretive = false', ['2', '3', '4', '5', '6']),
  finds('P2.9', 'over a relation', 'manager.secretive = true', ['2', '3']),
  order('P3.8', 'secretive desc,ID desc', ['1', '6', '5', '4', '3', '2']),
  order('P2.9', 'manager.secretive desc,ID', ['2', '3', '1', '4', '5', '6']),
  {
    spec: 'P2.10',
    name: 'the client itself may not name it',
    get: '/Employee?$orderby=secret',
    status: 404,
    errors: [1500, 1810],
  },
  order('P3.8', 'fullName', ['1', '6', '5', '3', '4', '2']),
  order('P3.8', 'monthly', ['5', '6', '2', '3', '1', '4']),
  order('P3.8', 'boss,ID desc', ['5', '1', '4', '6', '3', '2']),
  order('P3.8', 'manager.monthly desc,ID', ['6', '2', '3', '4', '1', '5']),
  order('P3.8', 'initials', ['1', '6', '5', '3', '4', '2']),
  {
    spec: '4.6',
    name: '$compute aggregates them',
    get: '/Employee/monthly?$compute=$all',
    json: { monthly: { count: 5, sum: 27_500, average: 5500, min: 2500, max: 10_000 } },
  },
  { spec: '4.6', name: 'also texts', get: '/Employee/fullName?$compute=max', text: '"Kurt Gödel"' },
  { spec: '4.6', name: 'over a relation', get: '/Employee/manager.monthly?$compute=sum', text: '28750' },
  {
    spec: 'P6.7',
    name: '$distinct lists their values',
    get: '/Employee/boss?$distinct=true',
    json: ['Gödel', 'Hopper', 'Lovelace'],
  },
  {
    spec: '4.5',
    name: 'an entity set is made with them',
    get: '/Employee?$filter="monthly > 7000"&$method=entityset&$orderby=monthly desc',
    keys: ['4', '1'],
  },
  {
    spec: 'P2.10',
    name: 'one that is not exposed cannot be searched',
    get: '/Employee?$filter="internal = x"',
    status: 404,
    errors: [1500],
  },
  {
    spec: 'P3.8',
    name: 'nor shown',
    get: '/Employee(1)/internal',
    status: 404,
    errors: [1500, 1804],
  },
  {
    spec: '4.7',
    name: 'functions see them',
    get: '/Employee/names',
    json: { result: ['Ada Lovelace', 'ada Smith'] },
  },
  {
    spec: 'P2.14',
    name: 'a query plan describes them',
    get: '/Employee?$filter="monthly > 7000"&$queryplan=true&$top=1',
    count: 2,
  },
  {
    spec: '4.4',
    name: 'a deletion finds its entities by them',
    post: '/Employee?$filter="monthly = 2500"&$method=delete',
    json: { ok: true },
    left: { Employee: ['1', '2', '3', '4', '5'] },
  },
]

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

const created = {
  firstName: 'Emmy',
  lastName: 'Noether',
  salary: 24_000,
  managerID: 1,
  employerID: 2,
  hired: '1915-04-01',
}
const shown = {
  __KEY: '7',
  __STAMP: 0,
  fullName: 'Emmy Noether',
  monthly: 2000,
  boss: 'Lovelace',
  anniversary: '2032-04-01',
  card: { name: 'Noether', reports: 0 },
  initials: 'EN',
}
const refresh = '/Employee?$method=update&$refresh=true'

/** Entities that are shown as they would be saved. */
const previews: ProtocolCase[] = [
  {
    spec: 'P5.7',
    name: '$refresh of a new entity shows calculated attributes',
    post: refresh,
    body: created,
    has: shown,
  },
  {
    spec: 'P5.7',
    name: 'of several, of an existing one and of one that fails too',
    post: refresh,
    body: [
      created,
      { __KEY: '2', __STAMP: 1, salary: 120 },
      { lastName: 'X', salary: 2_000_000 },
      { ...created, lastName: 'Ash' },
    ],
    status: 422,
    has: {
      __ENTITIES: [
        shown,
        { __KEY: '2', fullName: 'Kurt Gödel', monthly: 10 },
        { __STATUS: { success: false } },
        { fullName: 'Emmy Ash', initials: 'EA', card: { name: 'Ash', reports: 0 } },
      ],
    },
  },
  {
    spec: 'P5.5',
    name: 'an atomic save that fails shows them for the entities that did not fail',
    post: '/Employee?$method=update&$atomic=true',
    body: [created, { lastName: 'X', salary: 2_000_000 }, { __KEY: '2', __STAMP: 1, salary: 120 }],
    status: 422,
    has: {
      __ENTITIES: [
        { fullName: 'Emmy Noether', monthly: 2000, boss: 'Lovelace', initials: 'EN' },
        { __STATUS: { success: false } },
        { __KEY: '2', __STAMP: 1, monthly: 10 },
      ],
    },
  },
  {
    spec: 'P4.2',
    name: 'with relations, aliases and a list',
    post: `${refresh}&$expand=employer,manager,directReports`,
    body: created,
    has: {
      ...shown,
      who: 'Emmy Noether',
      short: 'EN',
      bossName: 'Ada Lovelace',
      bossMonthly: 7500,
      firmName: 'Éclair',
      employer: { name: 'Éclair' },
      manager: { fullName: 'Ada Lovelace', monthly: 7500 },
      directReports: { __COUNT: 0 },
    },
  },
  {
    spec: 'P4.2',
    name: '$attributes names them, and those of related entities',
    post: `${refresh}&$attributes=fullName,manager.monthly,bossMonthly,card.name`,
    body: [created],
    has: {
      __ENTITIES: [
        { fullName: 'Emmy Noether', manager: { monthly: 7500 }, bossMonthly: 7500, card: { name: 'Noether' } },
      ],
    },
  },
  {
    spec: 'P3.8',
    name: 'a new entity that is set by a calculated attribute',
    post: refresh,
    body: { fullName: 'Mary Jackson' },
    has: { firstName: 'Mary', lastName: 'Jackson', fullName: 'Mary Jackson', monthly: null, initials: 'MJ' },
  },
  { spec: 'P5.7', name: 'nothing is saved', get: '/Employee?$top=0', count: 6 },
]

const config = { plugins: [hookedPlugin], functions: { threads: 1 } }
protocolTable('calculated attributes', company, calculated, { config })
protocolTable('aliases', aliased, aliases, { config })
protocolTable('unsaved entities', aliased as unknown as typeof company, previews, { config })
