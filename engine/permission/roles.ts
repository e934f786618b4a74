import type { ClassKind } from '../author/declare/describe-classes.ts'
import type { Action, Permission, ResourceType, RolesDocument } from './roles-schema.ts'

/** Granted rights, by names of the file. */
export interface Granted {
  readonly privileges: readonly string[]
  readonly roles: readonly string[]
}

/** Something that permissions are about. */
export interface Resource {
  readonly type: ResourceType
  /** As `applyTo` has it. */
  readonly name: string
}

/** Whether an action is allowed, and why. */
export interface Verdict {
  readonly allowed: boolean
  /** Name of the resource whose setting decides; absent: the default of the file does. */
  readonly setting?: string
  /** Privileges of that setting, of which one is needed. */
  readonly needed?: readonly string[]
  /** The one of them that the caller has. */
  readonly by?: string
}

/** Privilege to administrate the server. It needs no declaration. */
export const WEB_ADMIN = 'WebAdmin'

/** Privileges and roles are the same in any case. */
export const nameKey = (name: string): string => name.toLowerCase()

const DATASTORE: Resource = { type: 'datastore', name: 'ds' }

/**
 * The rules of a checked `roles.json`. Names of privileges are {@link nameKey}s.
 * Source: protocol notes, 8.4.
 */
export class Roles {
  readonly forceLogin: boolean
  private readonly restrictedByDefault: boolean
  /** Declared privileges in their spelling. */
  private readonly spelling = new Map([[nameKey(WEB_ADMIN), WEB_ADMIN]])
  private readonly included = new Map<string, readonly string[]>()
  private readonly roles = new Map<string, readonly string[]>()
  private readonly permissions = new Map<string, Permission>()
  /** Privileges that make a difference to what may be done. */
  private readonly deciding = new Set<string>()

  constructor({ privileges = [], roles = [], permissions = {}, restrictedByDefault, forceLogin }: RolesDocument) {
    this.restrictedByDefault = restrictedByDefault ?? false
    this.forceLogin = forceLogin ?? false
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

  /** All privileges that come with what was given. What is not declared is left out. */
  expand(granted: Granted): Set<string> {
    return new Set(this.origins(granted).keys())
  }

  /** The same, each with the role or the privilege that brings it; undefined: it was given itself. */
  origins({ privileges, roles }: Granted): Map<string, string | undefined> {
    const found = new Map<string, string | undefined>(privileges.map(name => [nameKey(name), undefined]))
    const add = (name: string, origin: string): void => {
      if (!found.has(name)) found.set(name, origin)
    }
    for (const role of roles) for (const privilege of this.roles.get(nameKey(role)) ?? []) add(privilege, role)
    // Elements that are added to a map are visited too.
    for (const privilege of found.keys()) {
      for (const other of this.included.get(privilege) ?? []) add(other, this.spelled(privilege))
    }
    for (const privilege of found.keys()) if (!this.spelling.has(privilege)) found.delete(privilege)
    return found
  }

  /** As the file spells it. */
  spelled(privilege: string): string {
    return this.spelling.get(privilege) ?? privilege
  }

  /** Whether a privilege makes a difference to what may be done. */
  decides(privilege: string): boolean {
    return this.deciding.has(privilege)
  }

  /** @param resources from the nearest to the one that holds it all: the first that says something about the action counts */
  allows(action: Action, resources: readonly Resource[], privileges: ReadonlySet<string>): boolean {
    return this.verdict(action, resources, privileges).allowed
  }

  /** An attribute asks for something in addition to its dataclass, or for nothing. */
  allowsAttribute(action: Action, dataClass: string, attribute: string, privileges: ReadonlySet<string>): boolean {
    return this.attributeVerdict(action, dataClass, attribute, privileges)?.allowed ?? true
  }

  /** The result of {@link allows}, with the reason. */
  verdict(action: Action, resources: readonly Resource[], privileges: ReadonlySet<string>): Verdict {
    const setting = this.setting(action, resources)
    if (!setting) return { allowed: !this.restrictedByDefault }
    const { name, needed } = setting
    const by = needed.find(privilege => privileges.has(nameKey(privilege)))
    return {
      allowed: by !== undefined,
      setting: name,
      needed,
      ...(by !== undefined && { by: this.spelled(nameKey(by)) }),
    }
  }

  /** Verdict of an attribute's own setting; undefined: there is none. */
  attributeVerdict(
    action: Action,
    dataClass: string,
    attribute: string,
    privileges: ReadonlySet<string>,
  ): Verdict | undefined {
    const own: Resource = { type: 'attribute', name: `${dataClass}.${attribute}` }
    return this.setting(action, [own]) && this.verdict(action, [own], privileges)
  }

  /** Privileges that a function has while it runs. */
  promotedBy(resources: readonly Resource[]): readonly string[] {
    return this.setting('promote', resources)?.needed ?? []
  }

  /** The nearest resource that says something about the action, and the privileges that it names. */
  private setting(
    action: Action,
    resources: readonly Resource[],
  ): { readonly name: string; readonly needed: readonly string[] } | undefined {
    for (const resource of resources) {
      const needed = this.permissions.get(keyOf(resource))?.[action]
      if (needed) return { name: resource.name, needed }
    }
    return undefined
  }
}

const GUARDED = ['create', 'read', 'update', 'drop', 'execute'] as const
const keyOf = ({ type, name }: Resource): string => `${type} ${name}`

export const ofDataClass = (name: string): readonly Resource[] => [{ type: 'dataclass', name }, DATASTORE]

/**
 * A class function. Those of a dataclass, its selections and its entities have their names in common.
 * @param owner dataclass or singleton; none of the datastore
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
