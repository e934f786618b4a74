import type { ClassKind } from '../author/declare/describe-classes.ts'
import type { Action, Permission, ResourceType, RolesDocument } from './roles-schema.ts'

/** Granted rights, by their names in the file. */
export interface Granted {
  readonly privileges: readonly string[]
  readonly roles: readonly string[]
}

/** A resource that permissions can name. */
export interface Resource {
  readonly type: ResourceType
  /** Name as in `applyTo`. */
  readonly name: string
}

/** Decision on an action, with its reason. */
export interface Verdict {
  readonly allowed: boolean
  /** Name of the resource whose setting decides; absent: the default of the file decides. */
  readonly setting?: string
  /** Privileges of that setting, one of which is needed. */
  readonly needed?: readonly string[]
  /** The needed privilege that the caller has. */
  readonly by?: string
}

/** Privilege to administer the server. It needs no declaration. */
export const WEB_ADMIN = 'WebAdmin'

/** Privilege of every caller, with or without a login. In a file that declares it, it is like any other: existing files keep their meaning. */
export const GUEST = 'guest'

export const BUILT_IN: readonly string[] = [WEB_ADMIN, GUEST]

/** Key of a privilege or a role, whose names are case-insensitive. */
export const nameKey = (name: string): string => name.toLowerCase()

const DATASTORE: Resource = { type: 'datastore', name: 'ds' }

/**
 * The rules of a checked `roles.json`. Names of privileges are {@link nameKey}s.
 * Source: protocol notes, 8.4.
 */
export class Roles {
  readonly forceLogin: boolean
  private readonly restrictedByDefault: boolean
  /** Spelling of declared privileges, by {@link nameKey}. */
  private readonly spelling = new Map(BUILT_IN.map(name => [nameKey(name), name]))
  private readonly declaresGuest: boolean
  private readonly included = new Map<string, readonly string[]>()
  private readonly roles = new Map<string, readonly string[]>()
  private readonly permissions = new Map<string, Permission>()
  /** Privileges that some permission requires. */
  private readonly deciding = new Set<string>()

  constructor({ privileges = [], roles = [], permissions = {}, restrictedByDefault, forceLogin }: RolesDocument) {
    this.restrictedByDefault = restrictedByDefault ?? false
    this.forceLogin = forceLogin ?? false
    this.declaresGuest = privileges.some(({ privilege }) => nameKey(privilege) === GUEST)
    for (const { privilege, includes = [] } of privileges) {
      this.spelling.set(nameKey(privilege), privilege)
      this.included.set(nameKey(privilege), includes.map(nameKey))
    }
    for (const { role, privileges = [] } of roles) this.roles.set(nameKey(role), privileges.map(nameKey))
    for (const permission of permissions.allowed ?? []) {
      this.permissions.set(keyOf({ type: permission.type, name: permission.applyTo }), permission)
      for (const action of GUARDED) for (const name of permission[action] ?? []) this.deciding.add(nameKey(name))
    }
  }

  /** All privileges that granted rights include. Undeclared ones are left out. */
  expand(grants: Granted): Set<string> {
    return new Set(this.origins(grants).keys())
  }

  /** All included privileges, each with the role or the privilege that includes it; undefined: granted directly. */
  origins({ privileges, roles }: Granted): Map<string, string | undefined> {
    const origins = new Map<string, string | undefined>(privileges.map(name => [nameKey(name), undefined]))
    const add = (name: string, origin: string): void => {
      if (!origins.has(name)) origins.set(name, origin)
    }
    for (const role of roles) for (const privilege of this.roles.get(nameKey(role)) ?? []) add(privilege, role)
    // Iteration over a map includes entries that are added meanwhile.
    for (const privilege of origins.keys()) {
      for (const other of this.included.get(privilege) ?? []) add(other, this.spelled(privilege))
    }
    for (const privilege of origins.keys()) if (!this.spelling.has(privilege)) origins.delete(privilege)
    return origins
  }

  /** Name of a privilege as the file spells it. */
  spelled(privilege: string): string {
    return this.spelling.get(privilege) ?? privilege
  }

  /** True if some permission requires the privilege, and not every caller has it. */
  decides(privilege: string): boolean {
    return this.deciding.has(privilege) && !this.isOfEveryCaller(privilege)
  }

  isOfEveryCaller(privilege: string): boolean {
    return nameKey(privilege) === GUEST && !this.declaresGuest
  }

  /** @param resources from the innermost to the outermost: the first that has a setting for the action decides */
  allows(action: Action, resources: readonly Resource[], privileges: ReadonlySet<string>): boolean {
    return this.verdict(action, resources, privileges).allowed
  }

  /** Decides by the attribute's own setting, which applies in addition to its dataclass; allowed without one. */
  allowsAttribute(action: Action, dataClass: string, attribute: string, privileges: ReadonlySet<string>): boolean {
    return this.attributeVerdict(action, dataClass, attribute, privileges)?.allowed ?? true
  }

  /** Result of {@link allows}, with its reason. */
  verdict(action: Action, resources: readonly Resource[], privileges: ReadonlySet<string>): Verdict {
    const setting = this.setting(action, resources)
    if (!setting) return { allowed: !this.restrictedByDefault }
    const { name, needed } = setting
    const by = needed.find(privilege => privileges.has(nameKey(privilege)) || this.isOfEveryCaller(privilege))
    return {
      allowed: by !== undefined,
      setting: name,
      needed,
      ...(by !== undefined && { by: this.spelled(nameKey(by)) }),
    }
  }

  /** Verdict of an attribute's own setting; undefined: it has none. */
  attributeVerdict(
    action: Action,
    dataClass: string,
    attribute: string,
    privileges: ReadonlySet<string>,
  ): Verdict | undefined {
    const ownResource: Resource = { type: 'attribute', name: `${dataClass}.${attribute}` }
    return this.setting(action, [ownResource]) && this.verdict(action, [ownResource], privileges)
  }

  /** Privileges that a function has while it runs. */
  promotedBy(resources: readonly Resource[]): readonly string[] {
    return this.setting('promote', resources)?.needed ?? []
  }

  /** Innermost resource with a setting for the action, and the privileges of the setting. */
  private setting(
    action: Action,
    resources: readonly Resource[],
  ): { readonly name: string; readonly needed: readonly string[] } | undefined {
    for (const resource of resources) {
      const neededPrivileges = this.permissions.get(keyOf(resource))?.[action]
      if (neededPrivileges) return { name: resource.name, needed: neededPrivileges }
    }
    return undefined
  }
}

const GUARDED = ['create', 'read', 'update', 'drop', 'execute'] as const
const keyOf = ({ type, name }: Resource): string => `${type} ${name}`

export const ofDataClass = (name: string): readonly Resource[] => [{ type: 'dataclass', name }, DATASTORE]

/**
 * Resources of a class function, innermost first. Functions of a dataclass, its selections and its entities share one namespace.
 * @param owner dataclass or singleton; undefined for the datastore
 */
export function ofFunction(kind: ClassKind, owner: string | undefined, name: string): readonly Resource[] {
  switch (kind) {
    case 'dataStore':
      return [{ type: 'method', name: `${DATASTORE.name}.${name}` }, DATASTORE]
    case 'singleton':
      return [{ type: 'singletonMethod', name: `${owner}.${name}` }, { type: 'singleton', name: owner! }, DATASTORE]
    case 'dataClass':
    case 'entitySelection':
    case 'entity':
      return [{ type: 'method', name: `${owner}.${name}` }, ...ofDataClass(owner!)]
  }
}
