import t from 'tap'
import { QueryBudget } from '../../../../../engine/query/scan/query-budget.ts'
import { writeArray, writeEntity } from '../../../../../engine/query/serialise/write-selection.ts'
import { arrayText, catalog, collectionText, entityText, LIMITS, people, projectionOf } from './world.ts'

const AT = '"__TIMESTAMP":"2026-01-31T10:00:00.000Z"'
const ACME = '{"__deferred":{"uri":"/rest/Company(1)","__KEY":"1"}}'
const FRANCE = '{"__deferred":{"uri":"/rest/Country(FR)","__KEY":"FR"}}'
const link = (uri: string) => JSON.stringify({ __deferred: { uri } })
const ACME_STAFF = '{"__deferred":{"uri":"/rest/Company(1)/staff?$expand=staff"}}'
const KURT = `"__KEY":"4",${AT},"__STAMP":4`

const cases = [
  {
    spec: '2.6',
    name: 'an entity has its model first, then its head and every public attribute in the order of the catalog',
    body: entityText(0),
    expected:
      `{"__entityModel":"Employee","__KEY":"1",${AT},"__STAMP":1,"ID":1,"upperName":null,"name":"Ada",` +
      `"address":{"city":"Lyon","geo":{"lat":1,"lon":2}},"photo":null,"employerID":1,"employer":${ACME},` +
      `"fullName":"Ada","employerName":"Acme","countryName":"France","country":${FRANCE},` +
      `"colleagues":${ACME_STAFF},"colleagueEmployers":${link('/rest/Employee(1)/colleagueEmployers?$expand=colleagueEmployers')}}`,
  },
  {
    spec: 'notes 3.9',
    name: 'aliases through a null relation are null; one that passes a relation to many stays a link',
    body: entityText(3, { path: 'employerName,countryName,country,colleagues,colleagueEmployers' }),
    expected:
      `{"__entityModel":"Employee",${KURT},"employerName":null,"countryName":null,"country":null,` +
      `"colleagues":null,"colleagueEmployers":${link('/rest/Employee(4)/colleagueEmployers?$expand=colleagueEmployers')}}`,
  },
  {
    spec: 'notes 3.6',
    name: 'a collection has its properties in order and sends deleted entities as stamp 0',
    body: collectionText([3, 2], { path: 'name' }),
    expected:
      '{"__entityModel":"Employee","__GlobalStamp":99,"__COUNT":7,"__FIRST":3,' +
      `"__ENTITIES":[{${KURT},"name":"Kurt"},{"__STAMP":0}],"__SENT":2}`,
  },
  {
    spec: '2.6',
    name: 'a new entity set comes first and names the dataclass',
    body: collectionText([], {}, { entitySetUri: '/rest/Employee/$entityset/AB' }),
    expected:
      '{"__ENTITYSET":"/rest/Employee/$entityset/AB","__DATACLASS":"Employee","__entityModel":"Employee",' +
      '"__GlobalStamp":99,"__COUNT":7,"__FIRST":3,"__ENTITIES":[],"__SENT":0}',
  },
  {
    spec: '2.6',
    name: 'a page of an existing entity set names the dataclass and has no address',
    body: collectionText([], {}, { isEntitySet: true }),
    expected:
      '{"__DATACLASS":"Employee","__entityModel":"Employee",' +
      '"__GlobalStamp":99,"__COUNT":7,"__FIRST":3,"__ENTITIES":[],"__SENT":0}',
  },
  {
    spec: '4.3',
    name: 'array items have no timestamp and no relation links, and their own global stamp at the end',
    body: arrayText([0, 2], { attributes: 'name,employer,country,colleagues,colleagueEmployers,employerName,photo' }),
    expected:
      '[{"__KEY":"1","__STAMP":1,"name":"Ada","employerName":"Acme","photo":null,"__GlobalStamp":10},{"__STAMP":0}]',
  },
  {
    spec: '4.3',
    name: 'an array without entities is empty',
    body: arrayText([]),
    expected: '[]',
  },
  {
    spec: 'notes 3.7',
    name: 'relations expanded in an array are nested objects and arrays of the same form',
    body: arrayText([0], { path: 'name,employer.name,employer.staff.name', expand: 'employer.staff' }),
    expected:
      '[{"__KEY":"1","__STAMP":1,"name":"Ada","employer":{"__KEY":"1","__STAMP":1,"name":"Acme","staff":[' +
      '{"__KEY":"1","__STAMP":1,"name":"Ada","__GlobalStamp":10},' +
      '{"__KEY":"2","__STAMP":2,"name":"Zoë \\"Z\\"","__GlobalStamp":11}],"__GlobalStamp":10},"__GlobalStamp":10}]',
  },
  {
    spec: 'notes 11',
    name: 'a pretty answer is indented and otherwise the same',
    body: collectionText([3], { path: 'name,address', pretty: true }, {}),
    expected: JSON.stringify(JSON.parse(collectionText([3], { path: 'name,address' })), null, 2),
  },
]
for (const { spec, name, body, expected } of cases) t.test(`§${spec} ${name}`, async t => t.equal(body, expected))

t.test('§2.6 nothing private is sent in any form', async t => {
  for (const body of [
    entityText(0, { expand: '$all' }),
    arrayText([0], { expand: 'employer.$all' }),
    collectionText([0, 1, 3], { attributes: '*,employer.*' }),
  ]) {
    t.notMatch(body, /salary|secret|taxNumber|FR-77/i)
    t.doesNotThrow(() => JSON.parse(body))
  }
})

t.test('an answer larger than the limit is refused, whether it is large at once or by repetition', async t => {
  const limits = { ...LIMITS, maxAnswerBytes: 2_000 }
  const error = { name: 'SERIALISE.ANSWER_TOO_LARGE', httpStatus: 413 }
  const write = (wanted: Parameters<typeof projectionOf>[2]) => {
    const rows = people()
    return () => writeEntity(0, projectionOf(rows, 'entity', wanted, limits), rows)
  }
  t.doesNotThrow(write({ path: 'name' }))
  t.throws(write({ expand: 'employer.staff.employer.staff' }), error)
})

t.test('a long answer ends with 503 when its deadline passes while it is written', async t => {
  const rows = people()
  const rowIds = new Uint32Array(10_000)
  const budget = new QueryBudget({ timeoutMs: 5, deadlineAt: Date.now() - 1 })
  const error = { httpStatus: 503, message: /5 ms/ }
  t.throws(() => writeArray({ rowIds }, projectionOf(rows, 'array', { path: 'name' }), rows, { budget }), error)
  const few = { rowIds: rowIds.subarray(0, 9) }
  t.doesNotThrow(() => writeArray(few, projectionOf(rows, 'array', { path: 'name' }), rows, { budget }))
})

t.test('an entity that does not exist is 1543', async t => {
  const rows = people()
  const projection = projectionOf(rows, 'entity')
  const error = { name: 'SERIALISE.NO_ENTITY', httpStatus: 404, entries: [{ errCode: 1543 }] }
  t.throws(() => writeEntity(2, projection, rows), error)
  t.throws(() => writeEntity(undefined, projection, rows), error)
})

t.test('the expected output covers every attribute of the model', async t => {
  const names = catalog.dataClassesByName
    .get('Employee')!
    .attributes.filter(a => a.scope === 'public')
    .map(a => a.name)
  t.same(
    Object.keys(JSON.parse(entityText(0))).filter(name => !name.startsWith('__')),
    names,
  )
})
