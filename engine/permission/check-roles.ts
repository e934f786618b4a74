import type { Attribute } from '../catalog/attribute.ts'
import type { Catalog } from '../catalog/dataclass.ts'
import { shapeProblems } from '../catalog/shape-problems.ts'
import type { ClassDescriptor } from '../language/describe-classes.ts'
import { suggestion } from '../suggestion.ts'
import { nameKey, WEB_ADMIN } from './roles.ts'
import { type Action, ACTIONS_OF_TYPE, type Permission, ROLES_SCHEMA, type RolesDocument } from './roles-schema.ts'

/** A `roles.json` that cannot be used, with everything that is wrong with it. */
export class RolesError extends Error {
  override readonly name = 'RolesError'
  constructor(
    /** One sentence each: path in the file, what was found, what would do. */
    readonly problems: readonly string[],
  ) {
    super(`the roles cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}

/** What permissions can be about. */
export interface Subjects {
  readonly catalog: Catalog
  readonly classes: readonly ClassDescriptor[]
}

/**
 * Roles of which all is known to be right: shapes, names, and that what they are about exists.
 * @throws {RolesError} with every problem found
 */
export function checkRoles(document: unknown, subjects: Subjects): RolesDocument {
  const problems = shapeProblems(ROLES_SCHEMA, document, '')
  if (problems.length > 0) throw new RolesError(problems)
  const checked = document as RolesDocument
  problems.push(...checkNames(checked), ...checkPermissions(checked, subjects))
  if (problems.length > 0) throw new RolesError(problems)
  return checked
}

function checkNames({ privileges = [], roles = [], permissions = {} }: RolesDocument): string[] {
  const declared = new Map([[nameKey(WEB_ADMIN), WEB_ADMIN]])
  const problems: string[] = []
  for (const [i, { privilege }] of privileges.entries()) {
    const first = declared.get(nameKey(privilege))
    if (first !== undefined && first !== WEB_ADMIN) {
      problems.push(`privileges.${i}: "${privilege}" is declared twice; case makes no difference`)
    }
    declared.set(nameKey(privilege), privilege)
  }
  const roleNames = roles.map(({ role }) => nameKey(role))
  for (const [i, { role }] of roles.entries()) {
    if (roleNames.indexOf(nameKey(role)) < i) problems.push(`roles.${i}: there are two roles named "${role}"`)
  }
  const use = (path: string, names: readonly string[] = []) => {
    for (const name of names) {
      if (declared.has(nameKey(name))) continue
      problems.push(`${path}: there is no privilege "${name}"${suggestion(name, declared.values())}`)
    }
  }
  for (const [i, { includes }] of privileges.entries()) use(`privileges.${i}.includes`, includes)
  for (const [i, { privileges: names }] of roles.entries()) use(`roles.${i}.privileges`, names)
  for (const [i, permission] of (permissions.allowed ?? []).entries()) {
    for (const action of ACTIONS) use(`permissions.allowed.${i}.${action}`, permission[action])
  }
  return problems
}

const ACTIONS: readonly Action[] = ACTIONS_OF_TYPE.datastore

function checkPermissions({ permissions = {} }: RolesDocument, subjects: Subjects): string[] {
  const seen = new Set<string>()
  return (permissions.allowed ?? []).flatMap((permission, i) => {
    const { type, applyTo } = permission
    const path = `permissions.allowed.${i}`
    const problems: string[] = []
    const key = `${type} ${applyTo}`
    if (seen.has(key))
      problems.push(`${path}: there is another permission for the ${type} ${applyTo}; put them into one`)
    seen.add(key)
    const usable: readonly Action[] = ACTIONS_OF_TYPE[type]
    for (const action of ACTIONS) {
      if (permission[action] && !usable.includes(action)) {
        problems.push(
          `${path}.${action}: this cannot be allowed for a resource of type ${type}; it has ${usable.join(', ')}`,
        )
      }
    }
    const problem = subjectProblem(permission, subjects)
    return problem ? [...problems, `${path}.applyTo: ${problem}`] : problems
  })
}

/** What keeps the resource of a permission from being one. */
function subjectProblem({ type, applyTo, read }: Permission, { catalog, classes }: Subjects): string | undefined {
  const [owner = '', ...rest] = applyTo.split('.')
  const name = rest.join('.')
  const isNested = type === 'attribute' || type === 'method' || type === 'singletonMethod'
  if (isNested !== rest.length > 0) {
    return `"${applyTo}" names no ${type}; ${isNested ? `"${owner}.name"` : 'a name without a dot'} would do`
  }
  if (type === 'datastore') return applyTo === 'ds' ? undefined : `the datastore is named "ds", not "${applyTo}"`
  if (type === 'singleton' || type === 'singletonMethod') {
    const singletons = classes.filter(({ kind }) => kind === 'singleton')
    const names = singletons.map(each => each.name)
    if (!names.includes(owner)) return `there is no singleton "${owner}"${suggestion(owner, names)}`
    return type === 'singleton'
      ? undefined
      : missingFunction(
          name,
          singletons.filter(each => each.name === owner),
          owner,
        )
  }
  if (type === 'method' && owner === 'ds') {
    return missingFunction(
      name,
      classes.filter(({ kind }) => kind === 'dataStore'),
      owner,
    )
  }
  const dataClass = catalog.dataClassesByName.get(owner)
  if (!dataClass) return `there is no dataclass "${owner}"${suggestion(owner, catalog.dataClassesByName.keys())}`
  if (type === 'dataclass') return undefined
  if (type === 'method')
    return missingFunction(
      name,
      classes.filter(each => each.dataClass === owner),
      owner,
    )
  const attribute: Attribute | undefined = dataClass.attributesByName.get(name)
  if (!attribute) return `${owner} has no attribute "${name}"${suggestion(name, dataClass.attributesByName.keys())}`
  if (attribute === dataClass.key && read) {
    return `"${name}" is the key, which every answer names as __KEY; restrict who may read ${owner}`
  }
  return undefined
}

function missingFunction(name: string, classes: readonly ClassDescriptor[], owner: string): string | undefined {
  const known = classes
    .flatMap(({ members }) => members.filter(({ kind }) => kind === 'function'))
    .map(each => each.name)
  return known.includes(name) ? undefined : `${owner} has no function "${name}"${suggestion(name, known)}`
}
