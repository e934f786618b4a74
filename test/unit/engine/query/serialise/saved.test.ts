import t from 'tap'
import { QueryBudget } from '../../../../../engine/query/scan/query-budget.ts'
import { writeProblems, writeSaved } from '../../../../../engine/write/answer/write-saved.ts'
import type { SavedEntity } from '../../../../../engine/write/contract/requests.ts'
import { fakeRows } from '../../../../support/engine/fake-rows.ts'
import { catalog, people, projectionOf, type Wanted } from './world.ts'

const AT = '"__TIMESTAMP":"2026-01-31T10:00:00.000Z"'
const STALE: SavedEntity['failure'] = {
  status: { status: 2, statusText: 'Stamp has changed' },
  error: {
    name: 'WRITE.STALE_STAMP',
    httpStatus: 409,
    entries: [1263, 1046, 1517].map(errCode => ({ message: 'no', componentSignature: 'dbmg', errCode })),
  },
}
const ERRORS =
  '"__ERROR":[{"message":"no","componentSignature":"dbmg","errCode":1263},{"message":"no","componentSignature":"dbmg","errCode":1046},' +
  '{"message":"no","componentSignature":"dbmg","errCode":1517}]'

const FAILURE = `"__STATUS":{"status":2,"statusText":"Stamp has changed","success":false},${ERRORS}`

const rows = people()
const ada: SavedEntity = { row: rows.bytes('Employee', 0), rowId: 0 }
const zoe: SavedEntity = { row: rows.bytes('Employee', 1), rowId: 1 }

function savedText(entities: SavedEntity[], many: boolean, wanted: Wanted = { path: 'name' }, snapshot = rows): string {
  const projection = projectionOf(snapshot, 'entity', wanted)
  const body = writeSaved({ kind: 'save', many, entities, globalStamp: 99 }, projection, snapshot)
  return Buffer.from(body).toString('utf8')
}

const ADA = `"__KEY":"1","__STAMP":1,"uri":"/rest/Employee(1)",${AT},"name":"Ada"`
const ZOE = `"__KEY":"2","__STAMP":2,"uri":"/rest/Employee(2)",${AT},"name":"Zoë \\"Z\\""`

const cases = [
  { spec: '4.4', name: 'one entity is bare, with its uri', body: savedText([ada], false), expected: `{${ADA}}` },
  {
    spec: 'notes 5.3',
    name: 'several are in __ENTITIES in the order of the body',
    body: savedText([zoe, ada], true),
    expected: `{"__ENTITIES":[{${ZOE}},{${ADA}}]}`,
  },
  {
    spec: 'notes 5.3',
    name: 'an empty array answers an empty array',
    body: savedText([], true),
    expected: '{"__ENTITIES":[]}',
  },
  {
    spec: '7.1',
    name: 'a failure follows the entity as stored',
    body: savedText([{ ...ada, failure: STALE }], false),
    expected: `{${ADA},${FAILURE}}`,
  },
  {
    spec: 'notes 5.4',
    name: 'a new entity that was not saved has nothing but its failure',
    body: savedText([{ failure: STALE }], false),
    expected: `{${FAILURE}}`,
  },
  {
    spec: 'notes 5.4',
    name: 'failures of a batch have their positions',
    body: savedText([{ failure: STALE }, zoe, { ...ada, failure: STALE }], true),
    expected: `{"__ENTITIES":[{${FAILURE},"__INDEX":0},{${ZOE}},{${ADA},${FAILURE},"__INDEX":2}]}`,
  },
  {
    spec: 'notes 4.1',
    name: 'relations are expanded',
    body: savedText([ada], false, { path: 'employer.name', expand: 'employer' }),
    expected: `{"__KEY":"1","__STAMP":1,"uri":"/rest/Employee(1)",${AT},"employer":{"__KEY":"1",${AT},"__STAMP":1,"name":"Acme"}}`,
  },
]
for (const { spec, name, body, expected } of cases) t.test(`§${spec} ${name}`, async t => t.equal(body, expected))

t.test('§notes 5.7 an entity that is not stored has no related entities yet', async t => {
  const company = { row: rows.bytes('Company', 0) }
  const body = savedText([company], false, { dataClass: 'Company', attributes: 'staff.name' })
  t.match(JSON.parse(body), { staff: { __COUNT: 0, __ENTITIES: [], __SENT: 0 } })
})

t.test('§notes 5.6 the failures of a validation are listed, until the deadline', async t => {
  const shape = { pretty: false, maxBytes: 1e6 }
  const entities = [zoe, { ...ada, failure: STALE }]
  const result = { kind: 'save' as const, many: true, entities, globalStamp: 99 }
  t.equal(Buffer.from(writeProblems(result, shape)).toString(), `{"__ENTITIES":[{${ERRORS},"__INDEX":1}]}`)
  const single = writeProblems({ ...result, many: false, entities: [{ ...ada, failure: STALE }] }, shape)
  t.equal(Buffer.from(single).toString(), `{"__ENTITIES":[{${ERRORS}}]}`)
  const budget = new QueryBudget({ deadlineAt: 0, timeoutMs: 1 })
  t.throws(() => writeProblems(result, shape, { budget }), { name: 'QUERY.TIMEOUT' })
})

t.test('an entity saved twice in one body is shown as each save left it', async t => {
  const after: SavedEntity = { row: rows.bytes('Employee', 3), rowId: 0 }
  const body = savedText([ada, after], true, { attributes: 'employer.name' })
  t.match(JSON.parse(body), { __ENTITIES: [{ employer: { name: 'Acme' } }, { employer: null }] })
})

t.test('§notes 3.3 a key with quotes and delimiters is encoded in the head and in the uri', async t => {
  const odd = fakeRows(catalog, { Country: [{ code: 'a"\\,(é', name: 'Odd' }] })
  const body = savedText(
    [{ row: odd.bytes('Country', 0), rowId: 0 }],
    false,
    { dataClass: 'Country', path: 'name' },
    odd,
  )
  t.same(JSON.parse(body), {
    __KEY: 'a"\\,(é',
    __STAMP: 1,
    uri: '/rest/Country(%22a%22%5C%2C%28%C3%A9%22)',
    __TIMESTAMP: '2026-01-31T10:00:00.000Z',
    name: 'Odd',
  })
})
