import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { ClassDescriptor } from '../../../../engine/author/declare/describe-classes.ts'
import { checkRoles, type RolesError, unknownGrants } from '../../../../engine/permission/check-roles.ts'
import { Permissions } from '../../../../engine/permission/permissions.ts'
import { ofDataClass, Roles } from '../../../../engine/permission/roles.ts'
import { company } from '../../../support/fixtures/company.ts'

const catalog = loadModel(company.model)
const classOf = (kind: ClassDescriptor['kind'], name: string, functions: string[], dataClass?: string) =>
  ({
    kind,
    name,
    ...(dataClass && { dataClass }),
    members: [...functions.map(name => ({ kind: 'function', name })), { kind: 'calculated', name: 'total' }],
  }) as unknown as ClassDescriptor
const classes = [
  classOf('dataStore', 'DataStore', ['login']),
  classOf('singleton', 'Safe', ['open']),
  classOf('singleton', 'Door', ['close']),
  classOf('entity', 'EmployeeEntity', ['raise'], 'Employee'),
  classOf('dataClass', 'CompanyClass', ['merge'], 'Company'),
]
const check = (document: unknown) => checkRoles(document, { catalog, classes })
const problemsOf = (document: unknown): readonly string[] => {
  try {
    check(document)
    return []
  } catch (error) {
    return (error as RolesError).problems
  }
}

t.test('a misspelt property hides no other problem', async t => {
  t.same(
    problemsOf({
      privilege: [],
      privileges: [{ privilege: 'hr', include: [] }, { privilege: 'HR' }, { privilege: 3 }],
      roles: [{ role: 'clerk', privilegs: ['hr'] }, { role: 'boss', privileges: ['h'] }, null],
      permissions: { allowed: [{ applyTo: 'Employe', type: 'dataclass', reed: ['hr'] }, { type: 'dataclass' }] },
    }).toSorted(),
    [
      'permissions.allowed.0.applyTo: there is no dataclass "Employe"; did you mean "Employee"?',
      'permissions.allowed.0.reed: there is no such option; did you mean "read"?',
      'permissions.allowed.1: "applyTo" is missing',
      'privilege: there is no such option; did you mean "privileges"?',
      'privileges.0.include: there is no such option; did you mean "includes"?',
      'privileges.1: "HR" is declared twice; case makes no difference',
      'privileges.2.privilege: expected a string, received 3',
      'roles.0.privilegs: there is no such option; did you mean "privileges"?',
      'roles.1.privileges: there is no privilege "h"; did you mean "HR"?',
      'roles.2: expected an object, received null',
    ],
  )
})

t.test('all problems of a file are reported at once', async t => {
  t.same(
    problemsOf({
      privileges: [{ privilege: 'hr', includes: ['bos'] }, { privilege: 'boss' }, { privilege: 'HR' }],
      roles: [{ role: 'Staff', privileges: ['nobody'] }, { role: 'staff' }],
      permissions: {
        allowed: [
          { applyTo: 'ds', type: 'datastore', read: ['hr'], update: ['hrr'] },
          { applyTo: 'Employe', type: 'dataclass', read: ['hr'] },
          { applyTo: 'Employee.pay.x', type: 'dataclass' },
          { applyTo: 'Employee.salry', type: 'attribute', read: ['hr'], execute: ['hr'] },
          { applyTo: 'Employee.ID', type: 'attribute', read: ['hr'] },
          { applyTo: 'Employee.promote', type: 'method', execute: ['hr'] },
          { applyTo: 'Vault', type: 'singleton', execute: ['hr'] },
          { applyTo: 'ds', type: 'datastore' },
        ],
      },
    }),
    [
      'privileges.2: "HR" is declared twice; case makes no difference',
      'roles.1: there are two roles named "staff"',
      'privileges.0.includes: there is no privilege "bos"; did you mean "boss"?',
      'roles.0.privileges: there is no privilege "nobody"',
      'permissions.allowed.0.update: there is no privilege "hrr"; did you mean "HR"?',
      'permissions.allowed.1.applyTo: there is no dataclass "Employe"; did you mean "Employee"?',
      'permissions.allowed.2.applyTo: "Employee.pay.x" names no dataclass; a name without a dot is expected',
      'permissions.allowed.3.execute: this cannot be allowed for a resource of type attribute; it has create, read, update, drop',
      'permissions.allowed.3.applyTo: Employee has no attribute "salry"; did you mean "salary"?',
      'permissions.allowed.4.applyTo: "ID" is the key, which every answer names as __KEY; restrict who may read Employee',
      'permissions.allowed.5.applyTo: Employee has no function "promote"',
      'permissions.allowed.6.applyTo: there is no singleton "Vault"',
      'permissions.allowed.7: there is another permission for the datastore ds; put them into one',
    ],
  )
})

const resources: [type: string, applyTo: string, problem?: RegExp][] = [
  ['datastore', 'ds'],
  ['datastore', 'db', /the datastore is named "ds", not "db"/],
  ['dataclass', 'Employee'],
  ['attribute', 'Employee.salary'],
  ['attribute', 'Employee', /"Employee" names no attribute; "Employee.name" is expected/],
  ['method', 'ds.login'],
  ['method', 'ds.raise', /ds has no function "raise"/],
  ['method', 'Employee.raise'],
  ['method', 'Employee.total', /Employee has no function "total"/],
  ['method', 'Employee.merge', /Employee has no function "merge"/],
  ['method', 'Company.merge'],
  ['method', 'EmployeeEntity.raise', /functions of entities .* are named by their dataclass: Employee\.raise/],
  ['singleton', 'Safe'],
  ['singleton', 'EmployeeEntity', /there is no singleton "EmployeeEntity"/],
  ['singletonMethod', 'Safe.open'],
  ['singletonMethod', 'Safe.close', /Safe has no function "close"/],
  ['singletonMethod', 'Vault.open', /there is no singleton "Vault"/],
]
for (const [type, applyTo, problem] of resources) {
  t.test(`§P8.4 a permission for the ${type} ${applyTo} is ${problem ? 'refused' : 'right'}`, async t => {
    const problems = problemsOf({ permissions: { allowed: [{ type, applyTo }] } })
    t.equal(problems.length, problem ? 1 : 0, problems.join())
    if (problem) t.match(problems[0], problem)
  })
}

t.test('§P8.4 the privilege of administrators may be declared, and every privilege only once', async t => {
  t.same(problemsOf({ privileges: [{ privilege: 'webadmin', includes: ['hr'] }, { privilege: 'hr' }] }), [])
  t.equal(problemsOf({ privileges: [{ privilege: 'hr' }, { privilege: 'hr' }] }).length, 1)
})

t.test(
  '§P8.4 without roles everything is allowed; with roles a privilege is required where one is declared',
  async t => {
    const permissions = new Permissions({ catalog, classes })
    const open = { target: { kind: 'singleton' }, owner: 'Safe', name: 'open', exposed: true } as never
    t.notOk(permissions.hasRoles)
    t.equal(permissions.guest, undefined)
    t.ok(permissions.mayExecute(open, undefined))
    permissions.replace({
      privileges: [{ privilege: 'guard' }],
      permissions: { allowed: [{ type: 'singleton', applyTo: 'Safe', execute: ['guard'] }] },
    })
    t.ok(permissions.hasRoles)
    t.notOk(permissions.mayExecute(open, permissions.guest))
    t.ok(permissions.mayExecute(open, permissions.accessOf({ privileges: ['GUARD'], roles: [] })))
    t.throws(() => permissions.replace({ permissions: { allowed: [{ type: 'datastore', applyTo: 'db' }] } }))
    t.notOk(permissions.mayExecute(open, permissions.guest), 'an invalid file leaves the previous one in force')
  },
)

t.test('the shape of a file is checked', async t => {
  t.match(problemsOf({ privilege: [] })[0], /there is no such option; did you mean "privileges"/)
  t.match(problemsOf([])[0], /expected an object/)
  t.match(problemsOf({ permissions: { allowed: [{ applyTo: 'ds', type: 'data' }] } })[0], /"data" is none of/)
  t.match(problemsOf({ privileges: [{ privilege: 'a,b' }] })[0], /expected a value such as/)
  t.same(problemsOf({}), [])
})

t.test('privileges include others transitively, also in circles, and ignore case', async t => {
  const roles = new Roles(
    check({
      privileges: [{ privilege: 'A', includes: ['b'] }, { privilege: 'B', includes: ['a', 'C'] }, { privilege: 'c' }],
      roles: [{ role: 'R', privileges: ['b'] }],
    }),
  )
  t.same([...roles.expand({ privileges: ['a', 'unknown'], roles: [] })].sort(), ['a', 'b', 'c'])
  t.same([...roles.expand({ privileges: ['WEBADMIN'], roles: ['r'] })].sort(), ['a', 'b', 'c', 'webadmin'])
  t.same([...roles.expand({ privileges: ['c'], roles: ['none'] })], ['c'])
})

t.test('every caller has the privilege guest, in every list, unless the file declares it', async t => {
  const allowed = [{ type: 'dataclass', applyTo: 'Company', read: ['Guest'] }]
  const file = {
    restrictedByDefault: true,
    privileges: [{ privilege: 'hr', includes: ['guest'] }],
    roles: [{ role: 'clerk', privileges: ['guest'] }],
    permissions: { allowed: [...allowed, { type: 'method', applyTo: 'ds.login', promote: ['guest'] }] },
  }
  const reads = (document: unknown, privileges: readonly string[]) =>
    new Roles(check(document)).verdict('read', ofDataClass('Company'), new Set(privileges))
  t.same(problemsOf(file), [])
  t.same(reads(file, []), { allowed: true, setting: 'Company', needed: ['Guest'], by: 'guest' })
  t.equal(reads(file, ['hr']).allowed, true)
  t.same(unknownGrants(file, { privileges: ['GUEST'], roles: [] }), [], 'it may be given, which changes nothing')
  const declared = { ...file, privileges: [{ privilege: 'GUEST' }, ...file.privileges] }
  t.same(problemsOf(declared), [])
  t.equal(reads(declared, []).allowed, false, 'a file that declares it means its own privilege')
  t.equal(reads(declared, ['guest']).allowed, true)
})
