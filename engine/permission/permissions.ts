import type { ClassFunction } from '../functions/class-registry.ts'
import { checkRoles, type Subjects } from './check-roles.ts'
import { type Granted, nameKey, ofFunction, Roles, WEB_ADMIN } from './roles.ts'
import { type Access, decisive, privilegesOf } from './views.ts'

/** Distinct sets of rights that are remembered. */
const MAX_ACCESSES = 1000
const NOBODY: Granted = { privileges: [], roles: [] }

/** The rules in force. Without roles nothing is restricted, and nothing is looked up. */
export class Permissions {
  private roles: Roles | undefined
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
    this.roles = new Roles(checked)
    this.version++
    this.accessOfGranted = new WeakMap()
    this.accesses = new Map()
  }

  /** The rights of those of whom nothing is known. Undefined: nothing is restricted. */
  get nobody(): Access | undefined {
    return this.accessOf(NOBODY)
  }

  /** Whether somebody may see to the server. Where nothing is restricted everybody may. */
  isAdministrator(granted: Granted): boolean {
    return !this.roles || this.roles.expand(granted).has(nameKey(WEB_ADMIN))
  }

  /** Who has no privileges may read the catalog and log in, and no more. */
  get forceLogin(): boolean {
    return this.roles?.forceLogin ?? false
  }

  /** Every privilege that comes with what was given, as the file spells it; without one as it was given. */
  expand(granted: Granted): string[] {
    const { roles } = this
    return roles ? [...roles.expand(granted)].map(name => roles.spelled(name)) : [...granted.privileges]
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
