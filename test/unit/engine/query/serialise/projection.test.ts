import t from 'tap'
import { pathTree } from '../../../../../engine/query/serialise/path-tree.ts'
import { collectionText, entityText, LIMITS, people, projectionOf, type Wanted } from './world.ts'

type Json = Record<string, unknown>

const EMPLOYER_LINK = { __deferred: { uri: '/rest/Company(1)', __KEY: '1' } }
const STAFF_LINK = { __deferred: { uri: '/rest/Company(1)/staff?$expand=staff' } }
const head = (key: string, stamp: number) => ({ __KEY: key, __TIMESTAMP: '2026-01-31T10:00:00.000Z', __STAMP: stamp })
const ACME = {
  ...head('1', 1),
  ID: 1,
  name: 'Acme',
  countryCode: 'FR',
  country: { __deferred: { uri: '/rest/Country(FR)', __KEY: 'FR' } },
  staff: STAFF_LINK,
}
const FRANCE = { ...head('FR', 1), code: 'FR', name: 'France' }
const ADA = { ...head('1', 1), name: 'Ada' }
const ZOE = { ...head('2', 2), name: 'Zoë "Z"' }
const EVE = { ...head('5', 5), name: 'Eve' }
const staff = (entities: Json[], first = 0) => ({
  __ENTITYSET: '/rest/Company(1)/staff?$expand=staff',
  __GlobalStamp: 99,
  __COUNT: 3,
  __FIRST: first,
  __ENTITIES: entities,
  __SENT: entities.length,
})

/** `only` has the attributes of the entity with row 0 after its head, in this order. */
const cases: ({ spec: string; name: string; only: Json } & Wanted)[] = [
  { spec: '1.10', name: 'listed order is kept', path: 'name,ID', only: { name: 'Ada', ID: 1 } },
  {
    spec: '1.10',
    name: 'a duplicate is sent once, at its first place',
    path: 'name,ID,name',
    only: { name: 'Ada', ID: 1 },
  },
  { spec: '1.10', name: 'a relation in a list is deferred', path: 'employer', only: { employer: EMPLOYER_LINK } },
  {
    spec: '1.10',
    name: 'a path through a relation is deferred without $expand',
    path: 'name,employer.name',
    only: { name: 'Ada', employer: EMPLOYER_LINK },
  },
  {
    spec: '1.10',
    name: 'a path through a relation with $expand has these attributes only',
    path: 'name,employer.name',
    expand: 'employer',
    only: { name: 'Ada', employer: { ...head('1', 1), name: 'Acme' } },
  },
  {
    spec: '4.1',
    name: 'a listed relation with $expand is whole',
    path: 'employer',
    expand: 'employer',
    only: { employer: ACME },
  },
  {
    spec: '4.1',
    name: 'the whole relation wins over one of its attributes when $expand asks for it',
    path: 'employer.name,employer',
    expand: 'employer',
    only: { employer: ACME },
  },
  {
    spec: '4.2',
    name: 'only listed attributes appear, whatever is expanded',
    path: 'name',
    expand: 'employer',
    only: { name: 'Ada' },
  },
  {
    spec: 'notes 4.1',
    name: 'levels are expanded as far as the path says',
    path: 'employer',
    expand: 'employer.country',
    only: { employer: { ...ACME, country: FRANCE } },
  },
  {
    spec: 'notes 4.1',
    name: '$all expands every relation of one level',
    path: 'employer.country',
    expand: 'employer.$all',
    only: { employer: { ...head('1', 1), country: FRANCE } },
  },
  {
    spec: 'notes 4.1',
    name: 'one to many sends the default top of the related dataclass',
    dataClass: 'Company',
    attributes: 'staff.name',
    only: { staff: staff([ADA, ZOE]) },
  },
  {
    spec: 'notes 4.1',
    name: 'one to many sends the number of entities that the range says',
    dataClass: 'Company',
    path: 'staff.name',
    expand: 'staff:2-1',
    only: { staff: staff([ZOE, EVE], 1) },
  },
  {
    spec: 'notes 4.1',
    name: 'a range past the end is empty and keeps the count',
    dataClass: 'Company',
    path: 'staff.name',
    expand: 'staff:10-20',
    only: { staff: staff([], 20) },
  },
  { spec: 'notes 4.2', name: 'a relation to one is simple', attributes: 'employer', only: { employer: EMPLOYER_LINK } },
  { spec: 'notes 4.2', name: 'rel.* has all attributes', attributes: 'employer.*', only: { employer: ACME } },
  {
    spec: 'notes 4.2',
    name: 'rel.att has these only, in listed order',
    attributes: 'employer.name, name, employer.ID',
    only: { employer: { ...head('1', 1), name: 'Acme', ID: 1 }, name: 'Ada' },
  },
  {
    spec: 'notes 4.2',
    name: 'rel and rel.att is rel.att',
    attributes: 'employer,employer.name',
    only: { employer: { ...head('1', 1), name: 'Acme' } },
  },
  {
    spec: 'notes 4.2',
    name: 'paths may be nested',
    attributes: 'employer.country.name,employer.staff.name',
    only: {
      employer: { ...head('1', 1), country: { ...head('FR', 1), name: 'France' }, staff: staff([ADA, ZOE]) },
    },
  },
  {
    spec: '4.2',
    name: 'properties of an object make an object with these only',
    path: 'address.city,address.geo.lon,address.none',
    only: { address: { city: 'Lyon', geo: { lon: 2 } } },
  },
  {
    spec: '4.2',
    name: 'the whole object wins over its properties',
    attributes: 'address.city,address',
    only: { address: { city: 'Lyon', geo: { lat: 1, lon: 2 } } },
  },
  {
    spec: 'notes 3.9',
    name: 'an alias of a relation is expanded like it',
    attributes: 'country.name,colleagues.name',
    only: { country: { ...head('FR', 1), name: 'France' }, colleagues: staff([ADA, ZOE]) },
  },
  {
    spec: 'notes 10.3',
    name: '$expand of an image, as in its link, changes nothing',
    path: 'name,photo',
    expand: 'photo',
    only: { name: 'Ada', photo: null },
  },
]
for (const { spec, name, only, ...wanted } of cases) {
  t.test(`§${spec} ${name}`, async t => {
    const model = wanted.dataClass ?? 'Employee'
    t.equal(entityText(0, wanted), JSON.stringify({ __entityModel: model, ...head('1', 1), ...only }))
  })
}

t.test('§4.2 properties are taken from each element of an array', async t => {
  const { address } = JSON.parse(entityText(1, { path: 'address.tags.a' })) as { address: unknown }
  t.same(address, { tags: [{ a: 1 }, 3] })
})

t.test('§2.6 * has every attribute, and may be combined with related ones', async t => {
  t.equal(entityText(0, { attributes: '*' }), entityText(0))
  const body = JSON.parse(entityText(0, { attributes: 'name,*,employer.name' })) as Json
  t.equal(Object.keys(body)[4], 'name')
  t.equal(Object.keys(body).length, Object.keys(JSON.parse(entityText(0))).length)
  t.same(body.employer, { ...head('1', 1), name: 'Acme' })
})

t.test('§notes 4.1 a null relation stays null when it is expanded', async t => {
  t.match(entityText(3, { expand: 'employer' }), '"employer":null')
})

t.test('the name of a property never reaches a prototype', async t => {
  t.match(entityText(0, { path: 'address.__proto__.x,address.constructor,address.city' }), '"address":{"city":"Lyon"}}')
})

const refused: ({ spec: string; codes: number[]; message: RegExp } & Wanted)[] = [
  {
    spec: 'notes 1.10',
    path: 'nme',
    codes: [1500, 1804],
    message: /no attribute "nme" in Employee; did you mean "name"\?/,
  },
  { spec: 'notes 3.10', path: 'salary', codes: [1500, 1804], message: /no attribute "salary" in Employee$/ },
  { spec: 'notes 3.10', attributes: 'secret', codes: [1500, 1804], message: /no attribute "secret"/ },
  { spec: 'notes 1.10', path: 'employer.nme', codes: [1500, 1804], message: /no attribute "nme" in Company/ },
  { spec: 'notes 4.2', attributes: 'name.first', codes: [1500, 1804], message: /neither a relation nor an object/ },
  {
    spec: 'notes 4.2',
    attributes: 'colleagueEmployers.x',
    codes: [1500, 1804],
    message: /no attribute "x" in Company/,
  },
  { spec: 'notes 4.2', attributes: '__proto__', codes: [1500, 1804], message: /no attribute "__proto__"/ },
  { spec: 'notes 4.1', expand: 'emploer', codes: [1500, 1805], message: /did you mean "employer"/ },
  { spec: 'notes 4.1', expand: 'secret', codes: [1500, 1805], message: /no attribute "secret"/ },
  { spec: 'notes 4.1', expand: 'name', codes: [1500, 1805], message: /it is not a relation/ },
  { spec: 'notes 4.1', expand: 'employer.x', codes: [1500, 1805], message: /no attribute "x" in Company/ },
  {
    spec: 'notes 4.1',
    path: 'name',
    expand: 'employer.x',
    codes: [1500, 1805],
    message: /no attribute "x" in Company/,
  },
  { spec: 'notes 4.1', expand: 'colleagueEmployers.x', codes: [1500, 1805], message: /no attribute "x" in Company/ },
]
for (const { spec, codes, message, ...wanted } of refused) {
  t.test(`§${spec} ${JSON.stringify(wanted)} is refused`, async t => {
    t.throws(() => entityText(0, wanted), { httpStatus: 404, message, entries: codes.map(errCode => ({ errCode })) })
  })
}

t.test('expanding is bounded in depth, breadth and length', async t => {
  const rows = people()
  const bind = (expand: string, maxExpandDepth = 5) => {
    return () => projectionOf(rows, 'entity', { expand }, { ...LIMITS, maxExpandDepth })
  }
  t.doesNotThrow(bind('employer.staff.employer.staff.employer'))
  t.throws(bind('employer.staff.employer.staff.employer.staff'), { name: 'SERIALISE.EXPAND_TOO_DEEP', httpStatus: 400 })

  const deep = 'employer.staff.'.repeat(45)
  t.doesNotThrow(bind(`${deep}employer`, 100))
  const wide = `${deep}employer,colleagues.${deep}employer,employer.staff.colleagues.${deep}employer`
  t.throws(bind(wide, 100), { name: 'SERIALISE.TOO_MANY_RELATIONS', httpStatus: 400 })

  const path = new Array<string>(50_000).fill('employer')
  t.throws(() => pathTree([{ path, range: undefined }]), { name: 'SERIALISE.PATH_TOO_LONG', httpStatus: 400 })
})

t.test('a related row is read once for a page, however many entities share it', async t => {
  const rows = people()
  collectionText([0, 1, 4, 0], { attributes: 'name,employer.name' }, {}, rows)
  t.equal(rows.reads.get('Company 0'), 1)
  t.equal(rows.reads.get('Employee 0'), 1)
})

t.test('a whole entity without aliases is one copy', async t => {
  const rows = people()
  t.match(projectionOf(rows, 'entity', { dataClass: 'Company' }).entity, { headSlots: 5, parts: [], related: [] })
})

t.test('§3.8 a calculated object without code is null', async t => {
  t.match(JSON.parse(entityText(0, { dataClass: 'Plan' })), { ID: 1, outline: null })
})
