import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { ClassDescriptor } from '../../../../engine/author/declare/describe-classes.ts'
import { checkRoles } from '../../../../engine/permission/check-roles.ts'
import { roleWarnings } from '../../../../engine/permission/role-warnings.ts'

const attributes = { ID: { type: 'long' } }
const names = ['City', 'Country', 'Movie']
const catalogOf = (classNames: readonly string[]) =>
  loadModel({
    name: 'demo',
    dataClasses: {
      ...Object.fromEntries(classNames.map(name => [name, { key: 'ID', attributes }])),
      Hidden: { key: 'ID', scope: 'private', attributes },
    },
  })
const members = [
  { kind: 'function', name: 'rate', exposed: true },
  { kind: 'function', name: 'inner' },
]
const classes = [{ kind: 'entity', name: 'MovieEntity', dataClass: 'Movie', members }] as unknown as ClassDescriptor[]

const warningsOf = (document: object, subjects = { catalog: catalogOf(names), classes }) =>
  roleWarnings(checkRoles(document, subjects), subjects)
const allowed = (...permissions: object[]) => ({ permissions: { allowed: permissions } })
const closed = { create: [], update: [], drop: [] }
const remedy =
  ', because no permission names these actions, and so with every class that is added; ' +
  'set "restrictedByDefault": true, and put the privilege "guest" into the lists of what guests may do'

t.test('classes and functions that are open to guests only by default are named, with the remedy', async t => {
  t.same(warningsOf({}), [`guests may read, create, change, delete City, Country, Movie; call Movie.rate${remedy}`])
  t.same(
    warningsOf(
      allowed(
        { applyTo: 'ds', type: 'datastore', ...closed },
        { applyTo: 'Movie', type: 'dataclass', read: ['guest'], execute: [] },
      ),
    ),
    [`guests may read City, Country${remedy}`],
    'what a permission opens or closes is meant',
  )
})

t.test('there is no warning where nothing is open by default', async t => {
  t.same(warningsOf({ restrictedByDefault: true }), [])
  t.same(warningsOf({ forceLogin: true }), [], 'guests must log in')
  const all = { ...closed, read: ['guest'], execute: ['guest'] }
  t.same(warningsOf(allowed({ applyTo: 'ds', type: 'datastore', ...all })), [])
})

t.test('a long list of names is cut', async t => {
  const many = Array.from({ length: 40 }, (_, i) => `C${i}`)
  const [warning] = warningsOf({}, { catalog: catalogOf(many), classes: [] })
  t.match(warning, /delete C0, .*, C9 and 30 more, because/)
})

t.test('a declaration of the privilege of every caller is named', async t => {
  t.same(warningsOf({ restrictedByDefault: true, privileges: [{ privilege: 'Guest' }] }), [
    'privileges.0: "guest" is declared, so only users and keys to which it is given have it; without this declaration every caller has it',
  ])
})
