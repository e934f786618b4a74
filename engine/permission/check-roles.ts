import type { Static, TSchema } from '@sinclair/typebox'
import type { Attribute } from '../catalog/attribute.ts'
import type { Catalog } from '../catalog/dataclass.ts'
import { shapeProblems } from '../catalog/shape-problems.ts'
import type { ClassDescriptor } from '../author/declare/describe-classes.ts'
import { suggestion } from '../base/suggestion.ts'
import { BUILT_IN, type Granted, nameKey } from './roles.ts'
import {
  type Action,
  ACTIONS_OF_TYPE,
  PERMISSION,
  type Permission,
  PRIVILEGE,
  ROLE,
  ROLES_SCHEMA,
  type RolesDocument,
} from './roles-schema.ts'

/** An invalid `roles.json`, with all its problems. */
export class RolesError extends Error {
  override readonly name = 'RolesError'
  constructor(
    /** One sentence each: path in the file, what was found, what is expected. */
    readonly problems: readonly string[],
  ) {
    super(`the roles cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}

/** Catalog and classes that permissions can name. */
export interface Subjects {
  readonly catalog: Catalog
  readonly classes: readonly ClassDescriptor[]
}

/**
 * Checks roles: shapes, names, and that everything they name exists.
 * @throws {RolesError} with every problem found
 */
export function checkRoles(document: unknown, subjects: Subjects): RolesDocument {
  const readable = readableEntries(document)
  const problems = [
    ...shapeProblems(ROLES_SCHEMA, document, ''),
    ...checkNames(readable),
    ...checkPermissions(readable.permissions, subjects),
  ]
  if (problems.length > 0) throw new RolesError(problems)
  return document as RolesDocument
}

/** Granted roles and privileges that a `roles.json`, valid or not, does not declare: one sentence each. */
export function unknownGrants(document: unknown, grants: Granted): string[] {
  const { privileges, roles } = readableEntries(document)
  const declaredNames = {
    role: roles.map(({ value }) => value.role),
    privilege: [...BUILT_IN, ...privileges.map(({ value }) => value.privilege)],
  }
  const missingProblems = (kind: 'role' | 'privilege', names: readonly string[]): string[] => {
    const knownKeys = new Set(declaredNames[kind].map(nameKey))
    return names
      .filter(name => !knownKeys.has(nameKey(name)))
      .map(name => `there is no ${kind} "${name}"${suggestion(name, declaredNames[kind])}`)
  }
  return [...missingProblems('role', grants.roles), ...missingProblems('privilege', grants.privileges)]
}

/** An element of one of the lists, with its path in the file. */
interface Entry<T> {
  readonly path: string
  readonly value: T
}

interface ReadableEntries {
  readonly privileges: readonly Entry<Static<typeof PRIVILEGE>>[]
  readonly roles: readonly Entry<Static<typeof ROLE>>[]
  readonly permissions: readonly Entry<Permission>[]
}

/** Entries that can be checked even if others, or names of their properties, are wrong. */
function readableEntries(document: unknown): ReadableEntries {
  const { privileges, roles, permissions } = partsOf(document)
  return {
    privileges: entriesOf(OPEN_PRIVILEGE, privileges, 'privileges'),
    roles: entriesOf(OPEN_ROLE, roles, 'roles'),
    permissions: entriesOf(OPEN_PERMISSION, partsOf(permissions).allowed, 'permissions.allowed'),
  }
}

const open = <T extends TSchema>(schema: T): T => ({ ...schema, additionalProperties: true })
const [OPEN_PRIVILEGE, OPEN_ROLE, OPEN_PERMISSION] = [open(PRIVILEGE), open(ROLE), open(PERMISSION)]

const partsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const entriesOf = <T extends TSchema>(schema: T, list: unknown, path: string): Entry<Static<T>>[] =>
  (Array.isArray(list) ? list : []).flatMap((value, i) =>
    shapeProblems(schema, value, '').length > 0 ? [] : [{ path: `${path}.${i}`, value }],
  )

function checkNames({ privileges, roles, permissions }: ReadableEntries): string[] {
  const declaredNames = new Map(BUILT_IN.map(name => [nameKey(name), name]))
  const problems: string[] = []
  for (const { path, value } of privileges) {
    const { privilege } = value
    const first = declaredNames.get(nameKey(privilege))
    if (first !== undefined && !BUILT_IN.includes(first)) {
      problems.push(`${path}: "${privilege}" is declared twice; case makes no difference`)
    }
    declaredNames.set(nameKey(privilege), privilege)
  }
  const roleNames = new Set<string>()
  for (const { path, value } of roles) {
    const name = nameKey(value.role)
    if (roleNames.has(name)) problems.push(`${path}: there are two roles named "${value.role}"`)
    roleNames.add(name)
  }
  const use = (path: string, names: readonly string[] = []) => {
    for (const name of names) {
      if (declaredNames.has(nameKey(name))) continue
      problems.push(`${path}: there is no privilege "${name}"${suggestion(name, declaredNames.values())}`)
    }
  }
  for (const { path, value } of privileges) use(`${path}.includes`, value.includes)
  for (const { path, value } of roles) use(`${path}.privileges`, value.privileges)
  for (const { path, value } of permissions) for (const action of ACTIONS) use(`${path}.${action}`, value[action])
  return problems
}

const ACTIONS: readonly Action[] = ACTIONS_OF_TYPE.datastore

function checkPermissions(permissions: ReadableEntries['permissions'], subjects: Subjects): string[] {
  const seenKeys = new Set<string>()
  return permissions.flatMap(({ path, value: permission }) => {
    const { type, applyTo } = permission
    const problems: string[] = []
    const key = `${type} ${applyTo}`
    if (seenKeys.has(key))
      problems.push(`${path}: there is another permission for the ${type} ${applyTo}; put them into one`)
    seenKeys.add(key)
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

/** Problem with the resource of a permission. */
function subjectProblem({ type, applyTo, read }: Permission, { catalog, classes }: Subjects): string | undefined {
  const [owner = '', ...rest] = applyTo.split('.')
  const name = rest.join('.')
  const isNested = type === 'attribute' || type === 'method' || type === 'singletonMethod'
  if (isNested !== rest.length > 0) {
    return `"${applyTo}" names no ${type}; ${isNested ? `"${owner}.name"` : 'a name without a dot'} is expected`
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
  const base = owner.replace(/(?:Entity|Selection)$/, '')
  if (type === 'method' && !dataClass && catalog.dataClassesByName.has(base)) {
    return `there is no dataclass "${owner}"; functions of entities and selections are named by their dataclass: ${base}.${name}`
  }
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
  const names = classes
    .flatMap(({ members }) => members.filter(({ kind }) => kind === 'function'))
    .map(each => each.name)
  return names.includes(name) ? undefined : `${owner} has no function "${name}"${suggestion(name, names)}`
}
