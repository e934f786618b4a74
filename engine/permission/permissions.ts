import type { ClassFunction } from '../author/declare/class-registry.ts'
import type { View } from '../catalog/view.ts'
import { checkRoles, type Subjects, unknownGrants } from './check-roles.ts'
import { type Granted, nameKey, ofFunction, Roles, WEB_ADMIN } from './roles.ts'
import { explainRights, type Rights } from './explain-rights.ts'
import type { RolesDocument } from './roles-schema.ts'
import { type Access, decisive, privilegesOf } from './views.ts'

/** Distinct sets of rights that are remembered. */
const MAX_ACCESSES = 1000
const WITHOUT_LOGIN: Granted = { privileges: [], roles: [] }

/** The part of the file that says which roles and privileges there are. */
export type DeclaredRoles = Required<Pick<RolesDocument, 'roles' | 'privileges' | 'restrictedByDefault' | 'forceLogin'>>

/** The rules in force. Without roles nothing is restricted, and nothing is looked up. */
export class Permissions {
  private roles: Roles | undefined
  private document: RolesDocument = {}
  private version = 0
  private shared = new SharedArrayBuffer(0)
  /** By what sessions hold on to, so that a request costs one lookup. */
  private accessOfGranted = new WeakMap<Granted, Access>()
  private accesses = new Map<string, Access>()

  constructor(private readonly subjects: Subjects) {}

  /**
   * Puts the content of a `roles.json` in the place of the one before. When it is wrong, that stays.
   * @throws {RolesError}
   */
  replace(document: unknown): void {
    const checked = checkRoles(document, this.subjects)
    const json = Buffer.from(JSON.stringify(checked))
    this.shared = new SharedArrayBuffer(json.length)
    new Uint8Array(this.shared).set(json)
    this.document = checked
    this.roles = new Roles(checked)
    this.version++
    this.accessOfGranted = new WeakMap()
    this.accesses = new Map()
  }

  /** Rights of a client without a login. Undefined: nothing is restricted. */
  get guest(): Access | undefined {
    return this.accessOf(WITHOUT_LOGIN)
  }

  /** Whether there are roles. Without them nothing is restricted. */
  get hasRoles(): boolean {
    return this.roles !== undefined
  }

  /** Granted names that the roles do not declare, a sentence each. Without roles there is nothing that declares them. */
  unknownIn(granted: Granted): string[] {
    return this.roles ? unknownGrants(this.document, granted) : []
  }

  /** Whether the rights include the privilege to administrate the server. */
  isAdministrator(granted: Granted): boolean {
    return this.expand(granted).some(name => nameKey(name) === nameKey(WEB_ADMIN))
  }

  /** Without privileges a client may read the catalog and log in, and no more. */
  get forceLogin(): boolean {
    return this.roles?.forceLogin ?? false
  }

  /** Every privilege that comes with what was given, as the file spells it; without one as it was given. */
  expand(granted: Granted): string[] {
    const { roles } = this
    return roles ? [...roles.expand(granted)].map(name => roles.spelled(name)) : [...granted.privileges]
  }

  /** The roles and privileges of the file, and what it says about all others; undefined: there is none. */
  get declared(): DeclaredRoles | undefined {
    if (!this.roles) return undefined
    const { roles = [], privileges = [], restrictedByDefault = false, forceLogin = false } = this.document
    return { roles, privileges, restrictedByDefault, forceLogin }
  }

  /** Explains the rights that come with what was granted; undefined: nothing is restricted. @param view of {@link accessOf} it */
  explain(granted: Granted, view: View): Rights | undefined {
    return this.roles && explainRights(this.roles, granted, { ...this.subjects, view })
  }

  /** Undefined: nothing is restricted. */
  accessOf(granted: Granted): Access | undefined {
    const { roles } = this
    if (!roles) return undefined
    let access = this.accessOfGranted.get(granted)
    if (!access) {
      access = this.accessWith(roles, roles.expand(granted))
      this.accessOfGranted.set(granted, access)
    }
    return access
  }

  mayExecute({ target, owner, name }: ClassFunction, access: Access | undefined): boolean {
    if (!access || !this.roles) return true
    return this.roles.allows('execute', ofFunction(target.kind, owner, name), privilegesOf(access))
  }

  private accessWith(roles: Roles, expanded: ReadonlySet<string>): Access {
    const privileges = decisive(roles, expanded)
    let access = this.accesses.get(privileges)
    if (!access) {
      if (this.accesses.size >= MAX_ACCESSES) this.accesses.delete(this.accesses.keys().next().value!)
      access = { privileges, version: this.version, roles: this.shared }
      this.accesses.set(privileges, access)
    }
    return access
  }
}
