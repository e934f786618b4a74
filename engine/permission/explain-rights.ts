import type { ClassDescriptor } from '../author/declare/describe-classes.ts'
import { type Attribute, isRelation } from '../catalog/attribute.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import { type Granted, ofDataClass, ofFunction, type Roles, type Verdict } from './roles.ts'
import type { Action, ResourceType } from './roles-schema.ts'

/** Verdicts on the actions on a dataclass, an attribute or a function. */
interface Right extends Readonly<Partial<Record<Action, Verdict>>> {
  readonly type: ResourceType
  /** Name as in `applyTo` of the file. */
  readonly name: string
}

/** Rights that privileges and roles include. */
export interface Rights {
  /** Privileges with the role or the privilege that includes them; without `by`: granted directly. */
  readonly privileges: readonly { readonly privilege: string; readonly by?: string }[]
  readonly rights: Iterable<Right>
}

const ACTIONS = ['create', 'read', 'update', 'drop'] as const

interface Subjects {
  readonly catalog: Catalog
  readonly classes: readonly ClassDescriptor[]
  /** View of a client with these rights. */
  readonly view: View
}

/**
 * Explains granted rights. An attribute is listed if it has a setting, or if something else hides it, which its reason names; all other
 * attributes have the rights of their dataclass.
 */
export function explainRights(roles: Roles, grants: Granted, subjects: Subjects): Rights {
  const origins = roles.origins(grants)
  const privileges = [...origins].map(([name, by]) => ({
    privilege: roles.spelled(name),
    ...(by !== undefined && { by }),
  }))
  return { privileges, rights: rightsOf(roles, new Set(origins.keys()), subjects) }
}

function* rightsOf(
  roles: Roles,
  privileges: ReadonlySet<string>,
  { catalog, classes, view }: Subjects,
): Generator<Right> {
  for (const dataClass of catalog.dataClasses) {
    if (dataClass.scope !== 'public') continue
    yield rightOfDataClass(roles, privileges, dataClass)
    for (const attribute of dataClass.attributes) {
      const right = attribute.scope === 'public' && rightOfAttribute(roles, privileges, attribute, view)
      if (right) yield right
    }
  }
  for (const { kind, name, dataClass, members } of classes) {
    for (const member of members) {
      if (member.kind !== 'function' || !member.exposed) continue
      const resources = ofFunction(kind, kind === 'singleton' ? name : dataClass, member.name)
      const { type, name: applyTo } = resources[0]!
      yield { type, name: applyTo, execute: roles.verdict('execute', resources, privileges) }
    }
  }
}

function rightOfDataClass(roles: Roles, privileges: ReadonlySet<string>, { name }: DataClass): Right {
  const verdicts = ACTIONS.map(action => [action, roles.verdict(action, ofDataClass(name), privileges)] as const)
  return { type: 'dataclass', name, ...Object.fromEntries(verdicts) }
}

function rightOfAttribute(
  roles: Roles,
  privileges: ReadonlySet<string>,
  attribute: Attribute,
  view: View,
): Right | undefined {
  const { dataClass, name } = attribute
  const verdicts = ACTIONS.flatMap(action => {
    const verdict = roles.attributeVerdict(action, dataClass.name, name, privileges)
    return verdict ? [[action, verdict] as const] : []
  })
  const right: Right = { type: 'attribute', name: `${dataClass.name}.${name}`, ...Object.fromEntries(verdicts) }
  const isHidden = view.shows(dataClass) && !view.shows(attribute) && right.read?.allowed !== false
  if (isHidden) return { ...right, read: hidingVerdict(roles, privileges, attribute) }
  return verdicts.length > 0 ? right : undefined
}

/** Reason for a hidden attribute: a relation is hidden by its target or by its foreign key. */
function hidingVerdict(roles: Roles, privileges: ReadonlySet<string>, attribute: Attribute): Verdict {
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  if (!isRelation(end)) return { allowed: false }
  const target = roles.verdict('read', ofDataClass(end.target.name), privileges)
  if (!target.allowed) return { setting: end.target.name, ...target }
  const { foreignKey } = end.kind === 'relatedEntity' ? end : end.inverse
  const keyVerdict = roles.attributeVerdict('read', foreignKey.dataClass.name, foreignKey.name, privileges)
  return keyVerdict && !keyVerdict.allowed ? keyVerdict : { allowed: false }
}
