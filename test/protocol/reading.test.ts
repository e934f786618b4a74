import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/protocol-table.ts'
import { startServer } from '../support/test-server.ts'

const employer = (key: string) => ({ __deferred: { uri: `/rest/Company(${key})`, __KEY: key } })

protocolTable('reading', company, [
  {
    spec: '2.5',
    name: 'an entity has every public attribute, links for relations, null for null',
    get: '/Employee(2)',
    has: {
      __entityModel: 'Employee',
      __KEY: '2',
      __STAMP: 1,
      __TIMESTAMP: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      ID: 2,
      firstName: 'Kurt',
      lastName: 'Gödel',
      salary: 45_000,
      woman: false,
      birthDate: '1976-04-28T00:00:00.000Z',
      hired: '2012-06-15',
      dailyWork: null,
      photo: null,
      employer: employer('1'),
      manager: { __deferred: { uri: '/rest/Employee(1)', __KEY: '1' } },
      directReports: { __deferred: { uri: '/rest/Employee(2)/directReports?$expand=directReports' } },
      employerName: 'Acme',
      pay: 45_000,
      fullName: null,
    },
  },
  {
    spec: 'P3.3',
    name: 'a N→1 relation to nothing is null',
    get: '/Employee(5)',
    has: { employer: null, employerName: null },
  },
  {
    spec: '2.5',
    name: 'an image is a deferred link with the stamp as its version',
    get: '/Employee(1)/photo',
    has: {
      photo: { __deferred: { uri: '/rest/Employee(1)/photo?$imageformat=best&$version=1&$expand=photo', image: true } },
    },
  },
  {
    spec: 'P3.3',
    name: 'a blob is a deferred link',
    get: '/Company(1)/contract',
    has: { contract: { __deferred: { uri: '/rest/Company(1)/contract?$binary=true&$expand=contract' } } },
  },
  {
    spec: '2.5',
    name: 'an object attribute is its JSON',
    get: '/Company(1)/info',
    has: { info: { address: { city: 'Paris' }, tags: ['big', 'old'] } },
  },
  {
    spec: 'P3.2',
    name: 'a duration is a number of milliseconds',
    get: '/Employee(1)/dailyWork',
    has: { dailyWork: 28_800_000 },
  },
  {
    spec: '2.6',
    name: 'a collection has its seven properties',
    get: '/City?$top=2',
    has: {
      __entityModel: 'City',
      __GlobalStamp: Number,
      __COUNT: 4,
      __SENT: 2,
      __FIRST: 0,
      __ENTITIES: [{ __KEY: 'Paris' }, { __KEY: 'New York (NY)' }],
    },
  },
  { spec: '8', name: 'a page is 100 entities by default', get: '/Company', has: { __SENT: 4 } },
  {
    spec: '4.2',
    name: '$skip says where the page starts',
    get: '/Employee?$skip=4',
    has: { __FIRST: 4, __SENT: 2, __COUNT: 6 },
    keys: ['5', '6'],
  },
  { spec: '4.2', name: '$limit is $top', get: '/Employee?$limit=2', keys: ['1', '2'] },
  { spec: 'P1.7', name: '$top wins over $limit', get: '/Employee?$limit=5&$top=1', keys: ['1'] },
  { spec: 'P1.7', name: '$top=0 sends none', get: '/Employee?$top=0', has: { __SENT: 0, __COUNT: 6 }, keys: [] },
  { spec: 'P1.7', name: 'a negative $top sends all', get: '/Employee?$top=-1', has: { __SENT: 6 } },
  { spec: 'P1.7', name: 'a $top that is no number sends none', get: '/Employee?$top=abc', has: { __SENT: 0 } },
  { spec: 'P1.7', name: 'a negative $skip is 0', get: '/Employee?$skip=-3&$top=1', has: { __FIRST: 0 }, keys: ['1'] },
  {
    spec: 'P1.7',
    name: '$skip past the end sends none from there',
    get: '/Employee?$skip=10',
    has: { __FIRST: 10, __SENT: 0, __COUNT: 6 },
    keys: [],
  },
  {
    spec: 'P1.6',
    name: '$orderby sorts ascending by default',
    get: '/Company?$orderby=revenues',
    keys: ['3', '4', '2', '1'],
  },
  {
    spec: 'P1.6',
    name: '$orderby sorts descending in any case of letters',
    get: '/Company?$orderby="revenues DESC"',
    keys: ['1', '2', '4', '3'],
  },
  {
    spec: 'P1.6',
    name: '$orderby ignores case and accents',
    get: '/Company?$orderby=name',
    keys: ['1', '2', '4', '3'],
  },
  {
    spec: 'P1.6',
    name: '$orderby takes several attributes and relation paths',
    get: '/Employee?$orderby="employer.name desc, salary asc, ID desc"',
    keys: ['6', '3', '4', '2', '1', '5'],
  },
  {
    spec: 'P1.6',
    name: '$orderby goes into object attributes',
    get: '/Company?$orderby="info.address.city desc"',
    keys: ['1', '2', '3', '4'],
  },
  { spec: 'P1.6', name: 'the sort is stable', get: '/Employee?$orderby=woman', keys: ['2', '3', '5', '1', '4', '6'] },
  {
    spec: 'P1.6',
    name: 'an unknown attribute in $orderby is refused',
    get: '/Employee?$orderby=nothing',
    status: 404,
    errors: [1500, 1810],
  },
  { spec: 'P1.6', name: 'a relation cannot be sorted by', get: '/Employee?$orderby=employer', status: 404 },
  {
    spec: 'P1.6',
    name: 'an order by in the filter has precedence',
    get: '/Employee?$filter="ID<3 order by ID desc"&$orderby=ID',
    keys: ['2', '1'],
  },
  {
    spec: '4.2',
    name: 'the image is sent as it is stored',
    get: '/Employee(1)/photo?$imageformat=best&$version=1&$expand=photo',
    headers: { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
  },
  {
    spec: 'P10.3',
    name: 'an image in a format that nothing makes is empty',
    get: '/Employee(1)/photo?$imageformat=pdf&$expand=photo',
    text: '',
  },
  { spec: 'P10.3', name: 'no image is empty', get: '/Employee(2)/photo?$imageformat=best&$expand=photo', text: '' },
  {
    spec: '4.2',
    name: 'the blob is sent as it is stored',
    get: '/Company(1)/contract?$binary=true&$expand=contract',
    text: '\u0000\u0001\u0002\u0003\u0004\u0005',
    headers: { 'content-type': 'application/octet-stream' },
  },
  {
    spec: 'D7',
    name: 'a query can be sent as a POST',
    post: '/Employee/$query',
    body: { $filter: 'salary = :1', $params: [45_000], $orderby: 'ID desc', $top: 1 },
    has: { __COUNT: 2 },
    keys: ['3'],
  },
  {
    spec: 'D7',
    name: 'an attribute list can be part of such a query',
    post: '/Employee(1)/lastName/$query',
    body: {},
    has: { lastName: 'Lovelace' },
  },
  { spec: 'D7', name: 'such a query needs no body', post: '/City/$query', count: 4 },
  {
    spec: 'D7',
    name: 'a body that is no object is refused',
    post: '/City/$query',
    body: [1],
    status: 400,
    errors: [1806],
  },
  {
    spec: 'D7',
    name: 'a body that is nested as no query is is refused',
    post: '/City/$query',
    body: { $filter: 'name = :1', $params: JSON.parse(`${'['.repeat(4_000)}${']'.repeat(4_000)}`) as unknown },
    status: 400,
    errors: [1806],
  },
  {
    spec: 'D7',
    name: '$query by GET is refused with the verb that works',
    get: '/City/$query',
    status: 405,
    errors: [1813],
    headers: { allow: 'POST' },
  },
  {
    spec: 'P1.10',
    name: 'an attribute list in the path that cannot be read',
    get: '/City/name,,ID',
    status: 400,
    errors: [1201, 1804],
  },
  {
    spec: 'P4.2',
    name: '$attributes that cannot be read',
    get: '/City?$attributes=name.',
    status: 400,
    errors: [1201, 1804],
  },
  {
    spec: 'P4.1',
    name: '$expand that cannot be read',
    get: '/City?$expand=*.name',
    status: 400,
    errors: [1201, 1805],
  },
  { spec: 'D7', name: 'a query by POST cannot delete', post: '/City/$query', body: { $method: 'delete' }, status: 405 },
])

protocolTable('$asArray', company, [
  {
    spec: '4.3',
    name: 'is a bare array without links and timestamps',
    get: '/Employee?$asArray=true&$top=1&$filter="ID=2"',
    has: [{ __KEY: '2', __STAMP: 1, lastName: 'Gödel', __GlobalStamp: Number }],
  },
  { spec: '8', name: 'is paged like any collection', get: '/Employee?$asArray=true&$skip=1&$top=2', keys: ['2', '3'] },
  {
    spec: '4.3',
    name: 'nests what is expanded',
    get: '/Employee?$asArray=true&$filter="ID=2"&$expand=employer,directReports',
    has: [{ employer: { __KEY: '1', name: 'Acme' }, directReports: [{ __KEY: '4' }] }],
  },
])

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
    name: '$attributes is ignored beside a list in the path',
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

t.test('§P1.10 the order of a list is kept, after __KEY, __TIMESTAMP and __STAMP', async t => {
  const server = await startServer(t, company)
  t.same(Object.keys((await server.get('/Employee(2)/lastName,ID,firstName')).json), [
    '__entityModel',
    '__KEY',
    '__TIMESTAMP',
    '__STAMP',
    'lastName',
    'ID',
    'firstName',
  ])
  t.same(Object.keys((await server.get('/City?$top=1')).json), [
    '__entityModel',
    '__GlobalStamp',
    '__COUNT',
    '__FIRST',
    '__ENTITIES',
    '__SENT',
  ])
  t.same(Object.keys((await server.get('/Employee?$asArray=true&$top=1')).json[0]).includes('employer'), false)
})
