import type { Catalog } from '../catalog/dataclass.ts'
import { type Policy, publicView, View, wholeView } from '../catalog/view.ts'
import { type Granted, ofDataClass, type Resource, Roles } from './roles.ts'
import type { RolesDocument } from './roles-schema.ts'

/** Rights of a caller, as plain data for any thread. */
export interface Access {
  /** Privileges that some permission requires, ascending, separated by commas. */
  readonly privileges: string
  /** Number of the roles file in this server, by which threads recognize a file that they have read. */
  readonly version: number
  /** The checked file as JSON, in shared memory. */
  readonly roles: SharedArrayBuffer
}

/** A client, or code in the server, which also sees private names. */
type Asker = 'client' | 'code'

/** Maximum number of views that a thread keeps. Sessions with the same rights share one. */
const MAX_VIEWS = 100

/** The views of one catalog in one thread. */
export class Views {
  private readonly viewsByKey = new Map<string, View>()
  /** Views of clients: the kernel thread has the same object for every request of a session. */
  private readonly ofAccess = new WeakMap<Access, View>()
  private current: { version: number; roles: Roles } | undefined

  constructor(private readonly catalog: Catalog) {}

  /** @param access undefined: nothing is restricted */
  of(access: Access | undefined, asker: Asker = 'client'): View {
    if (!access) return asker === 'client' ? publicView(this.catalog) : wholeView(this.catalog)
    const cachedView = asker === 'client' ? this.ofAccess.get(access) : undefined
    if (cachedView) return cachedView
    const key = `${access.version} ${asker} ${access.privileges}`
    let view = this.viewsByKey.get(key)
    if (!view) {
      view = new View(this.catalog, policyOf(this.rolesOf(access), privilegesOf(access)), asker === 'code')
      if (this.viewsByKey.size >= MAX_VIEWS) this.viewsByKey.delete(this.viewsByKey.keys().next().value!)
      this.viewsByKey.set(key, view)
    }
    if (asker === 'client') this.ofAccess.set(access, view)
    return view
  }

  /** All privileges that granted rights include, as the file spells them; without a file as they were granted. */
  expand(access: Access | undefined, grants: Granted): string[] {
    if (!access) return [...grants.privileges]
    const roles = this.rolesOf(access)
    return [...roles.expand(grants)].map(name => roles.spelled(name))
  }

  /** Access extended by privileges and everything that they include. */
  promoted(access: Access, privileges: readonly string[]): Access {
    const roles = this.rolesOf(access)
    const includedPrivileges = roles.expand({ privileges, roles: [] })
    return { ...access, privileges: decisive(roles, [...privilegesOf(access), ...includedPrivileges]) }
  }

  /** Privileges that a function has while it runs. @param resources as in {@link Roles.promotedBy} */
  promotedBy(resources: readonly Resource[], access: Access): readonly string[] {
    return this.rolesOf(access).promotedBy(resources)
  }

  private rolesOf({ version, roles }: Access): Roles {
    if (this.current?.version === version) return this.current.roles
    const read = new Roles(JSON.parse(Buffer.from(new Uint8Array(roles).slice()).toString()) as RolesDocument)
    if (!this.current || this.current.version < version) this.current = { version, roles: read }
    return read
  }
}

export const privilegesOf = ({ privileges }: Access): ReadonlySet<string> =>
  new Set(privileges === '' ? [] : privileges.split(','))

/** Privileges that some permission requires, in the form of {@link Access.privileges}. */
export const decisive = (roles: Roles, privileges: Iterable<string>): string =>
  [...new Set(privileges)]
    .filter(name => roles.decides(name))
    .sort()
    .join(',')

const policyOf =
  (roles: Roles, privileges: ReadonlySet<string>): Policy =>
  (action, dataClass, attribute) =>
    attribute
      ? roles.allowsAttribute(action, dataClass.name, attribute.name, privileges)
      : roles.allows(action, ofDataClass(dataClass.name), privileges)
