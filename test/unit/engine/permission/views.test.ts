import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { publicView, View } from '../../../../engine/catalog/view.ts'
import { type Access, Views } from '../../../../engine/permission/views.ts'
import { company } from '../../../support/fixtures/company.ts'

const catalog = loadModel(company.model)
const NOTHING = new SharedArrayBuffer(0)

const accessOf = (version: number, document: object): Access => {
  const text = Buffer.from(JSON.stringify(document))
  const roles = new SharedArrayBuffer(text.length)
  new Uint8Array(roles).set(text)
  return { privileges: '', version, roles }
}
const documentOf = (included: string) => ({
  roles: [],
  privileges: [{ privilege: 'staff', includes: [included] }, { privilege: included }],
  permissions: { allowed: [{ applyTo: 'Employee', type: 'dataclass', read: ['staff', included] }] },
})

/** Requests that began before a change of the roles may end after it, so a thread sees versions in any order. */
t.test('an access is checked with its own version of the roles, and only the newest is cached', async t => {
  const older = accessOf(1, documentOf('before'))
  const newer = accessOf(2, documentOf('after'))
  const granted = { privileges: ['staff'], roles: [] }
  const views = new Views(catalog)
  t.same(views.expand(undefined, granted), ['staff'], 'without roles, as granted')
  t.same(views.expand(older, granted).sort(), ['before', 'staff'])
  t.same(views.expand(newer, granted).sort(), ['after', 'staff'])
  t.same(views.expand(older, granted).sort(), ['before', 'staff'])
  // Cached: the bytes are not read.
  t.same(views.expand({ ...newer, roles: NOTHING }, granted).sort(), ['after', 'staff'])
  t.throws(() => views.expand({ ...older, roles: NOTHING }, granted), 'the older one is not cached')
  t.notOk(views.of(newer).shows(catalog.dataClassesByName.get('Employee')!), 'without the privilege')
  const staff = { ...newer, privileges: 'staff' }
  t.ok(views.of(staff).shows(catalog.dataClassesByName.get('Employee')!))
})

t.test('views are cached, but only a limited number', async t => {
  const views = new Views(catalog)
  const access = (privileges: string) => ({ ...accessOf(1, documentOf('any')), privileges })
  const first = views.of(access('first'))
  t.equal(views.of(access('first')), first)
  for (let i = 0; i < 1000; i++) views.of(access(`${i}`))
  t.not(views.of(access('first')), first)
  const [own] = catalog.dataClassesByName.get('Employee')!.attributes.filter(({ name }) => name === 'secret')
  t.notOk(views.of(access('staff')).includes(own!), 'clients do not see a private attribute')
  t.ok(views.of(access('staff'), 'code').includes(own!), 'code does')
})

t.test('§1 a dataclass that a client may not see has no attributes, and no relation or alias leads to it', async t => {
  const related = (name: string) => ({
    kind: 'relatedEntity',
    type: name,
    foreignKey: `${name}ID`,
    inverseName: 'many',
  })
  const many = { kind: 'relatedEntities', type: 'NodeSelection', inverseName: '' }
  const model = loadModel({
    name: 'ways',
    dataClasses: {
      Node: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          OpenID: { type: 'long' },
          ClosedID: { type: 'long' },
          Open: related('Open'),
          Closed: related('Closed'),
          toClosed: { kind: 'alias', path: 'Closed' },
          toOpen: { kind: 'alias', path: 'Open' },
          text: { kind: 'alias', path: 'Closed.name' },
        },
      },
      Open: { key: 'ID', attributes: { ID: { type: 'long' }, many: { ...many, inverseName: 'Open' } } },
      Closed: {
        key: 'ID',
        attributes: { ID: { type: 'long' }, name: { type: 'string' }, many: { ...many, inverseName: 'Closed' } },
      },
    },
  })
  const [node, closed] = ['Node', 'Closed'].map(name => model.dataClassesByName.get(name))
  const view = new View(model, (_, dataClass) => dataClass !== closed)
  t.same(
    view.attributes(node!).map(({ name }) => name),
    ['ID', 'OpenID', 'ClosedID', 'Open', 'toOpen', 'text'],
  )
  const withoutKey = new View(model, (_, __, attribute) => attribute?.name !== 'OpenID')
  t.same(
    withoutKey.attributes(node!).map(({ name }) => name),
    ['ID', 'ClosedID', 'Closed', 'toClosed', 'toOpen', 'text'],
    'a relation requires its foreign key; an alias has a permission of its own',
  )
  t.same(view.attributes(closed!), [])
  t.equal(view.attribute(closed!, 'name'), undefined)
  t.equal(publicView(catalog).attribute(catalog.dataClassesByName.get('Hidden')!, 'name'), undefined)
})
