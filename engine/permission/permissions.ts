import type { ClassFunction } from '../author/declare/class-registry.ts'
import type { View } from '../catalog/view.ts'
import { checkRoles, type Subjects, unknownGrants } from './check-roles.ts'
import { type Granted, nameKey, ofFunction, Roles, WEB_ADMIN } from './roles.ts'
import { explainRights, type Rights } from './explain-rights.ts'
import type { RolesDocument } from './roles-schema.ts'
import { type Access, decisive, privilegesOf } from './views.ts'

/** Maximum number of distinct sets of rights that are cached. */
const MAX_ACCESSES = 1000
const WITHOUT_LOGIN: Granted = { privileges: [], roles: [] }

/** The part of the file that declares roles and privileges, with the defaults. */
export type DeclaredRoles = Required<Pick<RolesDocument, 'roles' | 'privileges' | 'restrictedByDefault' | 'forceLogin'>>

/** The rules in force. Without roles nothing is restricted and nothing is looked up. */
export class Permissions {
  private roles: Roles | undefined
  private document: RolesDocument = {}
  private version = 0
  private sharedJson = new SharedArrayBuffer(0)
  /** Keyed by the object that sessions keep, so that a request costs one lookup. */
  private accessOfGranted = new WeakMap<Granted, Access>()
  private accesses = new Map<string, Access>()

  constructor(private readonly subjects: Subjects) {}

  /**
   * Replaces the rules with the content of a `roles.json`. If it is invalid, the previous rules stay.
   * @throws {RolesError}
   */
  replace(document: unknown): void {
    const checkedDocument = checkRoles(document, this.subjects)
    const json = Buffer.from(JSON.stringify(checkedDocument))
    this.sharedJson = new SharedArrayBuffer(json.length)
    new Uint8Array(this.sharedJson).set(json)
    this.document = checkedDocument
    this.roles = new Roles(checkedDocument)
    this.version++
    this.accessOfGranted = new WeakMap()
    this.accesses = new Map()
  }

  /** Rights of a client without a login. Undefined: nothing is restricted. */
  get guest(): Access | undefined {
    return this.accessOf(WITHOUT_LOGIN)
  }

  /** True if there are roles. Without them nothing is restricted. */
  get hasRoles(): boolean {
    return this.roles !== undefined
  }

  /** Granted names that the roles do not declare, one sentence each; none without roles. */
  unknownIn(grants: Granted): string[] {
    return this.roles ? unknownGrants(this.document, grants) : []
  }

  /** True if the rights include the privilege to administer the server. */
  isAdministrator(grants: Granted): boolean {
    return this.expand(grants).some(name => nameKey(name) === nameKey(WEB_ADMIN))
  }

  /** True if a client without privileges may only read the catalog and log in. */
  get forceLogin(): boolean {
    return this.roles?.forceLogin ?? false
  }

  /** All privileges that granted rights include, as the file spells them; without a file as they were granted. */
  expand(grants: Granted): string[] {
    const { roles } = this
    return roles ? [...roles.expand(grants)].map(name => roles.spelled(name)) : [...grants.privileges]
  }

  /** Roles, privileges and defaults of the file; undefined: there is no file. */
  get declaredRoles(): DeclaredRoles | undefined {
    if (!this.roles) return undefined
    const { roles = [], privileges = [], restrictedByDefault = false, forceLogin = false } = this.document
    return { roles, privileges, restrictedByDefault, forceLogin }
  }

  /** Explains granted rights; undefined: nothing is restricted. @param view view of their {@link accessOf} */
  explain(grants: Granted, view: View): Rights | undefined {
    return this.roles && explainRights(this.roles, grants, { ...this.subjects, view })
  }

  /** Access for granted rights. Undefined: nothing is restricted. */
  accessOf(grants: Granted): Access | undefined {
    const { roles } = this
    if (!roles) return undefined
    let access = this.accessOfGranted.get(grants)
    if (!access) {
      access = this.accessWith(roles, roles.expand(grants))
      this.accessOfGranted.set(grants, access)
    }
    return access
  }

  /** True if a function may be called. Functions that are not exposed are called by their own plugin, which decides. */
  mayExecute({ target, owner, name, exposed }: ClassFunction, access: Access | undefined): boolean {
    if (!access || !this.roles || exposed === false) return true
    return this.roles.allows('execute', ofFunction(target.kind, owner, name), privilegesOf(access))
  }

  private accessWith(roles: Roles, expandedPrivileges: ReadonlySet<string>): Access {
    const privileges = decisive(roles, expandedPrivileges)
    let access = this.accesses.get(privileges)
    if (!access) {
      if (this.accesses.size >= MAX_ACCESSES) this.accesses.delete(this.accesses.keys().next().value!)
      access = { privileges, version: this.version, roles: this.sharedJson }
      this.accesses.set(privileges, access)
    }
    return access
  }
}
