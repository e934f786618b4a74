import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { checkRoles, type RolesError } from '../../../../engine/permission/check-roles.ts'
import { Roles } from '../../../../engine/permission/roles.ts'
import { company } from '../../../support/fixtures/company.ts'

const catalog = loadModel(company.model)
const check = (document: unknown) => checkRoles(document, { catalog, classes: [] })
const problemsOf = (document: unknown): readonly string[] => {
  try {
    check(document)
    return []
  } catch (error) {
    return (error as RolesError).problems
  }
}

t.test('every problem of a file is told at once', async t => {
  t.same(
    problemsOf({
      privileges: [{ privilege: 'hr', includes: ['bos'] }, { privilege: 'boss' }, { privilege: 'HR' }],
      roles: [{ role: 'Staff', privileges: ['nobody'] }, { role: 'staff' }],
      permissions: {
        allowed: [
          { applyTo: 'ds', type: 'datastore', read: ['hr'] },
          { applyTo: 'Employe', type: 'dataclass', read: ['hr'] },
          { applyTo: 'Employee.pay.x', type: 'dataclass' },
          { applyTo: 'Employee.salry', type: 'attribute', read: ['hr'], execute: ['hr'] },
          { applyTo: 'Employee.ID', type: 'attribute', read: ['hr'] },
          { applyTo: 'Employee.raise', type: 'method', execute: ['hr'] },
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
      'permissions.allowed.1.applyTo: there is no dataclass "Employe"; did you mean "Employee"?',
      'permissions.allowed.2.applyTo: "Employee.pay.x" names no dataclass; a name without a dot would do',
      'permissions.allowed.3.execute: this cannot be allowed for a resource of type attribute; it has create, read, update, drop',
      'permissions.allowed.3.applyTo: Employee has no attribute "salry"; did you mean "salary"?',
      'permissions.allowed.4.applyTo: "ID" is the key, which every answer names as __KEY; restrict who may read Employee',
      'permissions.allowed.5.applyTo: Employee has no function "raise"',
      'permissions.allowed.6.applyTo: there is no singleton "Vault"',
      'permissions.allowed.7: there is another permission for the datastore ds; put them into one',
    ],
  )
})

t.test('shapes are checked', async t => {
  t.match(problemsOf({ privilege: [] })[0], /there is no such option; did you mean "privileges"/)
  t.match(problemsOf([])[0], /expected an object/)
  t.match(problemsOf({ permissions: { allowed: [{ applyTo: 'ds', type: 'data' }] } })[0], /"data" is none of/)
  t.match(problemsOf({ privileges: [{ privilege: 'a,b' }] })[0], /expected a value such as/)
  t.same(problemsOf({}), [])
})

t.test('privileges come with those that they include, in any case and in circles', async t => {
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
