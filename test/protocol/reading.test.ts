/** Entities, collections, images and blobs as they are sent. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startServer } from '../support/servers/test-server.ts'

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
    notRemote: 'a table has no other order than that of its keys',
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
  {
    spec: '4.2',
    name: 'the image is sent as it is stored',
    get: '/Employee(1)/photo?$imageformat=best&$version=1&$expand=photo',
    headers: { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
  },
  {
    spec: 'P10.3',
    name: 'an image in a format that cannot be made is empty',
    get: '/Employee(1)/photo?$imageformat=pdf&$expand=photo',
    text: '',
  },
  {
    spec: 'P10.3',
    name: 'a missing image is empty',
    get: '/Employee(2)/photo?$imageformat=best&$expand=photo',
    text: '',
  },
  {
    spec: '4.2',
    name: 'the blob is sent as it is stored',
    get: '/Company(1)/contract?$binary=true&$expand=contract',
    text: '\u0000\u0001\u0002\u0003\u0004\u0005',
    headers: { 'content-type': 'application/octet-stream' },
  },
])

protocolTable('$asArray', company, [
  {
    spec: '4.3',
    name: 'is a flag',
    get: '/Employee?$asArray=y',
    status: 400,
    errors: [1806],
  },
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
